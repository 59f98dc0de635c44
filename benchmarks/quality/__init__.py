"""Retrieval quality on data sets in one simple line format, with baselines in the same run."""

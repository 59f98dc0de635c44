"""The code index's tools."""

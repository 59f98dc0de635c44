"""The archive: what was said, verbatim, and the memories that quote it."""

"""Resources as views: one module a context, each a tuple of ``View``."""

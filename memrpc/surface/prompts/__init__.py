"""Prompts: one module a context, each a tuple of ``Prompt``."""

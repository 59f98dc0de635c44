"""The words that the full-text index knows, for whoever must prove that one is gone."""

from __future__ import annotations

from typing import Final

_TERMS: Final = """
SELECT value FROM json_each(:terms)
WHERE EXISTS (SELECT 1 FROM unit_terms WHERE instr(term, value) > 0)
"""
VOCABULARIES: Final = (_TERMS,)
"""Statements that select from the JSON array ``:terms`` what occurs in a term of the index."""

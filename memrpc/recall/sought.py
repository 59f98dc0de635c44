"""What a question asks for, taken apart to be looked for in many short texts."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING

from memrpc.recall.text import index_text

if TYPE_CHECKING:
    from memrpc.recall.query import SearchTerms, Term


class Sought:
    """The terms of a question by their places in it.

    A single token is looked up; what has several, or is only the beginning of one, is searched for.
    ``begins`` lets a term be held by what only begins with it.
    """

    def __init__(self, terms: SearchTerms, *, begins: bool = False) -> None:
        asked = terms.content or terms.common
        self._count = len(asked)
        self._tokens: defaultdict[str, list[int]] = defaultdict(list)
        self._phrases: list[tuple[int, str]] = []
        for place, term in enumerate(asked):
            self._add(place, term)
            if begins and term.beginning:
                self._phrases.append((place, f" {' '.join(term.beginning)}"))

    def _add(self, place: int, term: Term) -> None:
        end = "" if term.is_prefix else " "
        for spelling in term.spellings:
            if len(spelling) == 1 and not term.is_prefix:
                self._tokens[spelling[0]].append(place)
            else:
                self._phrases.append((place, f" {' '.join(spelling)}{end}"))

    def places(self, text: str) -> set[int]:
        """The terms that the text holds."""
        indexed = index_text(text)
        tokens = f" {indexed.parts} | {indexed.joined} "
        found = filter(None, map(self._tokens.get, tokens.split()))
        held = set(itertools.chain.from_iterable(found))
        held.update([place for place, phrase in self._phrases if phrase in tokens])
        return held

    def share(self, text: str) -> float:
        """Which part of the terms the text holds, 0 to 1."""
        return len(self.places(text)) / max(self._count, 1)

"""Completions for prompt arguments and resource templates, from what is stored.

Values that begin with what was typed come first, then those that contain it, then those that
match once separators are left out; each group in alphabetical order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memrpc.server.context import Context
from memrpc.server.service import CompletionQuery
from memrpc.surface.catalogue import Catalogue, Completer, Values
from memrpc.surface.desk import Desk
from memrpc.surface.prompt_book import PromptBook

_SEPARATORS: Final = re.compile(r"[\W_]+")


class CompletionDesk:
    """The engine's ``Completions`` over the prompts and the views."""

    def __init__(self, catalogue: Catalogue, prompts: PromptBook, desk: Desk) -> None:
        self._catalogue = catalogue
        self._prompts = prompts
        self._desk = desk

    async def complete(self, ctx: Context, query: CompletionQuery) -> Sequence[str]:
        """Raises ``KeyError`` for a prompt, template or argument that is not there."""
        completer = self._completer(query)
        if completer is None:
            return ()
        values = await self._placed(ctx, query.context)
        return ranked(await completer(self._desk, values), query.value)

    async def _placed(self, ctx: Context, given: Values) -> Values:
        """What was filled in; where that names no repository, the one that the call is about."""
        if given.get("repo") or given.get("name"):
            return given
        from memrpc.surface import projects

        place = await projects.at_hand(ctx, self._desk.places)
        return given if place is None else {**given, "repo": f"{place.owner}/{place.name}"}

    def _completer(self, query: CompletionQuery) -> Completer | None:
        if query.kind == "prompt":
            arguments = {a.name: a.complete for a in self._prompts.prompts[query.name].arguments}
            return arguments[query.argument]
        view = self._catalogue.view(query.name)
        if query.argument not in view.template.names:
            raise KeyError(query.argument)
        return view.completions.get(query.argument)


def ranked(values: Sequence[str], typed: str) -> list[str]:
    """The values that fit what was typed, best first, each once."""
    scored = [(score, value) for value in set(values) if (score := _fit(value, typed)) is not None]
    return [value for _, value in sorted(scored)]


def _fit(value: str, typed: str) -> int | None:
    """How well a value fits: 0 is best, None not at all."""
    folded, wanted = value.casefold(), typed.casefold()
    if folded.startswith(wanted):
        return 0 if folded == wanted else 1
    if wanted in folded:
        return 2
    squeezed = _SEPARATORS.sub("", wanted)
    return 3 if squeezed and squeezed in _SEPARATORS.sub("", folded) else None

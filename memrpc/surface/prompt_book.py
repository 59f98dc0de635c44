"""Prompts: what each is called, what it takes, and the one message that it becomes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memrpc.server.context import Context
from memrpc.server.faults import invalid_params
from memrpc.server.service import Page
from memrpc.surface.catalogue import Completer
from memrpc.surface.desk import Desk
from memrpc.wire.messages import JSON, JSONObject

Render: TypeAlias = Callable[[Context | None, Desk, Mapping[str, str]], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a prompt; ``complete`` offers values from what is stored."""

    name: str
    description: str
    required: bool = False
    complete: Completer | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template that a user picks."""

    name: str
    title: str
    description: str
    render: Render
    arguments: Sequence[Argument] = ()

    def listing(self) -> JSONObject:
        listed: list[JSON] = [
            {"name": a.name, "description": a.description, "required": a.required}
            for a in self.arguments
        ]
        body: dict[str, JSON] = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
        }
        return {**body, "arguments": listed} if listed else body


class PromptBook:
    """The engine's ``Prompts`` over a tuple of prompts, and the user's own, which hide none of it.

    Those are read whenever prompts are asked for, so that an edit needs no new start.
    """

    def __init__(
        self, prompts: Sequence[Prompt], desk: Desk, own: Callable[[], Iterable[Prompt]] = tuple
    ) -> None:
        self._built_in = prompts
        self._own = own
        self._desk = desk

    @property
    def prompts(self) -> Mapping[str, Prompt]:
        """Every prompt by its name."""
        built_in = {prompt.name: prompt for prompt in self._built_in}
        return built_in | {each.name: each for each in self._own() if each.name not in built_in}

    async def page(self, _: Context, after: str | None) -> Page:
        del after  # One page holds them all, so no cursor was ever given out.
        return Page([prompt.listing() for prompt in self.prompts.values()])

    async def get(self, ctx: Context, name: str, arguments: Mapping[str, str]) -> JSONObject:
        prompt = self.prompts[name]
        missing = [a.name for a in prompt.arguments if a.required and not arguments.get(a.name)]
        if missing:
            raise invalid_params(f"Prompt {name} needs {', '.join(missing)}")
        text = await prompt.render(ctx, self._desk, arguments)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": prompt.description, "messages": [message]}

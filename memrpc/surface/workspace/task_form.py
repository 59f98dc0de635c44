"""The forms by which a user describes a new task or names a repository.

Plain arguments are their twin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.protocol.asks import Ask, elicit_form
from memrpc.server.context import answer_of
from memrpc.server.leniency import read_arguments
from memrpc.server.validation import Schema
from memrpc.store.errors import InvalidArguments, NotSupported
from memrpc.surface import projects
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    from memrpc.server.context import Context
    from memrpc.surface.desk import Desk
    from memrpc.surface.workspace.visit import Arguments

KEY: Final = "task"
REPO: Final[dict[str, JSON]] = {
    "type": "string",
    "title": "Repository",
    "description": "As owner/name.",
}
FIELDS: Final[dict[str, dict[str, JSON]]] = {
    "phase": {"type": "string", "title": "Phase", "description": "Such as research or execution."},
    "title": {"type": "string", "title": "Title", "minLength": 3, "maxLength": 100},
    "description": {
        "type": "string",
        "title": "Description",
        "description": "Three parts: context, steps, and how to see that it is done.",
    },
}
CHOICES: Final[dict[str, dict[str, JSON]]] = {
    "status": {
        "type": "string",
        "title": "Status",
        "enum": ["backlog", "pending"],
        "default": "backlog",
    },
    "priority": {
        "type": "integer",
        "title": "Priority",
        "description": "1 low to 5 critical.",
        "minimum": 1,
        "maximum": 5,
        "default": 3,
    },
}


async def ask_for_task(ctx: Context, desk: Desk, arguments: Arguments) -> dict[str, JSON]:
    """Return what the user answers of what the arguments leave out, read as those are.

    Raises NotSupported where the client shows no forms, RefusedError where the user declines,
    InvalidArguments where the client sends what the form does not allow.
    """
    described = {name: field for name, field in FIELDS.items() if not arguments.get(name)}
    missing = {**await _place(ctx, desk, arguments), **described}
    if not missing:
        return {}
    offered = {name: field for name, field in CHOICES.items() if name not in arguments}
    ask = _form("Describe the new task.", missing, offered)
    if not ctx.can_ask(ask):
        *first, last = missing
        named = f"{', '.join(first)} and {last}" if first else last
        raise NotSupported(
            f"this client shows no forms; send {named} as arguments.",
            missing=list(missing),
        )
    return await _filled_in(ctx, KEY, ask)


async def ask_for_repo(ctx: Context, desk: Desk, arguments: Arguments) -> dict[str, JSON]:
    """Return the repository that the user names, where nothing else does and forms are shown.

    Raises what ``ask_for_task`` raises for a form that does not come back filled in.
    """
    missing = await _place(ctx, desk, arguments)
    ask = _form("Which repository is it about?", missing, {})
    return await _filled_in(ctx, "repo", ask) if missing and ctx.can_ask(ask) else {}


def _form(message: str, required: dict[str, JSON], offered: dict[str, JSON]) -> Ask:
    schema: dict[str, JSON] = {
        "type": "object",
        "properties": {**required, **offered},
        "required": list(required),
    }
    return elicit_form(message, schema)


async def _filled_in(ctx: Context, key: str, ask: Ask) -> dict[str, JSON]:
    schema = ask.params["requestedSchema"]
    answers = read_arguments(answer_of(await ctx.ask(key, ask)), schema)
    violation = Schema(schema).violation(answers)
    if violation is not None:
        raise InvalidArguments(f"The form came back with something else: {violation.message}")
    return answers


async def _place(ctx: Context, desk: Desk, arguments: Arguments) -> dict[str, JSON]:
    """Return the field for the repository where nothing says which one is meant."""
    try:
        await projects.resolve(ctx, desk, arguments)
    except InvalidArguments as error:
        if arguments.get("repo"):
            raise
        candidates = error.details.get("candidates")
        return {"repo": {**REPO, "enum": candidates} if candidates else REPO}
    return {}

"""The archive's resource: a persona's core, which only the command line edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memrpc.protocol.uri_template import UriTemplate
from memrpc.server.context import Context
from memrpc.surface.catalogue import Contents, Entry, Values, View
from memrpc.surface.desk import Desk

PERSONA: Final = UriTemplate.parse("persona://{persona_id}/current")


async def read_persona(_: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.archive import persona

    core = await desk.database.read(lambda db: persona.current(db, values["persona_id"]))
    heading = f"persona {core.persona_id}, version {core.version}"
    return Contents("\n".join([heading, *core.items]))


async def persona_names(desk: Desk) -> list[str]:
    from memrpc.archive import persona

    return await desk.database.read(persona.names)


async def list_personas(desk: Desk) -> Sequence[Entry]:
    return [
        Entry(PERSONA.expand({"persona_id": name}), f"persona-{name}", f"Persona {name}")
        for name in await persona_names(desk)
    ]


async def complete_persona(desk: Desk, _: Values) -> Sequence[str]:
    return await persona_names(desk)


async def complete_project(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.archive import scopes

    persona_id = values.get("persona_id", "default")
    return await desk.database.read(lambda db: scopes.projects(db, persona_id))


VIEWS: Final = (
    View(
        template=PERSONA,
        name="persona",
        title="Persona",
        description="The core of a persona: who the assistant is, as the user wrote it. Read-only.",
        mime_type="text/plain",
        read=read_persona,
        priority=0.9,
        entries=list_personas,
        completions={"persona_id": complete_persona},
    ),
)

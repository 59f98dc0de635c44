"""The scope that an archive tool's arguments name, or the setting ``project`` for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memrpc.archive.model import Scope
from memrpc.store.errors import InvalidArguments
from memrpc.surface.desk import Desk
from memrpc.wire.messages import JSON

REPOSITORY: Final = "repo"
"""The value of the setting ``project`` that means the repository the server stands in."""


def scope_of(desk: Desk, arguments: Mapping[str, JSON]) -> Scope:
    """The persona and the project.  Raises InvalidArguments where the folder is no project."""
    project_id: str = arguments.get("project_id") or default_project(desk)
    return Scope(arguments.get("persona_id") or "default", project_id)


def default_project(desk: Desk) -> str:
    if desk.project != REPOSITORY:
        return desk.project
    from memrpc.surface import projects

    found = projects.local(desk.places)
    if found is None:
        raise InvalidArguments(
            "project_id is not given and the server's folder is no project; send project_id.",
            field="project_id",
        )
    return f"{found.owner}/{found.name}"

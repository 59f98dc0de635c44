"""Topics: the resources that a write changes, named so that a subscriber recognises them.

A repository's resources are noted under ``owner%2Fname``, which always works, and under the bare
name, which works while it is unique.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from memrpc.store import changes
from memrpc.workspace import scope

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo

INDEX: Final = "repository://index"
MEMORIES: Final = "memories"
TASKS: Final = "tasks"
SUMMARY: Final = "summary"
ACTIONS: Final = "actions"
STANDARDS: Final = "standards"


def note(db: apsw.Connection, repo: Repo, parts: tuple[str, ...], *subjects: str, now: int) -> None:
    """Say that parts of a repository changed, and the subjects with these URIs."""
    scope.touch(db, repo, now=now)
    for part in (*parts, ACTIONS):
        for name in (f"{repo.owner}/{repo.name}", repo.name):
            changes.note(db, f"repository://{quote(name, safe='')}/{part}", now=now)
    for uri in (*subjects, INDEX):
        changes.note(db, uri, now=now)

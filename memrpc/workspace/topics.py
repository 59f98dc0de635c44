"""Topics: the resources that a write changes, named so that a subscriber recognises them.

A repository's resources are noted under ``owner%2Fname``, which always works, and under the bare
name, which works while it is unique.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from memrpc.store import changes

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo, Task

INDEX: Final = "repository://index"
MEMORIES: Final = "memories"
TASKS: Final = "tasks"
SUMMARY: Final = "summary"
ACTIONS: Final = "actions"
STANDARDS: Final = "standards"


def note(db: apsw.Connection, repo: Repo, parts: tuple[str, ...], *subjects: str, now: int) -> None:
    """Say that parts of a repository changed, and the subjects with these URIs."""
    changes.note(db, *_of_parts(repo, (*parts, ACTIONS)), *subjects, INDEX, now=now)


def note_tasks(db: apsw.Connection, repo: Repo, *tasks: Task, now: int) -> None:
    """Say that these tasks changed, or what they show of each other."""
    note(db, repo, (TASKS,), *(f"task://{task.id}" for task in tasks), now=now)


@lru_cache(maxsize=64)
def _of_parts(repo: Repo, parts: tuple[str, ...]) -> tuple[str, ...]:
    names = [quote(name, safe="") for name in (f"{repo.owner}/{repo.name}", repo.name)]
    return tuple(f"repository://{name}/{part}" for part in parts for name in names)

"""The evidence that an answer may rest on: what the workspace holds of an objective."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.surface.workspace.shown import one_line
from memrpc.workspace import entries, entry_search, summaries, task_reading, task_search
from memrpc.workspace.entry_filters import EntryQuestion
from memrpc.workspace.task_reading import TaskFilter

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo
    from memrpc.workspace.searching import Aids

MAX_MEMORIES: Final = 8
MAX_TASKS: Final = 15
EXCERPT_CHARS: Final = 500


class Wanted(NamedTuple):
    """What to gather for an objective."""

    objective: str
    path: str | None
    with_summary: bool
    with_tasks: bool


class Evidence(NamedTuple):
    """One thing that is known, with the code by which it is cited."""

    code: str
    title: str
    excerpt: str

    def line(self) -> str:
        """Return it as the model reads it."""
        return f"[{self.code}] {self.title}: {self.excerpt}"


class Ground(NamedTuple):
    """All that was gathered."""

    evidence: tuple[Evidence, ...]
    summary: str | None

    def text(self) -> str:
        """Return it as the model reads it."""
        lines = [self.summary] if self.summary else []
        return "\n".join([*lines, *(each.line() for each in self.evidence)])


def gather(db: apsw.Connection, repo: Repo, wanted: Wanted, *, now: int, aids: Aids) -> Ground:
    """Gather what answers the objective, then what matters most, then what is being done."""
    question = EntryQuestion(wanted.objective, current_path=wanted.path, limit=MAX_MEMORIES)
    hits = entry_search.search(db, repo, question, now=now, aids=aids, explains=False).hits
    known = {hit.entry.code: hit.entry for hit in hits}
    for entry in entries.recap(db, repo, now=now, limit=MAX_MEMORIES, offset=0):
        known.setdefault(entry.code, entry)
    found = [
        Evidence(entry.code, entry.title, one_line(entry.content, EXCERPT_CHARS))
        for entry in list(known.values())[:MAX_MEMORIES]
    ]
    if wanted.with_tasks:
        found += _tasks(db, repo, wanted, now, aids)
    summary = summaries.find(db, repo) if wanted.with_summary else None
    return Ground(tuple(found), None if summary is None else summary.text)


def _tasks(db: apsw.Connection, repo: Repo, wanted: Wanted, now: int, aids: Aids) -> list[Evidence]:
    chosen = TaskFilter(task_reading.ACTIVE, limit=MAX_TASKS)
    found, _ = task_search.about_first(db, repo, wanted.objective, chosen, now=now, aids=aids)
    return [
        Evidence(
            task.code, f"{task.title} ({task.status})", one_line(task.description, EXCERPT_CHARS)
        )
        for task in found
    ]

"""A repository of so many entries, tasks, handoffs and standards, made once for each size and kept.

Its text is the made-up text of ``corpus``.  It is loaded through the workspace's own functions, so
the index, the graph, the tallies and the codes are as a life of writing would leave them; only the
look for near duplicates, which random sentences do not need, is left out.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from memrpc.store.database import Database
from memrpc.workspace import (
    actions,
    codes,
    entries,
    handoffs,
    indexing,
    scope,
    standard_writing,
    task_writing,
    working,
)
from memrpc.workspace.actions import Change
from memrpc.workspace.claims import Wish
from memrpc.workspace.handoffs import HandoffDraft
from memrpc.workspace.model import Act, Entry, EntryStatus, EntryType, Kind
from memrpc.workspace.standard_writing import StandardDraft
from memrpc.workspace.task_drafts import TaskDraft

from .corpus import MINUTE_US, START_US, Vocabulary, vocabulary

OWNER, NAME = "acme", "harbor"
BATCH = 1_000
_NO_WORK = "DELETE FROM jobs"
"""A year is over since the text was written; a server would begin with the upkeep of it."""
_VERSION = 1
_TYPES = (EntryType.CODE_FACT, EntryType.DECISION, EntryType.MISTAKE, EntryType.PATTERN)


@dataclass(frozen=True, slots=True)
class Size:
    """How much a repository holds."""

    entries: int
    tasks: int
    handoffs: int = 200
    standards: int = 100


class Text:
    """Sentences by Zipf's law, the same in every run."""

    def __init__(self) -> None:
        self.chance = random.Random(_VERSION)
        self._words: Vocabulary = vocabulary()

    def words(self, least: int, most: int) -> str:
        drawn = self._words.draw(self.chance, self.chance.randint(least, most))
        return " ".join(drawn).capitalize()

    def tags(self) -> tuple[str, ...]:
        return tuple(self.chance.sample([f"area-{n}" for n in range(40)], 2))


def database(folder: Path, size: Size) -> Path:
    """The file, made if it is not there yet in the schema of today."""
    path = folder / f"harbor-{size.entries}-{size.tasks}-{_fingerprint()}.db"
    if not path.exists():
        print(f"Loading {size.entries} entries into {path.name}, once.", flush=True)
        unfinished = path.with_suffix(".unfinished")
        for left in folder.glob(f"harbor-{size.entries}-{size.tasks}-*"):  # Of an older schema.
            left.unlink()
        _load(unfinished, size)
        unfinished.rename(path)
    return path


def _fingerprint() -> str:
    from memrpc.store import migrate

    files = sorted((Path(migrate.__file__).parent / "migrations").glob("*.sql"))
    text = b"".join(file.read_bytes() for file in files) + str(_VERSION).encode()
    return hashlib.sha256(text).hexdigest()[:12]


Step = Callable[[apsw.Connection], None]


def _load(path: Path, size: Size) -> None:
    store = Database(path, jitter=random.Random(0).random)
    steps = _steps(size)
    while batch := list(itertools.islice(steps, BATCH)):
        store.write_blocking(lambda db, batch=batch: [step(db) for step in batch])
    store.write_blocking(lambda db: db.execute(_NO_WORK).fetchall())
    store.close()


def _steps(size: Size) -> Iterator[Step]:
    """Every write, each at a minute of its own."""
    text, ids = Text(), itertools.count(1)

    def act() -> Act:
        number = next(ids)
        return Act("bench", "ann", "bench", START_US + number * MINUTE_US, new_id)

    def new_id() -> str:
        return f"00000000-0000-7000-8000-{next(ids):012}"

    for number in range(size.entries):
        yield lambda db, number=number: _entry(db, text, act(), number)
    for number in range(size.tasks):
        yield lambda db, number=number: _task(db, text, act(), number)
    for _ in range(size.standards):
        yield lambda db: _standard(db, text, act())
    for number in range(size.handoffs):
        yield lambda db, number=number: _handoff(db, text, act(), number)


def _entry(db: apsw.Connection, text: Text, act: Act, number: int) -> None:
    repo = _repo(db, act)
    entry = Entry(
        **_ABSENT,
        key=0,
        id=act.new_id(),
        repo=repo.key,
        code=codes.take(db, repo, Kind.ENTRY),
        type=_TYPES[number % 4],
        title=text.words(4, 8),
        content=text.words(15, 40),
        importance=1 + number % 5,
        folder=f"src/part-{number % 20}",
        created_at=act.now,
        updated_at=act.now,
        tags=text.tags(),
    )
    indexing.put_entry(db, replace(entry, key=entries.add(db, entry)), ())
    change = Change("create", Kind.ENTRY, entry.id, entry.code, after=actions.snapshot(entry))
    actions.log(db, repo, act, change)


_ABSENT = {
    **dict.fromkeys(("agent", "role", "model"), "unknown"),
    **dict.fromkeys(("used", "irrelevant", "contradictory"), 0),
    **dict.fromkeys(("branch", "language", "completed_at", "last_used_at", "expires_at")),
    **dict.fromkeys(("decayed_at", "supersedes")),
    "status": EntryStatus.ACTIVE,
    "is_global": False,
    "metadata": {},
}


def _task(db: apsw.Connection, text: Text, act: Act, number: int) -> None:
    draft = TaskDraft(
        phase=f"phase-{number % 5}",
        title=text.words(4, 8),
        description=text.words(15, 40),
        priority=1 + number % 5,
        comment=text.words(5, 10),
        parent_id=f"TASK-{number // 10 * 10 + 1:03}" if number % 10 else None,
    )
    task = task_writing.create(db, _repo(db, act), draft, act)
    if number % 40 == 0:
        working.claim(db, _repo(db, act), task.code, Wish(role="coder"), act)


def _standard(db: apsw.Connection, text: Text, act: Act) -> None:
    draft = StandardDraft(
        name=text.words(4, 8),
        content=text.words(20, 60),
        tags=text.tags(),
        metadata={"by": "team"},
        language="python",
    )
    standard_writing.create(db, _repo(db, act), draft, act)


def _handoff(db: apsw.Connection, text: Text, act: Act, number: int) -> None:
    offer = HandoffDraft(
        from_agent="ann",
        to_agent="bob" if number % 2 else None,
        summary=text.words(5, 10),
        context={"next_steps": [text.words(4, 8)]},
        task=f"TASK-{1 + number * 7 % 50:03}",
    )
    handoffs.create(db, _repo(db, act), offer, act)


def _repo(db: apsw.Connection, act: Act):
    return scope.ensure(db, OWNER, NAME, now=act.now)

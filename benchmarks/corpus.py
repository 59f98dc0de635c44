"""A database of a hundred thousand events, made once and kept with the results.

The text is made up: function words of English among invented words, drawn by Zipf's law, each
session with some words of its own.  Words are as rare and as common as in real talk; their order
means nothing.  It is loaded through the archive's own functions, event by event, and each event's
extraction is done, so a server finds no work waiting.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
from collections.abc import Iterator
from pathlib import Path

import apsw

from memrpc.archive import extraction, recording
from memrpc.archive.model import Role
from memrpc.archive.recording import RecordInput
from memrpc.store.database import Database

EVENTS = 100_000
SESSION_EVENTS = 50
VOCABULARY = 30_000
START_US = 1_750_000_000_000_000
MINUTE_US = 60_000_000
BATCH = 1_000
FUNCTION_WORDS = (  # noqa: SIM905 -- as a list of literals it fills a page
    "the to and I a of my in is it for that with on was have you at we be this not but she he "
    "they from are what when so had about will just there an as if can me would some after by "
    "our like out up now very then been did them than went because her get where how"
).split()
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "il")]
_VERSION = 1


class Vocabulary:
    """Words by rank; the first are function words, the rest are invented."""

    def __init__(self, chance: random.Random) -> None:
        invented = ("".join(chance.choices(SYLLABLES, k=3)) for _ in itertools.count())
        distinct = dict.fromkeys(itertools.islice(invented, VOCABULARY * 2))
        self.words = [*FUNCTION_WORDS, *distinct][:VOCABULARY]
        self._weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))

    def draw(self, chance: random.Random, count: int) -> list[str]:
        return chance.choices(self.words, cum_weights=self._weights, k=count)

    def content_words(self, first: int, count: int) -> list[str]:
        """``count`` invented words from a rank on, the most common first."""
        start = len(FUNCTION_WORDS) + first
        return self.words[start : start + count]


def vocabulary() -> Vocabulary:
    return Vocabulary(random.Random(_VERSION))


def entries(count: int) -> Iterator[RecordInput]:
    chance = random.Random(_VERSION)
    words = Vocabulary(chance)
    for session in range(-(-count // SESSION_EVENTS)):
        topic = words.draw(chance, 40)
        for turn in range(SESSION_EVENTS):
            drawn = words.draw(chance, chance.randint(8, 30)) + chance.choices(topic, k=4)
            chance.shuffle(drawn)
            yield RecordInput(
                event_id=f"event-{session}-{turn}",
                text=" ".join(drawn).capitalize() + ".",
                role=Role.USER if turn % 2 else Role.ASSISTANT,
                source="Ann" if turn % 2 else "Bob",
                session_id=f"session-{session}",
            )


def database(folder: Path, count: int = EVENTS) -> Path:
    """The file, made if it is not there yet in the schema of today."""
    path = folder / f"events-{count}-{_fingerprint()}.db"
    if not path.exists():
        print(f"Loading {count} events into {path.name}, once; this takes minutes.", flush=True)
        unfinished = path.with_suffix(".unfinished")
        for left in folder.glob(f"events-{count}-*"):  # Of an older schema, or of a run that died.
            left.unlink()
        _load(unfinished, count)
        unfinished.rename(path)
    return path


def _fingerprint() -> str:
    """What decides whether a file of another day still fits; newer migrations it will be given."""
    from memrpc.store import migrate

    folder = Path(migrate.__file__).parent / "migrations"
    files = sorted(folder.glob("000[23]_*.sql"))
    text = b"".join(file.read_bytes() for file in files) + str(_VERSION).encode()
    return hashlib.sha256(text).hexdigest()[:12]


def _load(path: Path, count: int) -> None:
    store = Database(path, jitter=random.Random(0).random)
    numbered = enumerate(itertools.islice(entries(count), count))
    while batch := list(itertools.islice(numbered, BATCH)):
        store.write_blocking(lambda db, batch=batch: _record(db, batch))
    store.close()


def _record(db: apsw.Connection, batch: list[tuple[int, RecordInput]]) -> None:
    for number, entry in batch:
        now = START_US + number * MINUTE_US
        receipt = recording.record(db, entry, now=now)
        extraction.extract(db, receipt.seq, now=now, new_id=lambda: os.urandom(16).hex())


if __name__ == "__main__":
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    print(database(results))

"""An archive in memory with a clock that stands still and ids that count."""

from __future__ import annotations

import itertools

import apsw

from memrpc.archive import correcting, extraction, forgetting, recalling, recording, times
from memrpc.archive.answers import CorrectionReceipt, ForgetReceipt, RecallAnswer, Receipt
from memrpc.archive.correcting import CorrectInput
from memrpc.archive.model import DEFAULT_SCOPE, Method, Role, Scope
from memrpc.archive.recalling import RecallInput
from memrpc.archive.recording import RecordInput

NOW = times.parse("2026-06-01T12:00:00Z", "now")
SECOND = 1_000_000


class Archive:
    """The domain functions in transactions, as the server calls them."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self.now = NOW
        self._ids = itertools.count(1)

    def new_id(self) -> str:
        return f"id-{next(self._ids)}"

    def commit(
        self,
        event_id: str,
        text: str,
        *,
        scope: Scope = DEFAULT_SCOPE,
        method: Method = Method.VERBATIM,
        **fields,
    ) -> Receipt:
        """Record without extracting."""
        values = {"role": Role.USER, "source": "user"} | fields
        entry = RecordInput(event_id=event_id, text=text, scope=scope, **values)
        with self.db:
            return recording.record(self.db, entry, now=self.now, method=method)

    def extract(self, seq: int) -> Receipt:
        with self.db:
            return extraction.extract(self.db, seq, now=self.now, new_id=self.new_id)

    def record(self, event_id: str, text: str, **fields) -> Receipt:
        return self.extract(self.commit(event_id, text, **fields).seq)

    def recall(self, query: str, measure=None, **fields) -> RecallAnswer:
        request = RecallInput(query, **fields)
        with self.db:
            return recalling.recall(self.db, request, now=self.now, measure=measure)

    def correct(self, memory_id: str, content: str, **fields) -> CorrectionReceipt:
        request = CorrectInput(
            memory_id, content, fields.pop("reason", "the user said so"), **fields
        )
        with self.db:
            return correcting.correct(self.db, request, now=self.now, new_id=self.new_id)

    def forget(self, record_id: str, scope: Scope = DEFAULT_SCOPE) -> ForgetReceipt:
        with self.db:
            return forgetting.forget(self.db, record_id, scope, now=self.now)

    def dump(self) -> dict[str, list[tuple]]:
        """Every row of the archive's own tables."""
        tables = (
            "scopes events cues memories tombstones checkpoints personas persona_items "
            "units collections jobs changes"
        )
        return {
            name: self.db.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()
            for name in tables.split()
        }


def contents(answer: RecallAnswer) -> list[str]:
    return [memory.content for memory in answer.memories]


def excerpts(answer: RecallAnswer) -> list[str]:
    return [event.excerpt for event in answer.raw]

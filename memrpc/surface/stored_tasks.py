"""Tasks in the database: a restart keeps their results, and a sibling process can be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memrpc.protocol.tasks import Task
    from memrpc.store.database import Database
    from memrpc.store.deposits import Deposit

_US_PER_MS: Final = 1_000


class StoredTasks:
    """Implements ``memrpc.server.ports.TaskStore``."""

    def __init__(self, open_database: Callable[[], Database]) -> None:
        self._open_database = open_database

    async def add(self, task: Task) -> None:
        from memrpc.store import deposits

        deposit, now = _deposit(task), task.created_ms * _US_PER_MS
        await self._open_database().write(lambda db: deposits.leave(db, deposit, now=now))

    async def find(self, task_id: str, now_ms: int) -> Task | None:
        from memrpc.protocol.tasks import from_text
        from memrpc.store import deposits

        now = now_ms * _US_PER_MS
        body = await self._open_database().read(lambda db: deposits.find(db, task_id, now=now))
        return None if body is None else from_text(body)

    async def replace(self, task: Task) -> bool:
        from memrpc.store import deposits

        deposit = _deposit(task)
        return await self._open_database().write(lambda db: deposits.replace(db, deposit))


def _deposit(task: Task) -> Deposit:
    from memrpc.protocol.tasks import to_text
    from memrpc.store.deposits import Deposit

    return Deposit(task.id, task.version, to_text(task), task.expires_ms * _US_PER_MS)

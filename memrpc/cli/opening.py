"""Opening the memory for one verb, and closing it when the verb is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Final

from memrpc.app import Application
from memrpc.settings import Settings
from memrpc.store.errors import Unusable

if TYPE_CHECKING:
    from pathlib import Path

_PAUSE_S: Final = 0.03
"""Long enough for those who wait for the lock to find it free."""


@contextmanager
def opened(settings: Settings, *, makes: bool = False) -> Iterator[Application]:
    """An application for one verb of the command line, closed when the verb is done.

    Only a verb that ``makes`` something makes the database: another would find nothing in it, and
    a mistyped path would look like an empty memory.
    """
    path = settings.database_path()
    if not makes and is_missing(path):
        raise Unusable(
            f"There is no database at {path}: the first server makes it, and --db names another.",
            path=str(path),
        )
    application = Application(settings)
    try:
        yield application
    finally:
        application.close_quickly()


def is_missing(path: Path) -> bool:
    """True where there is no file; one that may not be looked at is opened, which says why not."""
    try:
        return not path.exists()
    except OSError:
        return False


def let_others_write() -> None:
    """Wait a moment between two transactions."""
    Event().wait(_PAUSE_S)

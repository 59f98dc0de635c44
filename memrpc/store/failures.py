"""What SQLite's failures mean for the caller: the one place where they become domain errors.

A lock, a full disk or a failing one is ``Unavailable``; a file that cannot be opened, written or
understood is ``Unusable`` until a person acts.  Errors that only a mistake of ours can cause
(a wrong statement, a broken constraint) pass through as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import apsw

from memrpc.store.errors import DomainError, Unavailable, Unusable

if TYPE_CHECKING:
    from pathlib import Path

_LOCKED: Final = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
_CLOSED: Final = (
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.PermissionsError,
    apsw.AuthError,
    apsw.NoLFSError,
)
_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)


class Translated:
    """A context that turns SQLite's failures with a file into domain errors; to be used again."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        """Raise what ``error`` means, if it is one of SQLite's and means anything."""
        if isinstance(error, apsw.Error) and (meant := translate(error, self._path)) is not None:
            raise meant from error


def translate(error: apsw.Error, path: Path) -> DomainError | None:
    """Say what ``error`` means for the caller; None when it is a mistake of ours."""
    match error:
        case apsw.FullError():
            return _unavailable(
                path, f"There is no space left for {path}; nothing was written. Free some space."
            )
        case apsw.IOError():
            return _unavailable(path, f"{path} could not be read or written: {error}.")
        case _ if isinstance(error, _LOCKED):
            return _unavailable(path, f"Another process holds the lock of {path}; try again.")
        case _ if isinstance(error, _CLOSED):
            return Unusable(
                f"{path} cannot be opened for writing: {error}. Make the file and its folder "
                "writable for this user, or name another path.",
                path=str(path),
            )
        case _ if isinstance(error, _DAMAGED):
            return damaged(error, path)
        case _:
            return None


def damaged(error: apsw.Error, path: Path) -> Unusable:
    """Name the command that saves what can be saved; the file itself is never touched."""
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_CORRUPT_VTAB:
        return Unusable(
            f"The full-text index in {path} is damaged; the records are not. "
            f"Run `memrpc reindex --db {path}`.",
            path=str(path),
        )
    is_other = isinstance(error, apsw.NotADBError)
    hint = "If another file was meant, name that with --db. Else stop" if is_other else "Stop"
    return Unusable(
        f"{path} is not a sound database ({error}); it was left as it is. {hint} every memrpc, "
        "copy it and its -wal aside, then run "
        f"`sqlite3 {path} .recover | sqlite3 {path}.recovered` and start with "
        f"--db {path}.recovered, or with the newest {path.name}.bak-* beside it.",
        path=str(path),
    )


def _unavailable(path: Path, message: str) -> Unavailable:
    return Unavailable(message, path=str(path))

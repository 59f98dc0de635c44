"""Which folder is to be indexed: one that is there, and that is not a whole disk or a home."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memrpc.store.errors import InvalidArguments, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable


def root_of(path: str, *, base: Path, home: Path | None, force: bool) -> Path:
    """The folder that ``path`` names, links resolved; a relative path starts at ``base``.

    Raises NotFound, and InvalidArguments for nothing, for a file or, without ``force``, for a
    folder that holds far more than a project.
    """
    if not path.strip():
        raise InvalidArguments(
            "repoPath is empty; send the repository's folder, or leave it out for the status.",
            field="repoPath",
        )
    written = Path(path)
    if home is not None and written.parts[:1] == ("~",):
        written = home.joinpath(*written.parts[1:])
    folder = _resolved(base / written)
    if folder is None or not folder.exists():
        raise NotFound(
            f"repoPath {path!r} is not there; send the absolute path of the repository's folder.",
            reason="PATH_NOT_FOUND",
        )
    if not folder.is_dir():
        raise InvalidArguments(
            f"repoPath {path!r} is a file; send the folder of the repository.",
            field="repoPath",
            reason="NOT_A_DIRECTORY",
        )
    if not force and is_too_wide(folder, home):
        raise InvalidArguments(
            f"{folder} is no project but a home or a whole disk; send a repository's folder, or "
            "force: true if all of it is really wanted.",
            field="repoPath",
            reason="ROOT_TOO_WIDE",
        )
    return folder


def _resolved(path: Path) -> Path | None:
    """The path with its links resolved; None for what can name nothing."""
    try:
        folder = path.resolve()
        folder.stat()
    except (OSError, ValueError, RuntimeError):  # too long, with a NUL, a circle of links
        return None
    return folder


def is_folder(path: str) -> bool:
    """Whether a folder that was indexed is still there."""
    return Path(path).is_dir()


def demand_folder(path: str) -> None:
    """Raise NotFound where a folder that is indexed has gone: its files are not deleted, then."""
    if not is_folder(path):
        raise NotFound(
            f"The folder {path} is gone; the index is as it was.", reason="PATH_NOT_FOUND"
        )


def is_too_wide(
    folder: Path, home: Path | None, top: Callable[[Path], Path] = Path.resolve
) -> bool:
    """Whether a folder is the root, a home, or holds the home."""
    if folder.parent == folder:
        return True
    if home is None:
        return False
    place = top(home)
    return folder == place or folder in place.parents

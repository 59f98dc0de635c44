"""What a verb shows: text for people, JSON for programs."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from memrpc.store.errors import Conflict, InvalidState
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")
_HEADER: Final = b"SQLite format 3\0"


def open_missing() -> None:
    """Let a stream that the program was started without lead to nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 -- for as long as the program runs


def speak_utf8() -> None:
    """Read and write UTF-8 whatever the locale or the code page, with the same line ends."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=stream.errors, newline="\n")


def show(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def show_json(value: JSON) -> None:
    show(compact(value))


def show_error(text: str) -> None:
    sys.stderr.write(f"memrpc: {text}\n")


def discard_output() -> None:
    """Let the interpreter end without a word about a reader that has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def progress(items: Iterable[T], total: int | None, name: str) -> Iterable[T]:
    """``items``, with a bar on stderr while they pass, if that is a terminal."""
    if not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    bar: Iterable[T] = tqdm(items, total=total, desc=name, leave=False)
    return bar


def spare_databases(path: Path, database: Path) -> None:
    """Raise Conflict if what is written to ``path`` would end ``database`` or another one."""
    from memrpc.store.audit import own_files

    own = [each.resolve() for each in own_files(database)]
    if path.resolve() in own or is_database(path):
        raise Conflict(f"{path} belongs to a database, which would be lost; name another file.")


def is_database(path: Path) -> bool:
    """True for a file that begins as SQLite's do."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A name to write under, which becomes ``path`` if all goes well and is gone if not."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        yield part
        part.replace(path)
    except OSError as error:
        error.filename = error.filename or str(part)
        raise
    finally:
        part.unlink(missing_ok=True)


def edit(text: str) -> str:
    """What the user's editor made of ``text``."""
    import signal
    import subprocess
    import tempfile
    from pathlib import Path

    from memrpc.settings import editor

    with tempfile.TemporaryDirectory(prefix="memrpc-") as folder:
        file = Path(folder) / "persona.txt"
        file.write_text(text, encoding="utf-8")
        words = editor()
        # An interrupt is the editor's own business, as vi's way out of a command is.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            done = subprocess.run([*words, str(file)], check=False)  # noqa: S603 -- the user's own
        except FileNotFoundError:
            raise InvalidState(
                f"There is no editor {words[0]}; name one in EDITOR, or give a file to import."
            ) from None
        finally:
            signal.signal(signal.SIGINT, before)
        if done.returncode:
            raise InvalidState(f"The editor ended with {done.returncode}; nothing was changed.")
        return file.read_text(encoding="utf-8")


def keep(text: str) -> str:
    """The name of a new file that holds ``text``, for its owner alone."""
    import tempfile

    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="memrpc-", suffix=".txt", delete=False
    ) as file:
        file.write(text)
    return file.name

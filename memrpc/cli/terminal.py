"""What a verb shows: text for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON

T = TypeVar("T")


def show(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def show_json(value: JSON) -> None:
    show(compact(value))


def show_error(text: str) -> None:
    sys.stderr.write(f"memrpc: {text}\n")


def progress(items: Iterable[T], total: int | None, name: str) -> Iterable[T]:
    """``items``, with a bar on stderr while they pass, if that is a terminal."""
    if not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    bar: Iterable[T] = tqdm(items, total=total, desc=name, leave=False)
    return bar


def edit(text: str) -> str:
    """What the user's editor made of ``text``."""
    import subprocess
    import tempfile
    from pathlib import Path

    from memrpc.settings import editor

    with tempfile.TemporaryDirectory(prefix="memrpc-") as folder:
        file = Path(folder) / "persona.txt"
        file.write_text(text, encoding="utf-8")
        subprocess.run([*editor(), str(file)], check=True)  # noqa: S603 -- the user's own editor
        return file.read_text(encoding="utf-8")

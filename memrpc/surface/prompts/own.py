"""The user's own prompts: one Markdown file each, in ``prompts`` beside the database.

The file's name is the prompt's, its first heading the title, its first line of text the
description.  ``{name}`` stands for an argument, ``{scope}`` for where the server stands.  A file
that cannot be used, for its name, its size or its bytes, is passed over: the host that lists
prompts can do nothing about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from memrpc.store.errors import DomainError
from memrpc.surface.prompt_book import Argument, Prompt
from memrpc.surface.prompts.workspace import PLACEHOLDER, SCOPE, filled_in

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = "prompts"
MAX_FILES: Final = 100
MAX_BYTES: Final = 65_536
MAX_LINE_CHARS: Final = 200
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_HEADING: Final = re.compile(r"#+\s+")


def load(database_path: Callable[[], Path]) -> Iterator[Prompt]:
    """Read the prompts by name; none where there is no folder, or no place for one."""
    try:
        files = sorted((database_path().parent / FOLDER).glob("*.md"))
    except (OSError, DomainError):
        return
    for file in files[:MAX_FILES]:
        text = _text(file)
        if text is not None:
            yield _prompt(file.stem, text)


def _text(file: Path) -> str | None:
    if _NAME.fullmatch(file.stem) is None:
        return None
    try:
        return file.read_text("utf-8").strip() or None if _is_small(file) else None
    except (OSError, UnicodeDecodeError):
        return None


def _is_small(file: Path) -> bool:
    return file.is_file() and file.stat().st_size <= MAX_BYTES


def _prompt(name: str, text: str) -> Prompt:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    title = next((line for line in lines if _HEADING.match(line)), name)
    plain = next((line for line in lines if not _HEADING.match(line)), title)
    named = dict.fromkeys(PLACEHOLDER.findall(text))
    arguments = [Argument(each, f"What {each} stands for") for each in named if each != SCOPE]
    return filled_in(name, _shown(title), _shown(plain), text, arguments)


def _shown(line: str) -> str:
    return _HEADING.sub("", line, count=1)[:MAX_LINE_CHARS]

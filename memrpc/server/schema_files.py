"""Find the JSON Schema files that the program ships with, in a checkout and in a wheel."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from memrpc.wire.codec import load_file
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    from pathlib import Path


@lru_cache(maxsize=1)
def root() -> Path:
    """The folder: inside an installed package, beside it in a checkout."""
    from pathlib import Path

    package = Path(__file__).parent.parent
    installed = package / "_schemas"
    return installed if installed.is_dir() else package.parent / "schemas"


def read(*parts: str) -> JSON:
    """One file, parsed."""
    return load_file(root().joinpath(*parts).read_bytes())


def names(*parts: str) -> list[str]:
    """The schema files of a folder, without their ending, in a fixed order."""
    return sorted(file.stem for file in root().joinpath(*parts).glob("*.json"))

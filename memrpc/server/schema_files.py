"""Find the JSON Schema files that the program ships with, in a checkout and in a wheel."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Final

from memrpc.wire.codec import load_file
from memrpc.wire.messages import JSON

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PLACES: Final = (
    os.path.join(_PACKAGE, "_schemas"),
    os.path.join(os.path.dirname(_PACKAGE), "schemas"),
)


@lru_cache(maxsize=1)
def root() -> str:
    """The folder: inside an installed package, beside it in a checkout."""
    return next(place for place in _PLACES if os.path.isdir(place))


def read(*parts: str) -> JSON:
    """One file, parsed."""
    with open(os.path.join(root(), *parts), "rb") as file:
        return load_file(file.read())


def names(*parts: str) -> list[str]:
    """The schema files of a folder, without their ending, in a fixed order."""
    listed = os.listdir(os.path.join(root(), *parts))
    return sorted(name.removesuffix(".json") for name in listed if name.endswith(".json"))

"""Find the JSON Schema files that the program ships with, in a checkout and in a wheel."""

from __future__ import annotations

import os
from functools import lru_cache

from memrpc.wire.codec import load_file
from memrpc.wire.messages import JSON


@lru_cache(maxsize=1)
def root() -> str:
    """The folder: inside an installed package, beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = os.path.join(package, "_schemas")
    return installed if os.path.isdir(installed) else os.path.join(package, os.pardir, "schemas")


def read(*parts: str) -> JSON:
    """One file, parsed."""
    with open(os.path.join(root(), *parts), "rb") as file:
        return load_file(file.read())


def names(*parts: str) -> list[str]:
    """The schema files of a folder, without their ending, in a fixed order."""
    files = os.listdir(os.path.join(root(), *parts))
    return sorted(name.removesuffix(".json") for name in files if name.endswith(".json"))

"""Rust's ``use`` declarations: one path for each name that they bring in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Path(NamedTuple):
    """``module`` in Rust's own spelling, the name in it, and what it is called here."""

    module: str
    name: str
    alias: str


def expand(tree: str) -> Iterator[Path]:
    """The paths of a use tree such as ``crate::a::{B, c as d, e::*}``."""
    yield from _expand("", "".join(_spaced(tree)))


def _spaced(tree: str) -> Iterator[str]:
    """The tree without spaces, except those around ``as``."""
    words = tree.replace("{", " { ").replace("}", " } ").replace(",", " , ").split()
    for word in words:
        yield " as " if word == "as" else word


def _expand(prefix: str, tree: str) -> Iterator[Path]:
    if "{" not in tree:
        yield from _single(prefix + tree)
        return
    head, _, rest = tree.partition("{")
    for part in _parts(rest.rstrip("}") if rest.count("{") == 0 else rest[: rest.rfind("}")]):
        yield from _expand(prefix + head, part)


def _parts(text: str) -> Iterator[str]:
    """The comma-separated parts on this level of braces."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _single(path: str) -> Iterator[Path]:
    full, _, alias = path.partition(" as ")
    module, _, name = full.rpartition("::")
    if name == "self":
        module, _, name = module.rpartition("::")
    if name:
        yield Path(module, name, "" if name == "*" else alias or name)

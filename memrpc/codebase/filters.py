"""What narrows an answer: kinds and languages by the names that people give them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from memrpc.codebase import languages
from memrpc.codebase.model import Kind
from memrpc.store.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{kind.value: kind.value for kind in Kind},
        "struct": Kind.CLASS.value,
        "trait": Kind.INTERFACE.value,
    }
)
_LANGUAGES: Final[Mapping[str, str]] = MappingProxyType(
    {**{name: name for name in languages.BY_NAME}, "c++": "cpp", "c#": "csharp", "shell": "bash"}
)


def kinds(names: Iterable[str]) -> tuple[str, ...]:
    """The kinds that are named, several of them in one name with commas between.

    Raises InvalidArguments.
    """
    wanted = [each.strip().lower() for name in names for each in name.split(",")]
    for each in wanted:
        if each not in _KINDS:
            raise InvalidArguments(
                f"kind {each!r} is none; send some of {', '.join(Kind)}.", field="kind"
            )
    return tuple(_KINDS[each] for each in wanted)


def language(name: str | None) -> str | None:
    """The language that is named, or whose files end so.

    Raises InvalidArguments.
    """
    if not name:
        return None
    wanted = name.strip().lower()
    found = _LANGUAGES.get(wanted) or languages.of_path(f"file.{wanted}")
    if found is None or (found == languages.TEXT and wanted != languages.TEXT):
        raise InvalidArguments(
            f"language {name!r} is not known; send one of {', '.join(languages.BY_NAME)}.",
            field="language",
        )
    return found

"""Lines: the workspace's values as an export writes them and an import reads them.

A line has the fields of the value by name.  Instants are text with a zone, and what is a row number
inside, or a secret, is left out: whoever writes the line names the others by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from memrpc.store import transfer
from memrpc.store.errors import InvalidArguments
from memrpc.workspace import model, rules, times

if TYPE_CHECKING:
    from memrpc.store.json_column import JSON
    from memrpc.store.transfer import Record

T = TypeVar("T")
INSIDE: Final = frozenset({"key", "repo", "task", "parent", "depends_on", "token"})
_NAMED: Final = {"type": "entry_type"}
"""Fields whose name says something else of the line."""
_NAMES: Final = frozenset({"id", "code", "title", "summary"})
"""Fields by which people tell things apart, so that they cannot be blank."""


class Field(NamedTuple):
    """A field's name, and its annotation as it was written."""

    name: str
    type: str


@cache
def _fields(form: Hashable) -> tuple[Field, ...]:
    """Return the fields of a class of the model."""
    return tuple(Field(name, each.__forward_arg__) for name, each in form.__annotations__.items())


def written(value: Any) -> dict[str, JSON]:  # noqa: ANN401 -- any of the model's values
    """Return the value's own fields as its line says them."""
    told = (f for f in _fields(value.__class__) if f.name not in INSIDE)
    return {_NAMED.get(f.name, f.name): _plain(f, getattr(value, f.name)) for f in told}


def read(form: Callable[..., T], record: Record, **inside: int | None) -> T:
    """Build a value from its line and from those row numbers ``inside`` that are known.

    Raises InvalidArguments, naming the field, for a value that no tool could have written.
    """
    named = _fields(form)
    told = {f.name: _value(f, record) for f in named if f.name not in INSIDE}
    return form(**{f.name: inside.get(f.name) for f in named} | told)


def _is_instant(field: Field) -> bool:
    return field.name.endswith("_at") and field.type.startswith("int")


def _plain(field: Field, value: Any) -> JSON:  # noqa: ANN401 -- a field of any value
    if _is_instant(field):
        return times.to_text_or_none(value)
    return list(value) if isinstance(value, tuple) else value


def _value(field: Field, record: Record) -> Any:  # noqa: ANN401 -- a field of any value
    name = _NAMED.get(field.name, field.name)
    kind, _, or_none = field.type.partition(" | ")
    if record[name] is None and or_none:
        return None
    if _is_instant(field):
        return times.parse(transfer.text(record, name), name)
    return _READERS[kind](record, name)


def _text(record: Record, name: str) -> str:
    bounds = (int(name in _NAMES), rules.CONTENT_CHARS[1])
    return rules.check_text(transfer.text(record, name), name, bounds)


def _exactly(kind: type, told: str, record: Record, name: str) -> Any:  # noqa: ANN401 -- of that kind
    value = record[name]
    if type(value) is not kind:
        raise InvalidArguments(f"{name} must be {told}.", field=name)
    return value


_CHOICES: Final = (
    model.EntryType,
    model.EntryStatus,
    model.TaskStatus,
    model.HandoffStatus,
    model.ClaimEnd,
)
_READERS: Final[Mapping[str, Callable[[Record, str], Any]]] = {
    "str": _text,
    "int": partial(_exactly, int, "a whole number"),
    "bool": transfer.flag,
    "Object": partial(_exactly, dict, "an object"),
    "tuple[str, ...]": transfer.texts,
    **{choices.__name__: partial(transfer.choice, kind=choices) for choices in _CHOICES},
}
"""By the annotation of the field."""

"""The reference pages, made from the contracts and the table of settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memrpc.server.contracts import Contract
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON, JSONObject

_RULES = (
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("format", "{}"),
)


def tools_page(contracts: Iterable[Contract]) -> str:
    """Every tool with its parameters, as Markdown."""
    return "\n".join(["# Tools", "", *(line for c in contracts for line in _tool(c))]).rstrip()


def _tool(contract: Contract) -> Iterator[str]:
    yield from (f"## `{contract.name}`", "", contract.description, "")
    required = set(contract.input.text.get("required", ()))
    yield from ("| parameter | type | default | meaning |", "| --- | --- | --- | --- |")
    for name, schema in contract.input.text["properties"].items():
        yield _parameter(name, schema, is_required=name in required)
    yield ""
    hints = [f"`{name}`: {compact(value)}" for name, value in contract.annotations.items()]
    if hints:
        yield from (f"Hints: {', '.join(hints)}.", "")


def _parameter(name: str, schema: JSONObject, *, is_required: bool) -> str:
    default = "required" if is_required else _default(schema)
    rules = [text.format(schema[key]) for key, text in _RULES if key in schema]
    meaning = "; ".join([_escape(schema["description"]), *rules])
    return f"| `{name}` | {_type(schema)} | {default} | {meaning} |"


def _default(schema: JSONObject) -> str:
    return f"`{compact(schema['default'])}`" if "default" in schema else ""


def _type(schema: JSONObject) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind: str = schema["type"]
    return f"array of {_type(schema['items'])}" if kind == "array" else kind


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def settings_page(rows: Sequence[Sequence[JSON]]) -> str:
    """Every setting, as Markdown; a row is name, flag, variable, default, meaning."""
    head = ["# Settings", "", "| setting | flag | variable | default | meaning |"]
    body = [f"| `{n}` | `{f}` | `{v}` | `{d}` | {_escape(m)} |" for n, f, v, d, m in rows]
    return "\n".join([*head, "| --- | --- | --- | --- | --- |", *body])

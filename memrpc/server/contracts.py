"""A tool's whole contract, read from its one schema file.

From the file alone come the ``tools/list`` entry, the validation of arguments and results, the
documentation and the contract tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from memrpc.server import schema_files
from memrpc.server.leniency import read_arguments
from memrpc.server.validation import Schema, Violation
from memrpc.wire.messages import JSON, JSONObject

_SCHEME: Final = "memrpc:/"
_NONE: Final[JSONObject] = MappingProxyType({})


class Contract(NamedTuple):
    """What a tool is called, what it takes and what it gives."""

    name: str
    title: str
    description: str
    input: Schema
    output: Schema | None = None
    annotations: Mapping[str, JSON] = _NONE
    extra: Mapping[str, JSON] = _NONE
    unlisted: frozenset[str] = frozenset()
    """Parameters that are understood but not shown: other spellings of what is."""
    judged: Schema | None = None
    """What arguments must fulfil, where that is less than what is listed."""

    def with_default(self, name: str, value: JSON) -> Contract:
        """The same contract with another default for one argument; with none for None."""
        rules = {k: v for k, v in self.input.text["properties"][name].items() if k != "default"}
        rules = rules if value is None else {**rules, "default": value}
        properties = {**self.input.text["properties"], name: rules}
        schema = Schema({**self.input.text, "properties": properties})
        return self._replace(input=schema)

    def listing(self) -> JSONObject:
        """The ``tools/list`` entry in its newest shape."""
        entry: dict[str, JSON] = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self._listed_input(),
            **self.extra,
        }
        if self.output is not None:
            entry["outputSchema"] = self.output.text
        if self.annotations:
            entry["annotations"] = dict(self.annotations)
        return entry

    def _listed_input(self) -> JSONObject:
        if not self.unlisted:
            return self.input.text
        properties: JSONObject = self.input.text["properties"]
        shown = {name: schema for name, schema in properties.items() if name not in self.unlisted}
        return {**self.input.text, "properties": shown}

    async def read(self, arguments: JSONObject) -> tuple[dict[str, JSON], Violation | None]:
        """The arguments as they are meant, and what is wrong with them.

        To word a refusal may take seconds where a million items are wrong: a thread does it.
        """
        meant = read_arguments(arguments, self.input.text)
        schema = self.judged or self.input
        if schema.accepts(meant):
            return meant, None
        from anyio.to_thread import run_sync

        return meant, await run_sync(schema.violation, meant, abandon_on_cancel=True)


def load_contract(folder: str, name: str) -> Contract:
    """The contract in ``schemas/tools/<folder>/<name>.json``, references inlined."""
    file = schema_files.read("tools", folder, f"{name}.json")
    parts = {part: _inline(file["$defs"][part]) for part in file["$defs"]}
    extension = file.get("x-memrpc", {})
    return Contract(
        name=name,
        title=file["title"],
        description=file["description"],
        input=Schema(parts["input"]),
        output=Schema(parts["output"]) if "output" in parts else None,
        annotations=extension.get("annotations", {}),
        unlisted=frozenset(extension.get("unlisted", ())),
        judged=_without_items(parts["input"], extension.get("partial")),
    )


def _without_items(schema: JSONObject, name: str | None) -> Schema | None:
    """The schema that asks nothing of one list's items: the tool judges each by itself."""
    if name is None:
        return None
    bare = {key: rule for key, rule in schema["properties"][name].items() if key != "items"}
    return Schema({**schema, "properties": {**schema["properties"], name: bare}})


def _inline(schema: JSON) -> JSON:
    """``schema`` with each reference to a shared file replaced by what it names.

    Hosts refuse ``$ref``, and a reference costs validation twice the time.
    """
    if isinstance(schema, list):
        return [_inline(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {name: _inline(value) for name, value in schema.items() if name != "$ref"}
    target = schema.get("$ref")
    return {**_inline(_referenced(target)), **rest} if isinstance(target, str) else rest


def _referenced(target: str) -> JSON:
    path, _, pointer = target.removeprefix(_SCHEME).partition("#")
    value = schema_files.read(*f"{path}.json".split("/"))
    for step in filter(None, pointer.split("/")):
        value = value[step]
    return value

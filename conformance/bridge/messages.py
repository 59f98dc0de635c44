"""A JSON-RPC message as text that is looked into but not rewritten."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from conformance.bridge.splice import Path, locate

PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = PREFIX + "protocolVersion"
CAPABILITIES_KEY: Final = PREFIX + "clientCapabilities"
LOG_LEVEL_KEY: Final = PREFIX + "logLevel"
SUBSCRIPTION_KEY: Final = PREFIX + "subscriptionId"
ENVELOPE_KEYS: Final = (VERSION_KEY, CAPABILITIES_KEY, PREFIX + "clientInfo", LOG_LEVEL_KEY)

Key = tuple[type, object]


def key_of(value: object) -> Key:
    """``1`` and ``"1"`` are different ids."""
    return (type(value), value)


@dataclass(frozen=True, slots=True)
class Message:
    """The text as it came, and its value for looking things up."""

    text: str
    value: dict[str, Any]

    @property
    def method(self) -> str | None:
        method = self.value.get("method")
        return method if isinstance(method, str) else None

    @property
    def has_id(self) -> bool:
        return "id" in self.value

    @property
    def params(self) -> dict[str, Any]:
        return _object(self.value.get("params"))

    @property
    def meta(self) -> dict[str, Any]:
        return _object(self.params.get("_meta"))

    @property
    def result_meta(self) -> dict[str, Any]:
        return _object(_object(self.value.get("result")).get("_meta"))

    @property
    def has_envelope(self) -> bool:
        return any(key in self.meta for key in ENVELOPE_KEYS)

    @property
    def error_code(self) -> int | None:
        code = _object(self.value.get("error")).get("code")
        return code if isinstance(code, int) else None

    def text_at(self, path: Path) -> str:
        """The JSON text of the value at ``path``; null where there is none."""
        span = locate(self.text, path)
        return "null" if span is None else self.text[span.start : span.end]


def read_message(data: bytes) -> Message:
    """Raises ``ValueError`` for what is not a JSON object in UTF-8."""
    text = data.decode()
    value = json.loads(text, parse_constant=_refuse)
    if not isinstance(value, dict):
        raise TypeError("a message is a JSON object")
    return Message(text, value)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def error_text(id_text: str, code: int, message: str) -> str:
    """An error response of the bridge's own."""
    error = json.dumps({"code": code, "message": message})
    return f'{{"jsonrpc":"2.0","id":{id_text},"error":{error}}}'

"""What a server may ask its client while it serves a request, in the form each era gives it.

A handshake session carries an ask as a request of its own.  2026-07-28 has no such requests: the
asks stand in a result, and the client sends the same request again with the answers and with the
``requestState`` that it was given.  That state has been in the client's hands, so it is signed,
expires, and is bound to the method and the parameters that it was made for.

Source: Client Features of every revision; 2026-07-28, Multi Round-Trip Requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from memrpc.protocol.capabilities import Path, declares
from memrpc.protocol.revisions import Revision
from memrpc.wire.codec import compact, read_value
from memrpc.wire.messages import JSON, JSONObject

STATE_LIFETIME_S: Final = 3600.0
_STATE_VERSION: Final = "v1"
_NOT_SALIENT: Final = frozenset({"_meta", "inputResponses", "requestState"})


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to the client; ``needs`` is the capability that it must have declared."""

    method: str
    needs: Path
    params: JSONObject = field(default_factory=dict)
    timeout_s: float = 60.0


def elicit_form(message: str, schema: JSONObject) -> Ask:
    """Ask the user to fill in a form; a person may take minutes."""
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return Ask("elicitation/create", ("elicitation", "form"), params, timeout_s=600.0)


def elicit_url(message: str, url: str, elicitation_id: str) -> Ask:
    """Ask the user to visit a page."""
    params = {"mode": "url", "message": message, "url": url, "elicitationId": elicitation_id}
    return Ask("elicitation/create", ("elicitation", "url"), params, timeout_s=600.0)


def sample(params: JSONObject, *, with_tools: bool = False) -> Ask:
    """Ask the client's model; ``params`` are those of ``sampling/createMessage``."""
    needs = ("sampling", "tools") if with_tools else ("sampling",)
    return Ask("sampling/createMessage", needs, params, timeout_s=180.0)


def list_roots() -> Ask:
    """Ask which folders the client works in."""
    return Ask("roots/list", ("roots",), timeout_s=10.0)


def may_ask(ask: Ask, revision: Revision, capabilities: JSONObject) -> bool:
    """True if the revision has this kind of ask and the client declared that it answers it."""
    is_known = ask.method in revision.asks and revision.ask_modes.issuperset(ask.needs[1:])
    return is_known and declares(capabilities, ask.needs)


def ask_params(ask: Ask, revision: Revision) -> JSONObject:
    """The parameters of an ask as the revision knows them."""
    if ask.method != "elicitation/create":
        return ask.params
    known = revision.shapes.elicitation
    params = {name: value for name, value in ask.params.items() if name in known}
    if not revision.rich_forms and "requestedSchema" in params:
        params["requestedSchema"] = _plain_form(params["requestedSchema"])
    return params


def _plain_form(schema: JSONObject) -> JSONObject:
    """A form without defaults, titled choices and multiple choices: 2025-06-18 has none."""
    plain = {name: _plain_field(item) for name, item in schema["properties"].items()}
    properties = {name: item for name, item in plain.items() if item["type"] != "array"}
    required = [name for name in schema.get("required", []) if name in properties]
    return {"type": "object", "properties": properties, "required": required}


def _plain_field(item: JSONObject) -> JSONObject:
    titled = item.get("oneOf")
    body = {name: value for name, value in item.items() if name not in {"oneOf", "default"}}
    if titled:
        body["enum"] = [choice["const"] for choice in titled]
        body["enumNames"] = [choice["title"] for choice in titled]
    if body["type"] == "boolean" and "default" in item:
        body["default"] = item["default"]
    return body


# The state that travels through the client


class StateError(ValueError):
    """The state was not made by this store, has expired, or belongs to another request."""


def seal_state(key: bytes, call: JSONObject, answers: JSONObject, *, expires_s: float) -> str:
    """Signed text that remembers ``answers`` for ``call`` until ``expires_s``."""
    content = compact({"expires": expires_s, "call": digest(call), "answers": answers})
    body = _to_text(content.encode())
    return ".".join((_STATE_VERSION, body, _sign(key, body)))


def open_state(key: bytes, call: JSONObject, state: str, *, now_s: float) -> JSONObject:
    """The answers that ``state`` remembers.  Raises ``StateError``.

    The text is signed, not the bytes it stands for: several texts stand for the same bytes.
    """
    import hmac

    version, _, rest = state.partition(".")
    body, _, signature = rest.partition(".")
    is_ours = hmac.compare_digest(signature.encode(), _sign(key, body).encode())
    if version != _STATE_VERSION or not is_ours:
        raise StateError("requestState was not issued by this server")
    content: JSON = read_value(_to_bytes(body).decode())
    if content["expires"] < now_s:
        raise StateError("requestState has expired; send the request again without it")
    if content["call"] != digest(call):
        raise StateError("requestState belongs to another request")
    answers: JSONObject = content["answers"]
    return answers


def call_of(method: str, params: JSONObject) -> JSONObject:
    """What a state is bound to: the method and the parameters that matter; null is absent."""
    salient = {n: v for n, v in params.items() if v is not None and n not in _NOT_SALIENT}
    return {"method": method, "params": salient}


def digest(call: JSONObject) -> str:
    import hashlib

    return hashlib.sha256(compact(_ordered(call)).encode()).hexdigest()


def _ordered(value: JSON) -> JSON:
    """The same value with its members in one order, whatever order a client sent them in."""
    if isinstance(value, Mapping):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value


def _sign(key: bytes, body: str) -> str:
    import hmac

    return _to_text(hmac.digest(key, body.encode(), "sha256"))


def _to_text(value: bytes) -> str:
    import base64

    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _to_bytes(text: str) -> bytes:
    import base64

    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

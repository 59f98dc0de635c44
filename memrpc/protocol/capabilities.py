"""Which capability stands behind a method, and whether an object of capabilities declares it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from memrpc.protocol.revisions import EXTENSION_REQUESTS, TASKS_EXTENSION
from memrpc.wire.messages import JSONObject

Path = tuple[str, ...]

_OF_EXTENSIONS: Final[Mapping[str, Path]] = MappingProxyType(
    {
        method: ("extensions", extension)
        for extension, methods in EXTENSION_REQUESTS.items()
        for method in methods
    }
)
BEHIND: Final[Mapping[str, Path]] = MappingProxyType(
    {
        "tools/list": ("tools",),
        "tools/call": ("tools",),
        "resources/list": ("resources",),
        "resources/templates/list": ("resources",),
        "resources/read": ("resources",),
        "resources/subscribe": ("resources", "subscribe"),
        "resources/unsubscribe": ("resources", "subscribe"),
        "prompts/list": ("prompts",),
        "prompts/get": ("prompts",),
        "completion/complete": ("completions",),
        "logging/setLevel": ("logging",),
        **_OF_EXTENSIONS,
    }
)
"""A method that is not declared does not exist: it answers -32601."""

NEEDS: Final[Mapping[str, Path]] = _OF_EXTENSIONS
"""What the client must have declared in the request itself: else it is answered with -32021."""

TASKS: Final[Path] = ("extensions", TASKS_EXTENSION)


def declares(capabilities: JSONObject, path: Path) -> bool:
    """True if ``capabilities`` has the member at ``path``, and it is not false.

    An empty object declares; so does ``elicitation`` without a mode, which means form mode: it is
    the only one that 2025-06-18 has (2025-11-25, Elicitation, Capabilities).
    """
    if path == ("elicitation", "form") and _names_no_mode(capabilities.get("elicitation")):
        return True
    value: object = capabilities
    for name in path:
        if not isinstance(value, Mapping) or value.get(name) in (None, False):
            return False
        value = value[name]
    return True


def _names_no_mode(elicitation: object) -> bool:
    return isinstance(elicitation, Mapping) and not elicitation.keys() & {"form", "url"}


def required(path: Path) -> JSONObject:
    """The ClientCapabilities object that would satisfy ``path``."""
    value: JSONObject = {}
    for name in reversed(path):
        value = {name: value}
    return value

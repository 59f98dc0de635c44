"""What a topic of the log of changes means to a subscriber."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from memrpc.server.service import Change, Publish
from memrpc.surface.views.archive import PERSONA
from memrpc.workspace.scope import LISTED

_PERSONA: Final = "persona:"  # and a name: no URI, whatever the name looks like
_INDEX: Final = "codebase://"
_WHOLE: Final = "symbols"
_REPOSITORY: Final = "repository://"
_NAMING: Final = frozenset({"memories", "tasks", "standards"})
"""The parts of a repository whose texts make its graph."""


def teller(publish: Publish) -> Callable[[str], None]:
    """Return what publishes the changes that a topic stands for."""

    def tell(topic: str) -> None:
        for change in changes_of(topic):
            publish(change)

    return tell


def changes_of(topic: str) -> Iterator[Change]:
    """The changes that a topic stands for; most topics are the URI of a resource."""
    if topic == LISTED:
        yield Change("resources")
    elif topic.startswith(_PERSONA):
        name = topic.removeprefix(_PERSONA)
        yield Change("resource", PERSONA.expand({"persona_id": name}))
        yield Change("resources")
    elif topic.startswith(_INDEX):
        whole = topic.removesuffix(_WHOLE)
        name = whole.removeprefix(_INDEX).rpartition("%2F")[2]
        yield Change("resource", whole)
        yield Change("resource", f"{_INDEX}{name}")
    else:
        yield Change("resource", topic)
        home, _, part = topic.rpartition("/")
        if part in _NAMING and home.startswith(_REPOSITORY):
            yield Change("resource", f"{home}/graph")

"""``python -m conformance.mutate``: no line of a transcript is there for nothing.

Each line that a transcript expects of the server is changed in every way that matters, one at a
time, and the replay against an unchanged server must then fail.  And each line that the server
writes is lost, doubled or altered on its way, and the unchanged transcript must notice.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.patterns import JSON, is_operator
from conformance.peers import Peer
from conformance.replay import peer_maker, replay
from conformance.transcripts import REVISIONS, Expect, ExpectUpTo, Step, Transcript, load_all

_TIMEOUT_S: Final = 0.4
_NEVER: Final = {"$never": True}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed transcript, and what was changed."""

    change: str
    transcript: Transcript


def mutants(transcript: Transcript) -> Iterator[Mutant]:
    """Every change of every line that is expected of the server."""
    for number, step in enumerate(transcript.steps):
        for change, steps in _changes(step):
            changed = (*transcript.steps[:number], *steps, *transcript.steps[number + 1 :])
            yield Mutant(f"step {number + 1}: {change}", replace(transcript, steps=changed))


def _changes(step: Step) -> Iterator[tuple[str, tuple[Step, ...]]]:
    if isinstance(step, ExpectUpTo):
        yield "allow none", (replace(step, count=0),)
        yield from ((what, (replace(step, pattern=p),)) for what, p in changed(step.pattern))
    if not isinstance(step, Expect):
        return
    for index, pattern in enumerate(step.patterns):
        rest = step.patterns[:index], step.patterns[index + 1 :]
        yield "lose a line", (Expect((*rest[0], *rest[1])),)
        yield "double a line", (Expect((*rest[0], pattern, pattern, *rest[1])),)
        for what, other in changed(pattern):
            yield what, (Expect((*rest[0], other, *rest[1])),)


def changed(pattern: JSON, at: str = "") -> Iterator[tuple[str, JSON]]:
    """The pattern with one leaf after the other replaced by something that must not match."""
    if is_operator(pattern):
        yield from _changed_operator(pattern, at)
    elif isinstance(pattern, dict):
        for name, item in pattern.items():
            for what, other in changed(item, f"{at}/{name}"):
                yield what, {**pattern, name: other}
    elif isinstance(pattern, list) and pattern:
        for index, item in enumerate(pattern):
            for what, other in changed(item, f"{at}/{index}"):
                yield what, [*pattern[:index], other, *pattern[index + 1 :]]
    else:
        yield f"{at} is something else", _other(pattern)


def _changed_operator(pattern: JSON, at: str) -> Iterator[tuple[str, JSON]]:
    if "$absent" in pattern:
        yield f"{at} must be there", {"$any": "anything"}
        return
    if pattern.keys() != {"$capture"}:
        yield f"{at} is never right", _NEVER
    for name in ("$exact", "$each"):
        if name in pattern:
            for what, other in changed(pattern[name], at):
                yield what, {**pattern, name: other}


def _other(literal: JSON) -> JSON:
    if isinstance(literal, str):
        return literal + "~"
    if isinstance(literal, bool) or literal is None:
        return "something else"
    return literal + 1 if isinstance(literal, (int, float)) else ["something else"]


# The other way round: the server's lines are changed, the transcript is not


Tamper = Callable[[bytes], list[bytes]]


def _lose(_: bytes) -> list[bytes]:
    return []


def _double(line: bytes) -> list[bytes]:
    return [line, line]


def _cut(line: bytes) -> list[bytes]:
    return [line[:-2] + b"\n"]


def _swap(line: bytes) -> list[bytes]:
    """An id of another type, an error for a result, another method."""
    message = json.loads(line)
    if isinstance(message, list):
        return [_dumped(message[:-1])]
    if "method" in message:
        return [_dumped({**message, "method": message["method"] + "/other"})]
    if "result" in message:
        return [_dumped({**message, "id": [message["id"]]})]
    return [_dumped({**message, "error": {**message["error"], "code": -1}})]


def _dumped(message: JSON) -> bytes:
    return json.dumps(message).encode() + b"\n"


TAMPERS: Final[dict[str, Tamper]] = {
    "lost": _lose,
    "doubled": _double,
    "cut": _cut,
    "altered": _swap,
}


@dataclass(slots=True, eq=False)
class TamperedPeer:
    """A peer whose n-th line is tampered with."""

    inner: Peer
    number: int
    tamper: Tamper
    seen: int = 0
    _ready: list[bytes] = field(default_factory=list)

    def send(self, data: bytes) -> None:
        self.inner.send(data)

    def receive(self, timeout_s: float) -> bytes | None:
        while not self._ready:
            line = self.inner.receive(timeout_s)
            if line is None:
                return None
            self.seen += 1
            self._ready = self.tamper(line) if self.seen == self.number else [line]
        return self._ready.pop(0)

    def end_input(self) -> None:
        self.inner.end_input()

    def close(self) -> str | None:
        return self.inner.close()


def survivors(transcript: Transcript, make_peer: Callable[[], Peer]) -> tuple[int, list[str]]:
    """How many changes were tried, and those that nobody noticed."""
    tried = 0
    unnoticed: list[str] = []
    for mutant in mutants(transcript):
        tried += 1
        if replay(mutant.transcript, make_peer(), timeout_s=_TIMEOUT_S) is None:
            unnoticed.append(f"{transcript}, {mutant.change}")
    for name, tamper in _tampers(transcript).items():
        count, escaped = _tampered(transcript, make_peer, tamper)
        tried += count
        unnoticed += [f"{transcript}, line {number} of the server {name}" for number in escaped]
    return tried, unnoticed


def _tampers(transcript: Transcript) -> dict[str, Tamper]:
    """One line more or less of a flood is no fault, so there only altered lines are tried."""
    if any(isinstance(step, ExpectUpTo) for step in transcript.steps):
        return {name: TAMPERS[name] for name in ("cut", "altered")}
    return TAMPERS


def _tampered(
    transcript: Transcript, make_peer: Callable[[], Peer], tamper: Tamper
) -> tuple[int, list[int]]:
    """How many lines there were to tamper with, and those for which nobody noticed."""
    number = 1
    escaped: list[int] = []
    while True:
        peer = TamperedPeer(make_peer(), number, tamper)
        failure = replay(transcript, peer, timeout_s=_TIMEOUT_S)
        if peer.seen < number:
            return number - 1, escaped
        if failure is None:
            escaped.append(number)
        number += 1


def main() -> int:
    """Print the survivors; exit with 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m conformance.mutate")
    parser.add_argument("--revision", choices=REVISIONS)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    make_peer = peer_maker(())
    tried = 0
    unnoticed: list[str] = []
    for transcript in load_all():
        if arguments.only in transcript.name and arguments.revision in (None, transcript.revision):
            count, escaped = survivors(transcript, make_peer)
            tried += count
            unnoticed += escaped
    print(*unnoticed, f"{tried} mutations, {len(unnoticed)} unnoticed", sep="\n")
    return 1 if unnoticed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())

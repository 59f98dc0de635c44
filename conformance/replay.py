"""Replay transcripts against a server, and say where it departs from them.

``python -m conformance.replay [--revision R] [--only NAME] [-- COMMAND...]`` replays against the
fixture in this process, or against a command; ``--server any`` chooses what every server must do,
whatever its tools are called.

A transcript ends in silence: whatever the server writes that no line expects is a failure, and so
is an exit that is slow or not clean.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from conformance.patterns import (
    JSON,
    Bindings,
    MismatchError,
    fill,
    has_pattern,
    is_operator,
    match,
)
from conformance.peers import InProcessPeer, Peer, SpawnedPeer
from conformance.transcripts import (
    ENVELOPE,
    REVISIONS,
    EndInput,
    Expect,
    ExpectUpTo,
    Send,
    SendRaw,
    Silence,
    Step,
    Transcript,
    envelope,
    load_all,
)

TIMEOUT_S: Final = 5.0
_FIRST_ANSWER_S: Final = 20.0  # a server may take long to start
_MESSAGE_MEMBERS: Final = ("jsonrpc", "id", "method", "params", "result", "error")


class Observer(Protocol):
    """Sees every line in both directions; may raise to fail the replay."""

    def sent(self, data: bytes, /) -> None: ...
    def received(self, line: bytes, /) -> None: ...


class _Nobody:
    def sent(self, data: bytes, /) -> None: ...
    def received(self, line: bytes, /) -> None: ...


@dataclass(slots=True, eq=False)
class Replay:
    """One run of one transcript."""

    transcript: Transcript
    peer: Peer
    observer: Observer = field(default_factory=_Nobody)
    timeout_s: float = TIMEOUT_S
    _probes: int = 0
    _ahead: JSON = None
    _has_ended: bool = False
    _has_heard: bool = False
    _streams: list[JSON] = field(default_factory=list)
    _bindings: Bindings = field(init=False)

    def __post_init__(self) -> None:
        self._bindings = Bindings(self.transcript.revision)

    def run(self) -> None:
        """Raise ``MismatchError`` at the first departure."""
        for number, step in enumerate(self.transcript.steps, 1):
            try:
                self._take(step)
            except MismatchError as error:
                raise MismatchError(f"{self.transcript} step {number}: {error}") from error
        self._end()

    def _take(self, step: Step) -> None:
        match step:
            case Send(message=message):
                self._send_message(fill(message, self._bindings))
            case SendRaw(data=data):
                self._send(data)
            case EndInput():
                self.observer.sent(b"\n")  # the end of input ends the last line
                self.peer.end_input()
                self._has_ended = True
            case Expect(patterns=patterns):
                self._expect(list(patterns))
            case ExpectUpTo(count=count, pattern=pattern):
                self._expect_up_to(count, pattern)
            case Silence():
                self._probe()

    def _send_message(self, message: JSON) -> None:
        if isinstance(message, dict) and message.get("method") == "subscriptions/listen":
            self._streams.append(message["id"])
        self._send(_line(message))

    def _send(self, data: bytes) -> None:
        self.observer.sent(data)
        self.peer.send(data)

    def _expect(self, patterns: list[JSON]) -> None:
        """The next messages, one for each pattern."""
        if len(patterns) == 1:
            self._match(patterns[0], self._next(patterns[0]))
            return
        while patterns:
            message = self._next(patterns)
            found = next((p for p in patterns if self._fits(p, message)), None)
            if found is None:
                raise MismatchError(f"unexpected: {json.dumps(message)[:500]}")
            patterns.remove(found)

    def _expect_up_to(self, count: int, pattern: JSON) -> None:
        for _ in range(count):
            message = self._next(pattern)
            if not self._fits(pattern, message):
                self._ahead = message
                return
        self._ahead = self._next(pattern)
        if self._fits(pattern, self._ahead):
            raise MismatchError(f"more than {count} messages")

    def _fits(self, pattern: JSON, message: JSON) -> bool:
        return has_pattern(_framed(pattern), message, self._bindings)

    def _match(self, pattern: JSON, message: JSON) -> None:
        try:
            match(_framed(pattern), message, self._bindings)
        except MismatchError as error:
            raise MismatchError(f"{error}; the message: {json.dumps(message)[:500]}") from error

    def _next(self, wanted: JSON) -> JSON:
        if self._ahead is not None:
            message, self._ahead = self._ahead, None
            return message
        line = self.peer.receive(self.timeout_s if self._has_heard else _FIRST_ANSWER_S)
        self._has_heard = True
        if line is None:
            raise MismatchError(f"nothing came; expected {json.dumps(wanted)[:300]}")
        self.observer.received(line)
        return _parse(line)

    def _probe(self) -> None:
        """The answer to a request that any server knows must be the next thing to come."""
        self._probes += 1
        id_ = f"probe-{self._probes}"
        probe: dict[str, JSON] = {"jsonrpc": "2.0", "id": id_, "method": "ping"}
        if self.transcript.revision == ENVELOPE:
            probe |= {"method": "server/discover", "params": {"_meta": envelope({})}}
        self._send(_line(probe))
        self._match({"jsonrpc": "2.0", "id": id_, "result": {}}, self._next(probe))

    def _end(self) -> None:
        if not self._has_ended:
            self._close_streams()
            self._probe()
            self.peer.end_input()
        line = self.peer.receive(self.timeout_s)
        if line is not None:
            raise MismatchError(f"{self.transcript}: after the end came {line[:300]!r}")

    def _close_streams(self) -> None:
        """What a transcript leaves open would be answered at the end of input."""
        for id_ in self._streams:
            method, params = "notifications/cancelled", {"requestId": id_}
            self._send(_line({"jsonrpc": "2.0", "method": method, "params": params}))


def _line(message: JSON) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _framed(pattern: JSON) -> JSON:
    """A message has the members that its pattern names, and no others but params."""
    if not isinstance(pattern, dict) or is_operator(pattern):
        return pattern
    absent = {name: {"$absent": True} for name in _MESSAGE_MEMBERS if name not in pattern}
    if "method" in pattern:
        absent.pop("params", None)
    return {**absent, **pattern}


def _parse(line: bytes) -> JSON:
    try:
        return json.loads(line.decode(), parse_constant=_refuse)
    except ValueError as error:
        raise MismatchError(f"not a message: {line[:300]!r}") from error


def _refuse(name: str) -> None:
    raise ValueError(name)


def replay(
    transcript: Transcript,
    peer: Peer,
    observer: Observer | None = None,
    timeout_s: float = TIMEOUT_S,
) -> str | None:
    """What went wrong, or None.  The peer is closed in any case."""
    failure: str | None = None
    try:
        Replay(transcript, peer, observer or _Nobody(), timeout_s).run()
    except MismatchError as error:
        failure = str(error)
    except OSError as error:
        failure = f"{transcript}: the server is gone ({error})"
    ending = peer.close()
    return failure or (f"{transcript}: {ending}" if ending else None)


def peer_maker(command: Sequence[str]) -> Callable[[], Peer]:
    """Peers of that command, or of the fixture in this process where there is none."""
    if command:
        return lambda: SpawnedPeer(command)
    from conformance.fixture.service import make_connection

    return lambda: InProcessPeer(make_connection)


def main() -> int:
    """Print each failure; exit with 1 if there was one."""
    parser = argparse.ArgumentParser(prog="python -m conformance.replay")
    parser.add_argument("--revision", choices=REVISIONS)
    parser.add_argument("--server", choices=("any", "fixture"))
    parser.add_argument("--only", default="", help="a part of the transcript's name")
    parser.add_argument("command", nargs="*")
    arguments = parser.parse_args()
    make_peer = peer_maker(arguments.command)
    chosen = [
        transcript
        for transcript in load_all()
        if arguments.only in transcript.name
        and arguments.revision in (None, transcript.revision)
        and arguments.server in (None, transcript.server)
    ]
    failures = [failure for t in chosen if (failure := replay(t, make_peer()))]
    print(*failures, f"{len(chosen) - len(failures)} of {len(chosen)} transcripts hold", sep="\n")
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())

"""Transcripts: conversations that each show a requirement, as JSON lines.

The first line of a file is its header, ``{"title", "requirements", "server"}``: ``server`` is
``any`` where a server needs no content of the official suite.  Each further line is a step; this
module gives each kind its type.  Three things are written short:

* ``{"open": {...}}`` is the whole handshake with these client capabilities;
* ``{"$envelope": {...}}`` in ``_meta`` is the 2026-07-28 envelope with these client capabilities;
* files in ``handshake`` are replayed under each handshake revision, from the header's ``since`` to
  its ``until``, and ``{"$revision": true}`` is the one being replayed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from conformance.patterns import JSON

FOLDER: Final = Path(__file__).parent / "transcripts"
HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE: Final = "2026-07-28"
REVISIONS: Final = (*HANDSHAKE, ENVELOPE)
_PREFIX: Final = "io.modelcontextprotocol/"
CLIENT_INFO: Final = {"name": "transcript", "version": "1"}


@dataclass(frozen=True, slots=True)
class Send:
    """The client sends a message, whose ``$ref`` operators are filled in."""

    message: JSON


@dataclass(frozen=True, slots=True)
class SendRaw:
    """The client sends bytes, line end included."""

    data: bytes


@dataclass(frozen=True, slots=True)
class EndInput:
    """The client closes its end; the server must finish and exit."""


@dataclass(frozen=True, slots=True)
class Expect:
    """The server's next messages have these patterns, in any order."""

    patterns: tuple[JSON, ...]


@dataclass(frozen=True, slots=True)
class ExpectUpTo:
    """The server's next messages, at most ``count``, have this pattern."""

    count: int
    pattern: JSON


@dataclass(frozen=True, slots=True)
class Silence:
    """The server writes nothing before it answers a probe."""


Step: TypeAlias = Send | SendRaw | EndInput | Expect | ExpectUpTo | Silence


@dataclass(frozen=True, slots=True)
class Transcript:
    """One file under one revision; ``is_portable`` if any server with the suite's content fits."""

    name: str
    revision: str
    title: str
    requirements: tuple[str, ...]
    server: str
    steps: tuple[Step, ...]
    is_portable: bool = True

    def __str__(self) -> str:
        return f"{self.revision}/{self.name}"


def load_all(folder: Path = FOLDER) -> list[Transcript]:
    """Every transcript, under each revision that it speaks for."""
    return [t for path in sorted(folder.glob("*/*.jsonl")) for t in load(path)]


def load(path: Path) -> Iterator[Transcript]:
    header, *steps = [json.loads(line) for line in path.read_text().split("\n") if line]
    for revision in _revisions(path.parent.name, header):
        yield Transcript(
            path.stem,
            revision,
            header["title"],
            tuple(header["requirements"]),
            header["server"],
            tuple(step for line in steps for step in _steps(line)),
            header.get("portable", True),
        )


def _revisions(folder: str, header: JSON) -> tuple[str, ...]:
    if folder != "handshake":
        return (folder,)
    first, last = header.get("since", HANDSHAKE[0]), header.get("until", HANDSHAKE[-1])
    return tuple(revision for revision in HANDSHAKE if first <= revision <= last)


def _steps(line: JSON) -> Iterator[Step]:
    if "open" in line:
        yield from _handshake(line["open"])
    elif "silence" in line:
        yield Silence()
    elif "unordered" in line:
        yield Expect(tuple(line["unordered"]))
    elif "up_to" in line:
        yield ExpectUpTo(line["up_to"], line["message"])
    elif line["from"] == "server":
        yield Expect((line["message"],))
    else:
        yield _client_step(line)


def _client_step(line: JSON) -> Step:
    if "eof" in line:
        return EndInput()
    if "hex" in line:
        return SendRaw(bytes.fromhex(line["hex"]))
    if "raw" in line:
        return SendRaw(line["raw"].encode() + line.get("end", "\n").encode())
    return Send(_with_envelopes(line["message"]))


def _handshake(capabilities: JSON) -> Iterator[Step]:
    params = {"protocolVersion": {"$revision": True}, "capabilities": capabilities}
    request = {"jsonrpc": "2.0", "id": "open", "method": "initialize"}
    yield Send({**request, "params": {**params, "clientInfo": CLIENT_INFO}})
    result = {"protocolVersion": {"$revision": True}}
    yield Expect(({"jsonrpc": "2.0", "id": "open", "result": result},))
    yield Send({"jsonrpc": "2.0", "method": "notifications/initialized"})


def envelope(capabilities: JSON) -> dict[str, JSON]:
    return {
        f"{_PREFIX}protocolVersion": ENVELOPE,
        f"{_PREFIX}clientInfo": CLIENT_INFO,
        f"{_PREFIX}clientCapabilities": capabilities,
    }


def _with_envelopes(message: JSON) -> JSON:
    if isinstance(message, list):
        return [_with_envelopes(item) for item in message]
    if not isinstance(message, dict):
        return message
    filled = {name: _with_envelopes(item) for name, item in message.items()}
    if "$envelope" in filled:
        return {**envelope(filled.pop("$envelope")), **filled}
    return filled

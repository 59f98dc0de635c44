"""``python -m conformance.differences COMMAND...``: where another server departs, as a table.

Only what is fair is asked: transcripts that need content of the fixture's own, or a tool that the
other server does not have, are left out and counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from conformance.peers import Peer, SpawnedPeer
from conformance.replay import replay
from conformance.transcripts import CLIENT_INFO, REVISIONS, Send, Transcript, load_all

_TIMEOUT_S: Final = 2.0
_FIRST_ANSWER_S: Final = 20.0


@dataclass(slots=True)
class Difference:
    """One transcript that does not hold, the revisions under which it does not, and a reason."""

    transcript: Transcript
    reason: str
    revisions: list[str] = field(default_factory=list)


def tools_of(peer: Peer) -> set[str]:
    """The names of a server's tools."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT_INFO}
    _ask(peer, {"id": 1, "method": "initialize", "params": params})
    peer.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    answer = _ask(peer, {"id": 2, "method": "tools/list"})
    peer.close()
    return {tool["name"] for tool in answer["result"]["tools"]}


def _ask(peer: Peer, request: dict[str, object]) -> dict[str, dict[str, list[dict[str, str]]]]:
    peer.send(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n")
    answer: dict[str, dict[str, list[dict[str, str]]]] = json.loads(
        peer.receive(_FIRST_ANSWER_S) or b"{}"
    )
    return answer


def needed_tools(transcript: Transcript) -> set[str]:
    """The tools of the suite's content that a transcript calls."""
    calls = [s.message for s in transcript.steps if isinstance(s, Send)]
    names = {c["params"].get("name") for c in calls if c.get("method") == "tools/call"}
    return {name for name in names if isinstance(name, str) and name.startswith("test_")}


def compare(
    command: Sequence[str], transcripts: Sequence[Transcript]
) -> tuple[list[Transcript], list[Difference]]:
    """The transcripts that were fair to replay, and how the server departs from them."""
    tools = tools_of(SpawnedPeer(command))
    fair = [t for t in transcripts if t.is_portable and needed_tools(t) <= tools]
    found: dict[str, Difference] = {}
    for transcript in fair:
        failure = replay(transcript, SpawnedPeer(command), timeout_s=_TIMEOUT_S)
        if failure is not None:
            key = f"{transcript.title}"
            found.setdefault(key, Difference(transcript, failure)).revisions.append(
                transcript.revision
            )
    return fair, list(found.values())


def main() -> int:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m conformance.differences")
    parser.add_argument("--revision", choices=REVISIONS, action="append")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    chosen = [t for t in load_all() if t.revision in (arguments.revision or REVISIONS)]
    fair, differences = compare(arguments.command, chosen)
    print(f"{len(fair)} of {len(chosen)} transcripts are fair to it;", end=" ")
    print(f"{sum(len(d.revisions) for d in differences)} do not hold.\n")
    print("| transcript | revisions | first departure |\n|---|---|---|")
    for difference in differences:
        reason = difference.reason.partition(": ")[2].replace("|", "\\|").replace("\n", " ")
        print(f"| {difference.transcript.name}: {difference.transcript.title}", end=" | ")
        print(f"{', '.join(difference.revisions)} | {reason[:300]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

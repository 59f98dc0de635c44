"""Run it: ``make demo``, or ``make demo CONVERSATION=path.jsonl`` for one of your own.

A line of the file is ``{"role", "text"}`` with, where you have them, ``source``, ``session_id``,
``occurred_at`` (ISO 8601 with a zone) and ``event_id``.  Without them the source is the role and
the id a digest of file, line number and text.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

from benchmarks.demo.host import Host, RefusedError, run_verb

OURS = Path(__file__).with_name("conversation.jsonl")
QUESTIONS = (
    "When does the flour arrive, and from whom?",
    "hazelnuts Jonas",
    "李老师 面包",
    "ERR_SMTP_421",
    "who repaired the oven?",
)
RESUME_TOKENS = 600
DEADLINE_S = 30.0
MOST_KEPT = 3_900  # a memory has at most 4,000 characters
FEWEST_SOUGHT = 6  # shorter ones stand by chance in any file


def main(arguments: list[str]) -> int:
    path = Path(arguments[0]) if arguments else OURS
    events = read_conversation(path)
    with tempfile.TemporaryDirectory(prefix="memrpc-demo-") as folder:
        database = Path(folder) / "memory.db"
        host = Host(database)
        try:
            tell(host, path, events)
        except RefusedError as refusal:
            raise SystemExit(f"The server refused: {refusal}") from None
        finally:
            code = host.leave()
    say(f"The server left with exit code {code}.")
    return code


def tell(host: Host, path: Path, events: list[dict[str, Any]]) -> None:
    server = host.greeting["serverInfo"]
    tools = [tool["name"] for tool in host.request("tools/list", {})["tools"]]
    say(f"{server['name']} {server['version']} answered with {', '.join(tools)}.")
    record(host, path, events)
    for question in QUESTIONS if path == OURS else questions_about(events):
        recall(host, question)
    target, word = only_once(events)
    read(host, target)
    correct(host, events)
    resume(host, events)
    forget(host, target, word)


def read_conversation(path: Path) -> list[dict[str, Any]]:
    """The events of a file, in its order, with what was left out filled in."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{path} cannot be read: {error}") from None
    numbered = enumerate(lines, 1)
    events = [event_of(path, number, line) for number, line in numbered if line.strip()]
    if not events:
        raise SystemExit(f"{path} holds no message.")
    return events


def event_of(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    told = event if isinstance(event, dict) else {}
    if not all(isinstance(told.get(name), str) for name in ("role", "text")):
        raise SystemExit(f'{path}, line {number} is not {{"role": "user", "text": "..."}}.')
    seed = f"{path.name}:{number}:{told['text']}"
    made_up = {"event_id": hashlib.sha256(seed.encode()).hexdigest()[:16], "source": told["role"]}
    return {**made_up, **told}


def record(host: Host, path: Path, events: list[dict[str, Any]]) -> None:
    heading(f"Record {len(events)} messages of {path.name}")
    started = time.perf_counter()
    receipts = [host.call("memory_record", **event) for event in events]
    took = time.perf_counter() - started
    drawn = sum(len(receipt["memory_ids"]) for receipt in receipts)
    say(f"{len(receipts)} events are durable, {drawn} memories quote them ({took:.2f} s).")
    again = host.call("memory_record", **events[0])
    say(f"The first one sent again: duplicate is {str(again['duplicate']).lower()}.")


def recall(host: Host, question: str) -> None:
    heading(f"Recall: {question}")
    answer = host.call("memory_recall", query=question, limit=3)
    for memory in answer["memories"]:
        since = memory["valid_from"][:10]
        until = memory.get("valid_to", "")[:10] or "now"
        say(f"“{memory.get('quote', memory['content'])}”")
        speaker = f"{memory['source']} ({memory['asserted_by']})"
        say(f"   said by {speaker}, holds from {since} to {until}")
    for event in answer["raw"]:
        say(f"raw, {event['source']} ({event['role']}): “{event['excerpt']}”")
    if not answer["memories"] and not answer["raw"]:
        say(f"Nothing known: {answer['reason']}.")


def questions_about(events: list[dict[str, Any]]) -> list[str]:
    """The longest words of some messages: what a conversation of one's own is asked about."""
    chosen = sorted(events, key=lambda event: -len(event["text"]))[:3]
    return [" ".join(sorted(set(words(event["text"])), key=len)[-3:]) for event in chosen]


def only_once(events: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """An event and a word that no other event holds: it must be gone with it."""
    texts = [event["text"].casefold() for event in events]
    for event in sorted(events, key=lambda event: "safe combination" not in event["text"]):
        named = re.findall(r"[\w-]{6,}", event["text"])
        for word in sorted(named, key=lambda word: not any(map(str.isdigit, word))):
            if event["role"] == "user" and sum(word.casefold() in text for text in texts) == 1:
                return event, word
    longest = max(events, key=lambda event: len(event["text"]))
    return longest, max(words(longest["text"]), key=len)


def words(text: str) -> list[str]:
    return re.findall(r"\w{4,}", text) or [text[:20]]


def read(host: Host, event: dict[str, Any]) -> None:
    heading("Read one original back")
    page = host.call("memory_read", record_id=event["event_id"])["source_page"]
    exact = event["text"].startswith(page["text"])
    say(f"{page['total_chars']} characters, exact: {str(exact).lower()}: “{page['text'][:160]}”")


def correct(host: Host, events: list[dict[str, Any]]) -> None:
    heading("Correct a memory")
    is_ours = any("Mühle" in event["text"] for event in events[2:3])
    query = "flour deliver Tuesday" if is_ours else questions_about(events)[0]
    found = host.call("memory_recall", query=query, limit=1)["memories"]
    if not found:
        say("No memory to correct.")
        return
    old = found[0]
    new = old["content"][:MOST_KEPT].replace("Tuesday", "Thursday") + " (corrected)"
    receipt = host.call(
        "memory_correct", memory_id=old["memory_id"], content=new, reason="the user said so"
    )
    say(f"was: “{old['content']}”")
    say(f"now: “{new}” ({len(receipt['revoked_ids'])} revoked)")
    now = [m["content"] for m in host.call("memory_recall", query=query)["memories"]]
    say(f"The old wording is recalled: {str(old['content'] in now).lower()}.")


def resume(host: Host, events: list[dict[str, Any]]) -> None:
    heading(f"Checkpoint, and resume within {RESUME_TOKENS} tokens")
    covered = events[len(events) // 2]
    state = {
        "goal": "keep the orders straight",
        "completed": ["noted the suppliers"],
        "pending": ["call the technician"],
        "next_step": "plan the next order",
    }
    host.call(
        "session_checkpoint",
        state=state,
        covered_event_id=covered["event_id"],
        session_id=covered.get("session_id", "default"),
    )
    answer = host.call("session_resume", token_budget=RESUME_TOKENS, target_model="gpt-4o")
    method = answer["token_method"]
    counter = f"{method['tokenizer']}, {'exact' if method['exact'] else 'an estimate'}"
    say(
        f"{answer['status']}: {answer['token_count']} tokens by {counter}; "
        f"{len(answer['omitted'])} parts left out."
    )
    say(textwrap.indent(answer["context"][:1200], "   | "))


def forget(host: Host, event: dict[str, Any], word: str) -> None:
    heading("Forget one message, to the last byte")
    gone = host.call("memory_forget", record_id=event["event_id"])
    memories = len(gone["deleted_memory_ids"])
    say(f"Deleted the event and {memories} memories of it; erasure is {gone['erasure']}.")
    try:
        host.call("memory_read", record_id=event["event_id"])
    except RefusedError as refusal:
        say(f"Reading it now: {refusal}")
    if gone["erasure"] == "pending":
        wait_for_purge(host)
    if len(word.encode()) < FEWEST_SOUGHT:
        say(f"{word!r} is too short to be sought in the files: chance would find it.")
        return
    code, report = run_verb("audit", "--absent", word, "--db", str(host.database))
    say(f"audit --absent {word!r} ends with {code}: {report}")


def wait_for_purge(host: Host) -> None:
    started = time.monotonic()
    while time.monotonic() - started < DEADLINE_S:
        _, printed = run_verb("stats", "--json", "--db", str(host.database))
        if json.loads(printed)["pending_purges"] == 0:
            say(f"The purge was done {time.monotonic() - started:.1f} s later.")
            return
    say("The purge is still pending.")


def heading(text: str) -> None:
    print(f"\n== {text}")


def say(text: str) -> None:
    print(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

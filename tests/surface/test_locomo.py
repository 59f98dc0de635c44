"""A whole long conversation through all seven tools (evaluation data, where it is installed)."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.official import SCHEMA_DIR

DATA = Path(os.environ.get("MEMRPC_DATA_DIR", SCHEMA_DIR.parent / "data"))
FILE = DATA / "locomo-dev.jsonl"
BUDGET = 600


def conversation() -> list[dict]:
    """The turns of the first conversation as memory_record takes them."""
    turns, scopes = [], 0
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        scopes += "scope" in row
        if scopes == 1 and "item" in row:
            item = row["item"]
            said = datetime.strptime(item["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            turns.append(
                {
                    "event_id": item["id"],
                    "text": item["text"],
                    "source": item["speaker"],
                    "session_id": str(item["session"]),
                    "occurred_at": said.isoformat(),
                }
            )
    return turns


@pytest.mark.slow
@pytest.mark.skipif(not FILE.exists(), reason="the evaluation data is not installed")
def test_a_conversation_goes_through_all_seven_tools(served):
    turns = conversation()
    receipts = {turn["event_id"]: served.record(**turn) for turn in turns}
    assert all(receipt["extraction"]["state"] == "complete" for receipt in receipts.values())
    for turn in turns[::20]:
        page = served.call("memory_read", record_id=turn["event_id"])["source_page"]
        assert page["text"] == turn["text"]
        found = served.recalled(turn["text"][:200], limit=10)
        assert turn["event_id"] in found
    covered = turns[-2]
    served.call(
        "session_checkpoint",
        state={"goal": "remember everything"},
        covered_event_id=covered["event_id"],
        session_id=covered["session_id"],
    )
    resumed = served.call("session_resume", token_budget=BUDGET, target_model="gpt-4o")
    assert resumed["token_count"] <= BUDGET
    assert "remember everything" in resumed["context"]
    target = next(r for r in receipts.values() if r["memory_ids"])
    corrected = served.call(
        "memory_correct", memory_id=target["memory_ids"][0], content="It was otherwise.", reason="r"
    )
    assert corrected["invalidated_checkpoints"] == 1
    assert "It was otherwise." in served.recalled("it was otherwise")
    gone = served.call("memory_forget", record_id=target["event_id"])
    assert corrected["correction_event_id"] in gone["deleted_event_ids"]
    assert "It was otherwise." not in served.recalled("it was otherwise")

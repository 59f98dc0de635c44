"""The demonstration that the README offers, with a conversation of one's own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.peer import ROOT

GOOD = '{"role": "user", "text": "I moved to Lyon in spring."}'
ANSWER = '{"role": "assistant", "text": "ok", "occurred_at": "2026-01-01T00:00:00Z"}'


def demonstrate(path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "benchmarks.demo", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


LONG = json.dumps({"role": "user", "text": "I like long words and " * 2_000})


@pytest.mark.parametrize("lines", [[GOOD], [GOOD, ANSWER], [ANSWER], [LONG]], ids=range(4))
def test_a_conversation_of_one_or_two_messages_is_replayed_to_its_end(tmp_path, lines):
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(lines) + "\n")
    done = demonstrate(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "ends with 1" not in done.stdout
    assert "The server left with exit code 0." in done.stdout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read"),
        ("\n", "holds no message"),
        (f"{GOOD}\nx\n", "line 2 is not"),
        ('["text"]', "line 1 is not"),
        ('{"role": "user"}', "line 1 is not"),
        ('{"role": "king", "text": "I rule."}', "role must be one of"),
    ],
)
def test_what_is_no_conversation_is_refused_in_a_sentence(tmp_path, text, sentence):
    path = tmp_path / "own.jsonl"
    if text is not None:
        path.write_text(text)
    done = demonstrate(path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert sentence in done.stderr

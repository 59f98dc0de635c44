"""``python -m benchmarks.diary``: record the diary, ask its questions, write ``transcript.md``.

A spawned server on its defaults gets each line as ``memory_record`` and each question as
``memory_recall`` with nothing but the question and the project.  Right is an answer whose shown
text holds the fact; what else it shows must come from the same project.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.demo.host import Host
from memrpc.archive.tokens import encoding

HERE = Path(__file__).parent
TRANSCRIPT = HERE / "transcript.md"
DEADLINE_S = 60.0
MOST_TOKENS = 2_000
LEAST_RIGHT = 45


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the diary."""

    at: str
    project: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what the shown text must hold: all of the facts, in any of a spelling."""

    project: str
    text: str
    facts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer as its reader sees it."""

    question: Question
    answer: dict[str, Any]
    tokens: int
    wrong_projects: int

    @property
    def shown(self) -> list[dict[str, Any]]:
        found = [*self.answer["memories"], *self.answer["raw"]]
        return sorted(found, key=lambda each: -each["score"])

    @property
    def is_right(self) -> bool:
        text = "\n".join(map(text_of, self.shown))
        return all(any(each in text for each in fact) for fact in self.question.facts)


def main() -> int:
    outcomes = run()
    TRANSCRIPT.write_text(transcript(outcomes), encoding="utf-8")
    right = sum(each.is_right for each in outcomes)
    wrong_projects = sum(each.wrong_projects for each in outcomes)
    most = max(each.tokens for each in outcomes)
    print(f"right: {right} of {len(outcomes)} (at least {LEAST_RIGHT})")
    print(f"matches of another project: {wrong_projects} (none)")
    print(f"largest answer: {most} o200k tokens (at most {MOST_TOKENS})")
    for each in outcomes:
        if not each.is_right:
            print(f"  not found: {each.question.project}: {each.question.text}")
    return 0 if right >= LEAST_RIGHT and not wrong_projects and most <= MOST_TOKENS else 1


def run() -> list[Outcome]:
    """Tell a new server the diary and ask it everything."""
    with tempfile.TemporaryDirectory(prefix="memrpc-diary-") as folder:
        host = Host(Path(folder) / "memory.db")
        try:
            projects = dict(record(host, entries()))
            for project in set(projects.values()):
                _await_vectors(host, project)
            return [ask(host, question, projects) for question in questions()]
        finally:
            host.leave()


def entries() -> list[Entry]:
    return [Entry(*fields) for fields in _fields("diary.txt")]


def questions() -> list[Question]:
    return [
        Question(project, text, tuple(tuple(fact.split("/")) for fact in facts.split("; ")))
        for project, text, facts in _fields("questions.txt")
    ]


def _fields(name: str) -> Iterator[list[str]]:
    """The records of a file: fields between bars, lines that begin with spaces going on."""
    for line in (HERE / name).read_text(encoding="utf-8").replace("\n   ", "\v   ").split("\n"):
        if line and not line.startswith("#"):
            yield [field.strip().replace("\v", "\n") for field in line.split(" | ", 3)]


def record(host: Host, diary: list[Entry]) -> Iterator[tuple[str, str]]:
    """Record each entry; yields its id and its project."""
    for number, entry in enumerate(diary, 1):
        event_id = f"diary-{number:03}"
        host.call(
            "memory_record",
            event_id=event_id,
            text=entry.text,
            role=entry.speaker,
            source=entry.speaker,
            occurred_at=entry.at.replace(" ", "T") + ":00Z",
            session_id=f"{entry.project}-{entry.at[:10]}",
            project_id=entry.project,
        )
        yield event_id, entry.project


def _await_vectors(host: Host, project: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while True:
        answer = host.call("memory_recall", query="x", search_mode="deep", project_id=project)
        if not answer["coverage"]["pending_vectors"]:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"no vectors after {DEADLINE_S:.0f} s")
        time.sleep(0.1)


def ask(host: Host, question: Question, projects: dict[str, str]) -> Outcome:
    """Ask as a host does that knows no option; the tokens are those of the text it is given."""
    given = {"query": question.text, "project_id": question.project}
    result = host.request("tools/call", {"name": "memory_recall", "arguments": given})
    answer = result["structuredContent"]
    found = [*answer["memories"], *answer["raw"]]
    wrong = [each for each in found if projects[each["event_id"]] != question.project]
    return Outcome(question, answer, tokens(result["content"][0]["text"]), len(wrong))


def tokens(text: str) -> int:
    return len(encoding("o200k_base").encode_ordinary(text))


def text_of(found: dict[str, Any]) -> str:
    """What a match shows: a memory with the text around it, or an excerpt."""
    if "content" not in found:
        return str(found["excerpt"])
    return str(found.get("context", found["content"]))


def transcript(outcomes: list[Outcome]) -> str:
    """What was asked and shown, for reading; nothing in it depends on the run."""
    right = sum(each.is_right for each in outcomes)
    head = (
        "# The diary, asked\n\n"
        "Written by `python -m benchmarks.diary`; do not edit. Sixty days of one person in three\n"
        "projects (`diary.txt`), fifty questions (`questions.txt`), a spawned server, default\n"
        "arguments. What a fact was found in comes first in the order of the answer.\n\n"
        f"**{right} of {len(outcomes)}** answers show the fact; "
        f"{sum(each.wrong_projects for each in outcomes)} matches come from another project.\n"
    )
    return head + "".join(map(_passage, outcomes))


def _passage(outcome: Outcome) -> str:
    asked = outcome.question
    wanted = "; ".join("/".join(fact) for fact in asked.facts)
    verdict = "shown" if outcome.is_right else "NOT SHOWN"
    lines = [f"\n## {asked.project}: {asked.text}\n", f"Wanted: {wanted} ({verdict})\n"]
    for place, each in enumerate(outcome.shown, 1):
        text = text_of(each).replace("\n", " ")
        lines.append(f"{place}. {each['occurred_at'][:10]}, {each['source']}: {text}")
    if not outcome.shown:
        lines.append(f"Nothing: {outcome.answer['reason']}.")
    lines += [f"\n> {warning}" for warning in outcome.answer["warnings"]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())

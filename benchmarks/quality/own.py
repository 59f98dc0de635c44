"""The generated sets through the product's own tools: changes, contradictions, the unknown, scopes.

Each set is a project of one spawned server.  Marks are shares of the questions; the curve of
abstention is drawn through ``memrpc.recall``, whose floor no tool can set.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from benchmarks.demo.host import Host
from memrpc.recall.choosing import Choice, embedders
from memrpc.recall.model import DEFAULT_FLOOR, Kind, SearchRequest
from memrpc.recall.search import search

from . import own_sets
from .own_sets import Change, Fact

MODES = ("fast", "semantic", "deep")
FLOORS = (0.0, 0.1, 0.15, DEFAULT_FLOOR, 0.25, 0.3, 0.4)
BEFORE, SAID, BETWEEN, CHANGED = (f"2026-0{month}-01T00:00:00Z" for month in (1, 2, 3, 4))
DEADLINE_S = 120.0


@dataclass(frozen=True, slots=True)
class Mark:
    """One line of the table; what must hold, or None where it is only told."""

    name: str
    share: float
    count: int
    least: float | None = None

    @property
    def holds(self) -> bool:
        return self.least is None or self.share >= self.least


def report() -> bool:
    """Print every mark and the curve; whether all that must hold does."""
    print("\n## Own sets, generated (through the tools of a spawned server)\n")
    with serving() as host:
        marks = list(all_marks(host))
        points = list(curve(host.database))
    for mark in marks:
        wanted = "" if mark.least is None else f"  (at least {mark.least:.2f})"
        print(f"  {mark.name:58}{mark.count:>5}{mark.share:8.3f}{wanted}")
    print("\n  floor   unknown answered with nothing   recall@5 of known")
    for floor, nothing, recall in points:
        default = "  <- the default" if floor == DEFAULT_FLOOR else ""
        print(f"  {floor:5.2f}   {nothing:29.2f}   {recall:17.3f}{default}")
    return all(mark.holds for mark in marks)


def all_marks(host: Host) -> Iterator[Mark]:
    yield from corrected(host)
    yield from stated(host)
    yield from contradicted(host)
    yield from knowing(host)
    yield from elsewhere(host)
    yield from found(host, "CJK and Thai", "east", own_sets.east())
    yield from found(host, "identifiers and paths", "names", own_sets.identifiers())


@contextmanager
def serving() -> Iterator[Host]:
    with tempfile.TemporaryDirectory(prefix="memrpc-own-") as folder:
        host = Host(Path(folder) / "own.db")
        try:
            yield host
        finally:
            host.leave()


def record(host: Host, project: str, fact: Fact, text: str = "", at: str = SAID) -> dict:
    return host.call(
        "memory_record",
        event_id=f"{project}/{fact.id}",
        text=text or fact.text,
        role="user",
        source="user",
        occurred_at=at,
        project_id=project,
    )


def settle(host: Host, project: str) -> None:
    """Wait until every text can be found by its meaning."""
    deadline = time.monotonic() + DEADLINE_S
    while host.call("memory_recall", query="x", search_mode="deep", project_id=project)["coverage"][
        "pending_vectors"
    ]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"no vectors in {project} after {DEADLINE_S:.0f} s")
        time.sleep(0.1)


def shown(host: Host, project: str, query: str, **more: object) -> list[dict]:
    """What a recall shows, best first; a memory's event is what it is known by."""
    answer = host.call("memory_recall", query=query, project_id=project, **more)
    found = [*answer["memories"], *answer["raw"]]
    return sorted(found, key=lambda each: -each["score"])


def ids(matches: Iterable[dict]) -> list[str]:
    return [each["event_id"].partition("/")[2] for each in matches]


def corrected(host: Host) -> Iterator[Mark]:
    """By memory_correct: the old one before the change, the new one alone from then on."""
    changes = own_sets.changes()
    for change in changes:
        (memory_id,) = record(host, "corrected", change.old)["memory_ids"][:1]
        host.call(
            "memory_correct",
            memory_id=memory_id,
            content=change.new.text,
            reason="it changed",
            valid_at=CHANGED,
            project_id="corrected",
        )
    settle(host, "corrected")
    yield from _fresh(host, "corrected", changes, lambda change: change.new.text, is_alone=True)


def stated(host: Host) -> Iterator[Mark]:
    """By a statement that says so: the new one first, the old one after it with a warning."""
    changes = own_sets.changes()
    for change in changes:
        record(host, "stated", change.old)
        record(host, "stated", change.new, change.stated, CHANGED)
    settle(host, "stated")
    yield from _fresh(host, "stated", changes, lambda change: change.stated, is_alone=False)


def _fresh(
    host: Host,
    project: str,
    changes: list[Change],
    new_text: Callable[[Change], str],
    *,
    is_alone: bool,
) -> Iterator[Mark]:
    for mode in MODES:
        for label, at, is_new in (
            ("before the change", {"as_of": BETWEEN}, False),
            ("at the change", {"as_of": CHANGED}, True),
            ("now", {}, True),
        ):
            right = 0
            for change in changes:
                found = shown(host, project, change.old.question, search_mode=mode, **at)
                texts = [_text(each) for each in found]
                wanted, other = change.old.text, new_text(change)
                if is_new:
                    wanted, other = other, wanted
                right += _is_told_first(wanted, other, texts, must_hide=is_alone or not is_new)
            name = f"{project} {label}, {mode}"
            yield Mark(name, right / len(changes), len(changes), 1.0)
    right = 0
    for change in changes:
        context = host.call(
            "session_resume", query=change.old.question, token_budget=20_000, project_id=project
        )["context"]
        right += _is_told_first(new_text(change), change.old.text, [context], must_hide=is_alone)
    yield Mark(f"{project}, resumed", right / len(changes), len(changes), 1.0)


def _text(match: dict) -> str:
    return match.get("content", match.get("excerpt", ""))


def _is_told_first(wanted: str, other: str, texts: list[str], *, must_hide: bool) -> bool:
    told = "\n".join(texts)
    if wanted not in told:
        return False
    place = told.find(other)
    return place < 0 or (not must_hide and told.find(wanted) < place)


def contradicted(host: Host) -> Iterator[Mark]:
    """Without a word that says so: both shown, newer first, both dated, with a warning."""
    changes = own_sets.changes()
    for change in changes:
        record(host, "contrary", change.old)
        record(host, "contrary", change.new, at=CHANGED)
    settle(host, "contrary")
    for mode in MODES:
        right = 0
        for change in changes:
            answer = host.call(
                "memory_recall",
                query=change.old.question,
                search_mode=mode,
                project_id="contrary",
            )
            told = sorted([*answer["memories"], *answer["raw"]], key=lambda each: -each["score"])
            pair = [each for each in told if _text(each) in (change.old.text, change.new.text)]
            order = [(_text(each), each["occurred_at"]) for each in pair]
            is_right = order == [(change.new.text, CHANGED), (change.old.text, SAID)]
            names = [each.get("memory_id", each["event_id"]) for each in pair]
            right += is_right and any(
                all(name in warning for name in names) for warning in answer["warnings"]
            )
        yield Mark(f"contradictions, {mode}", right / len(changes), len(changes), 1.0)


def knowing(host: Host) -> Iterator[Mark]:
    """What is known is found; what is not is answered with nothing."""
    facts, unknown = own_sets.facts(), own_sets.unknown()
    for fact in facts:
        record(host, "known", fact)
    settle(host, "known")
    right = [fact.id in ids(shown(host, "known", fact.question))[:5] for fact in facts]
    nothing = [not shown(host, "known", question) for question in unknown]
    falsely = [
        "contradict" in warning
        for fact in facts
        for warning in host.call("memory_recall", query=fact.question, project_id="known")[
            "warnings"
        ]
    ]
    yield Mark("known questions, recall@5", sum(right) / len(facts), len(facts))
    yield Mark("unknown questions, nothing", sum(nothing) / len(unknown), len(unknown), 0.8)
    yield Mark(
        "known questions without a false warning", 1 - sum(falsely) / len(facts), len(facts), 1.0
    )


def elsewhere(host: Host) -> Iterator[Mark]:
    """The same words in another project: none of them is shown in this one."""
    facts = own_sets.facts(60)
    for fact in facts[::2]:
        record(host, "here", fact)
    for fact in facts:
        record(host, "there", fact)
    settle(host, "here")
    right = 0
    for fact in facts:
        for mode in MODES:
            found = shown(host, "here", fact.question, search_mode=mode)
            right += all(each["event_id"].startswith("here/") for each in found)
    count = len(facts) * len(MODES)
    yield Mark("nothing of another project", right / count, count, 1.0)


def found(host: Host, name: str, project: str, facts: Iterable[Fact]) -> Iterator[Mark]:
    listed = list(facts)
    for fact in listed:
        record(host, project, fact)
    settle(host, project)
    ranks = [ids(shown(host, project, fact.question)) for fact in listed]
    for depth in (1, 5):
        right = [fact.id in rank[:depth] for fact, rank in zip(listed, ranks, strict=True)]
        yield Mark(f"{name}, recall@{depth}", sum(right) / len(listed), len(listed))


def curve(database: Path) -> Iterator[tuple[float, float, float]]:
    """By floor: the share of unknown questions answered with nothing, and recall@5 of the known.

    Asked of the file that the server made, by what the tool itself asks.
    """
    known, unknown = own_sets.facts(), own_sets.unknown()
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    understood = embedders(Choice())
    scope = db.execute("SELECT scope FROM scopes WHERE project_id = 'known'").get
    names = dict(
        db.execute("SELECT seq, event_id FROM events WHERE scope = ?", (scope,)).fetchall()
    )

    def first_five(question: str, floor: float) -> list[str]:
        meaning = understood.at_once(question)
        request = SearchRequest(
            question, scope, (Kind.EVENT,), limit=5, floor=floor, meaning=meaning
        )
        return [names[hit.subject].partition("/")[2] for hit in search(db, request).hits]

    understood.builtin.query("")
    for floor in FLOORS:
        nothing = sum(not first_five(question, floor) for question in unknown)
        right = sum(fact.id in first_five(fact.question, floor) for fact in known)
        yield floor, nothing / len(unknown), right / len(known)
    db.close()

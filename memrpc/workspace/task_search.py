"""Searching tasks: filters and the window first, then words; a named issue comes before words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store.where import compose
from memrpc.workspace import (
    asking,
    graph,
    indexing,
    rules,
    scope,
    searching,
    task_reading,
    tasks,
    windows,
)
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.model import Confidence, Kind
from memrpc.workspace.searching import NO_AIDS, Aids, Mark, Place
from memrpc.workspace.task_reading import OF_REPO, SELECT, TaskFilter, TaskList, TaskRow

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo, Task
    from memrpc.workspace.windows import Window

_ISSUE_PRIOR: Final = 5.0
_MONTH_US: Final = 30 * 86_400_000_000


def search(
    db: apsw.Connection,
    repo: Repo,
    query: str,
    chosen: TaskFilter,
    *,
    now: int,
    aids: Aids = NO_AIDS,
) -> TaskList:
    """Find tasks that answer a question; without words the newest that pass the filters."""
    text, window = windows.extract(query.strip(), now)
    wanted = () if chosen.statuses else asking.statuses(text)
    if wanted:
        chosen = chosen.with_statuses(wanted)
    if wanted and window is None:
        return task_reading.listing(db, repo, chosen)
    if window is not None and (wanted or asking.is_for_all_tasks(text)):
        text = ""
    text = asking.of_tasks(text)
    conditions = chosen.conditions(window)
    within = _selected(db, repo, conditions) if conditions or not text else None
    named = frozenset(tasks.issues_in(query)) | _spoken_issues(query)
    if not text:
        newest = sorted(within or (), reverse=True)
        return _found(db, _Seen(repo, "", window), newest, chosen)
    place = Place(indexing.scope_of(repo.key), within)
    issue_keys = _of_issues(db, repo, named, within)

    def priors(keys: Collection[int]) -> dict[int, float]:
        born = tasks.births(db, keys)
        return {key: _prior(now - at, is_named=key in issue_keys) for key, at in born.items()}

    result = searching.ranked(db, text, Kind.TASK, [place], priors, aids)
    linked = [key for key in issue_keys if key not in result.subjects]
    subjects = [*(key for key in result.subjects if key in issue_keys), *linked]
    subjects += [key for key in result.subjects if key not in issue_keys]
    seen = _Seen(repo, text, window, frozenset(issue_keys), is_filtered=within is not None)
    if not subjects:
        return _empty(db, seen, result.reason)
    return _found(db, seen, subjects, chosen)


def about_first(
    db: apsw.Connection,
    repo: Repo,
    query: str,
    chosen: TaskFilter,
    *,
    now: int,
    aids: Aids = NO_AIDS,
) -> tuple[tuple[Task, ...], int]:
    """Return a list's tasks, of more than it takes first what the query is about, and its total."""
    listed = task_reading.listing(db, repo, chosen)
    rows = list(listed.rows)
    if listed.total > chosen.limit and query.strip():
        found = search(db, repo, query, chosen, now=now, aids=aids).rows
        rows[:0] = [row for row in found if row.mark and row.mark.confidence is not Confidence.LOW]
    return tuple({row.task.key: row.task for row in rows}.values())[: chosen.limit], listed.total


def _selected(db: apsw.Connection, repo: Repo, conditions: dict[str, dict[str, Any]]) -> set[int]:
    values: dict[str, Any] = {"repo": repo.key}
    for bound in conditions.values():
        values |= bound
    rows: list[Any] = db.execute(compose(SELECT, [OF_REPO, *conditions]), values).fetchall()
    return {key for (key,) in rows}


def _of_issues(
    db: apsw.Connection, repo: Repo, issues: Collection[int], within: set[int] | None
) -> list[int]:
    """Return the tasks that name one of the issues that the question names, newest first."""
    found = {
        key for issue in issues for key in _selected(db, repo, TaskFilter(issue=issue).conditions())
    }
    return sorted(found if within is None else found & within, reverse=True)


def _spoken_issues(query: str) -> frozenset[int]:
    words = query.casefold().split()
    pairs = itertools.pairwise(words)
    return frozenset(
        int(number)
        for word, number in pairs
        if word == "issue" and number.isdecimal() and len(number) <= rules.MAX_ISSUE_DIGITS
    )


def _prior(age_us: int, *, is_named: bool) -> float:
    recency = math.exp2(-max(0, age_us) / _MONTH_US)
    return 0.2 * recency + (_ISSUE_PRIOR if is_named else 0.0)


class _Seen(NamedTuple):
    """A question as it was understood; ``named`` are the tasks of an issue that it names."""

    repo: Repo
    text: str
    window: Window | None
    named: frozenset[int] = frozenset()
    is_filtered: bool = False


def _found(db: apsw.Connection, seen: _Seen, subjects: list[int], chosen: TaskFilter) -> TaskList:
    keys = subjects[chosen.offset : chosen.offset + chosen.limit]
    known, issues = tasks.by_keys(db, keys), tasks.issues(db, keys)
    marks = _marks(db, seen, keys)
    counts = tasks.comment_counts(db, keys)
    rows = tuple(
        TaskRow(
            task=known[key],
            comments=counts.get(key, 0),
            mark=marks.get(key),
            issues=tuple(issues.get(key, ())),
            matched="issue" if key in seen.named or chosen.issue is not None else "text",
        )
        for key in keys
    )
    around = graph.around(db, Kind.TASK, keys)
    reason = None if subjects else searching.OUTSIDE_FILTERS
    tallies = tasks.tallies(db, seen.repo)
    return TaskList(rows, len(subjects), tallies, around, seen.window, reason)


def _marks(db: apsw.Connection, seen: _Seen, keys: list[int]) -> dict[int, Mark]:
    """Say how sure each hit is; a task that names the issue asked for is what was asked for."""
    if not seen.text:
        return {}
    by_words = [key for key in keys if key not in seen.named]
    sure = dict.fromkeys(seen.named, Mark(1.0, searching.confidence_of(1.0)))
    marks = searching.marks(db, seen.text, Kind.TASK, by_words)
    return sure | dict(zip(by_words, marks, strict=True))


def _empty(db: apsw.Connection, seen: _Seen, reason: str | None) -> TaskList:
    """Say why nothing was found: an empty scope, the filters, or that nothing is known."""
    tallies = tasks.tallies(db, seen.repo)
    if not tallies:
        reason = searching.SCOPE_EMPTY
    elif seen.is_filtered and _is_known(db, seen):
        reason = searching.OUTSIDE_WINDOW if seen.window else searching.OUTSIDE_FILTERS
    near = tuple(scope.near(db, seen.repo))
    return TaskList((), 0, tallies, Subgraph(), seen.window, reason, near)


def _is_known(db: apsw.Connection, seen: _Seen) -> bool:
    """Say whether the words alone, without filters, would find something."""
    place = Place(indexing.scope_of(seen.repo.key))
    found = searching.ranked(
        db, seen.text, Kind.TASK, [place], lambda keys: dict.fromkeys(keys, 0.0)
    )
    return bool(found.subjects)

"""Summaries: what a repository is, in the signals of whoever summarised it last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memrpc.store import json_column
from memrpc.store.errors import InvalidArguments
from memrpc.workspace import actions, rules, topics
from memrpc.workspace.actions import Change
from memrpc.workspace.model import Kind, Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from memrpc.workspace.model import Act, Repo

_FIND: Final = "SELECT signals, agent, updated_at FROM summaries WHERE repo = :repo"
_SAVE: Final = """
INSERT INTO summaries (repo, signals, agent, updated_at) VALUES (:repo, :signals, :agent, :now)
ON CONFLICT (repo) DO UPDATE SET signals = excluded.signals, agent = excluded.agent,
  updated_at = excluded.updated_at
"""


def find(db: apsw.Connection, repo: Repo) -> Summary | None:
    """Return the repository's summary, if it has one."""
    row: Any = db.execute(_FIND, {"repo": repo.key}).get
    if row is None:
        return None
    signals, agent, updated_at = row
    return Summary(json_column.decode_list(signals), agent, updated_at)


def write(db: apsw.Connection, repo: Repo, signals: Sequence[str], act: Act) -> Summary:
    """Put a summary in place of the one before, which stays in the action log."""
    lines = [" ".join(signal.splitlines()) for signal in signals]
    kept = rules.check_list(lines, "signals", rules.SIGNAL_CHARS)
    if not kept:
        raise InvalidArguments(
            "signals needs at least one text of 1 to 200 characters.", field="signals"
        )
    before = find(db, repo)
    values = {
        "repo": repo.key,
        "signals": json_column.encode(kept),
        "agent": act.agent,
        "now": act.now,
    }
    db.execute(_SAVE, values).fetchall()
    after = Summary(kept, act.agent, act.now)
    shown = None if before is None else actions.snapshot(before)
    subject = f"summary-{repo.key}"
    change = Change("summarize", Kind.SUMMARY, subject, None, shown, actions.snapshot(after))
    actions.log(db, repo, act, change)
    topics.note(db, repo, (topics.SUMMARY,), now=act.now)
    return after

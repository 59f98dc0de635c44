"""Codes: short handles such as MEM-007, counted per repository and kind and never given twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memrpc.workspace.model import Kind

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo

PREFIXES: Final = {Kind.ENTRY: "MEM", Kind.TASK: "TASK", Kind.STANDARD: "STD"}
_NUMBERED: Final = re.compile(r"([A-Z]+)-(\d{1,9})")
_NEXT: Final = {
    Kind.ENTRY: """
UPDATE repos SET entry_codes = entry_codes + 1 WHERE repo = :repo RETURNING entry_codes""",
    Kind.TASK: """
UPDATE repos SET task_codes = task_codes + 1 WHERE repo = :repo RETURNING task_codes""",
    Kind.STANDARD: """
UPDATE repos SET standard_codes = standard_codes + 1 WHERE repo = :repo RETURNING standard_codes""",
}
_RAISE: Final = {
    Kind.ENTRY: "UPDATE repos SET entry_codes = max(entry_codes, :number) WHERE repo = :repo",
    Kind.TASK: "UPDATE repos SET task_codes = max(task_codes, :number) WHERE repo = :repo",
    Kind.STANDARD: """
UPDATE repos SET standard_codes = max(standard_codes, :number) WHERE repo = :repo""",
}


def take(db: apsw.Connection, repo: Repo, kind: Kind) -> str:
    """Give out the repository's next code of this kind."""
    number: int = db.execute(_NEXT[kind], {"repo": repo.key}).get
    return f"{PREFIXES[kind]}-{number:03}"


def reserve(db: apsw.Connection, repo: Repo, kind: Kind, code: str) -> None:
    """Count on from a chosen code, if it is a numbered one."""
    numbered = _NUMBERED.fullmatch(code)
    if numbered and numbered[1] == PREFIXES[kind]:
        db.execute(_RAISE[kind], {"repo": repo.key, "number": int(numbered[2])}).fetchall()

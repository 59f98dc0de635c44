"""What a run has to do, by comparing the files that are there with those that are indexed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memrpc.codebase import languages
from memrpc.codebase.parsing import Content, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memrpc.codebase.discovery import Candidate
    from memrpc.codebase.parsing import Stamp
    from memrpc.codebase.staging import Known


@dataclass(slots=True)
class Plan:
    """What discovery and the known files leave to do.

    ``renamable`` has the paths of the vanished files by what they held, ``stamps`` what discovery
    saw, which is older than what is read.
    """

    tasks: list[Task] = field(default_factory=list)
    unchanged: int = 0
    vanished: dict[str, Known] = field(default_factory=dict)
    renamable: dict[Content, list[str]] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)


def plan(
    candidates: list[Candidate],
    known: Mapping[str, Known],
    *,
    force: bool,
    is_wanted: Callable[[str], bool],
) -> Plan:
    """Compare stamps: a file is unread only when its size and both its times are as they were.

    What is parsed anew by ``force`` is so under a new name too.
    """
    made = Plan()
    for path, language, stamp in candidates:
        made.stamps[path] = stamp
        old = known.get(path)
        if old is not None and not force and _is_same(old, stamp):
            made.unchanged += 1
        else:
            made.tasks.append(Task(path, language, old.digest if old and not force else b""))
    made.vanished = {p: k for p, k in known.items() if p not in made.stamps and is_wanted(p)}
    renamable = {} if force else made.vanished
    for path, old in renamable.items():
        held = Content(languages.of_path(path), old.digest)
        made.renamable.setdefault(held, []).append(path)
    made.tasks.sort(key=lambda task: -made.stamps[task.path].size)
    return made


def _is_same(old: Known, stamp: Stamp) -> bool:
    return (old.size, old.mtime_ns, old.ctime_ns) == stamp

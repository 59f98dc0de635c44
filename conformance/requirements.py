"""What the protocol asks of a server on stdio: one row a MUST or SHOULD."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.transcripts import REVISIONS

FILE: Final = Path(__file__).parent / "requirements.json"


@dataclass(frozen=True, slots=True)
class Requirement:
    """``removed_in`` is the first revision without it; ``source`` its page in the last with it."""

    id: str
    source: str
    sentence: str
    level: str
    added_in: str
    removed_in: str | None

    def lives_in(self, revision: str) -> bool:
        is_gone = self.removed_in is not None and revision >= self.removed_in
        return revision >= self.added_in and not is_gone

    @property
    def revisions(self) -> tuple[str, ...]:
        return tuple(revision for revision in REVISIONS if self.lives_in(revision))


def load_requirements(file: Path = FILE) -> list[Requirement]:
    return [Requirement(**row) for row in json.loads(file.read_text())]

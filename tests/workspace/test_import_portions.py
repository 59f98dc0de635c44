"""An import of the workspace that is taken in portions, or broken off between two."""

from __future__ import annotations

import json
import random

import pytest

from memrpc.store import transfer
from memrpc.workspace import importing
from tests.workspace.test_transfer import (
    SUBJECTS,
    counted,
    elsewhere,
    empty,
    export,
    full,
    index_of,
    load,
    rebuilt,
)

__all__ = ["empty", "full"]


@pytest.fixture(autouse=True)
def portions_of_one_line(monkeypatch):
    monkeypatch.setattr(transfer, "PORTION_LINES", 1)


def shuffled(lines: list[str], seed: int) -> list[str]:
    """The lines with the subjects in another order, so that some name what comes later."""
    head, *others = lines
    subjects = [line for line in others if json.loads(line)["type"] in SUBJECTS]
    random.Random(seed).shuffle(subjects)
    return [head, *subjects, *(line for line in others if line not in subjects)]


@pytest.mark.parametrize("seed", range(5))
def test_portions_may_name_what_comes_later(full, empty, seed):
    lines = export(full)
    load(empty, shuffled(lines, seed))
    assert sorted(export(empty)) == sorted(lines)
    assert index_of(empty) == rebuilt(empty)


@pytest.mark.parametrize("seed", range(5))
def test_an_import_that_was_stopped_half_way_is_completed_by_repeating_it(full, seed):
    lines = shuffled(export(full), seed)
    for taken in range(0, len(lines), 3):
        here = elsewhere()
        running = transfer.Import((importing.reader(here.act()),))
        with here.db:
            for portion in list(transfer.portions(lines))[:taken]:
                running.take(here.db, portion)
        load(here, lines)
        assert sorted(export(here)) == sorted(export(full))
        assert index_of(here) == rebuilt(here)
        assert counted(load(here, lines))[0] == 0


def test_what_is_deleted_between_two_portions_stays_away(full, empty):
    lines = export(full)
    running = transfer.Import((importing.reader(empty.act()),), skip_bad=True)
    with empty.db:
        for portion in transfer.portions(lines):
            running.take(empty.db, portion)
            empty.db.execute("DELETE FROM standards WHERE parent IS NOT NULL").fetchall()
        assert running.finish(empty.db).bad == ()
    assert empty.db.execute("SELECT count(*) FROM standards").get == 1

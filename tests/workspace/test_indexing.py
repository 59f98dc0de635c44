"""What is written anew when a subject changes: all that the index says of it, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memrpc.workspace import indexing
from memrpc.workspace.model import Entry, EntryStatus, EntryType, Standard

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY = Entry(
    *(1, "id", 2, "MEM-001", EntryType.DECISION, "title", "content", 3, "ann", "role", "model"),
    *(None, None, None, 10, 10, None, 0, 0, 0, None, None, None, None, EntryStatus.ACTIVE),
    *(False, ("tag",), {}),
)
STANDARD = Standard(
    *(1, "id", 2, "STD-001", "title", "content", None, "context", "1.0.0", None, ("stack",)),
    *(False, ("tag",), {}, "ann", "model", 10, 10),
)
CASES = [
    *((ENTRY, name, indexing.read_of_entry, indexing.entry_document) for name in Entry._fields),
    *(
        (STANDARD, name, indexing.read_of_standard, indexing.standard_document)
        for name in Standard._fields
    ),
]
FIXED = {"key", "repo", "created_at"}
"""What no change of a subject touches."""


def other(value: object) -> object:
    match value:
        case EntryStatus():
            return EntryStatus.ARCHIVED
        case bool():
            return not value
        case int():
            return value + 1
        case tuple():
            return (*value, "more")
        case dict():
            return {"more": 1}
        case _:
            return f"{value} more"


@pytest.mark.parametrize(("subject", "name", "read", "document"), CASES)
def test_what_stands_in_the_index_is_written_anew_when_it_changes(
    subject: Entry | Standard, name: str, read: Callable, document: Callable
):
    changed = subject._replace(**{name: other(getattr(subject, name))})
    if name not in FIXED and document(changed) != document(subject):
        assert read(changed) != read(subject)


@pytest.mark.parametrize("subject", [ENTRY, STANDARD])
def test_what_nothing_reads_is_not_written_anew(subject: Entry | Standard):
    read = indexing.read_of_entry if subject is ENTRY else indexing.read_of_standard
    assert read(subject._replace(model="other", metadata={"more": 1})) == read(subject)

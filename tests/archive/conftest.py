"""The archive's fixtures."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest

from tests.archive.scenes import Archive
from tests.memory_file import open_database


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    connection = open_database()
    yield connection
    connection.close()


@pytest.fixture
def archive(db: apsw.Connection) -> Archive:
    return Archive(db)

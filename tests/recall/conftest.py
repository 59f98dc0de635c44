from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest

from memrpc.store.migrate import migrate


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    migrate(connection)
    yield connection
    connection.close()

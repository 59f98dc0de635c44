"""An export of one scope, whatever its persona and its project are called."""

from __future__ import annotations

import json

import pytest

from memrpc.app import Application
from memrpc.archive import recording
from memrpc.archive.model import Role, Scope
from memrpc.archive.recording import RecordInput
from memrpc.settings import load
from tests.cli.test_verbs import run

SCOPES = (Scope("team/ann", "harbor"), Scope("team", "acme/harbor"), Scope("solo"))


@pytest.fixture
def told(tmp_path):
    """A database with one event in each of the scopes, whose id is the scope's name."""
    path = tmp_path / "memory.db"
    application = Application(load({"db": str(path)}))
    for scope in SCOPES:
        entry = RecordInput(
            f"{scope.persona_id}/{scope.project_id}", "It opens.", Role.USER, "Ann", scope=scope
        )
        application.database.write_blocking(lambda db, e=entry: recording.record(db, e, now=1))
    application.close()
    return path


@pytest.mark.parametrize("named", ["team/ann/harbor", "team/acme/harbor", "solo/default", "solo"])
def test_a_scope_is_exported_under_the_name_that_a_refusal_lists(told, named):
    exported = run(told, "export", "--scope", named)
    ids = [json.loads(line).get("event_id", "") for line in exported.stdout.splitlines()[1:]]
    assert ids == [named if "/" in named else f"{named}/default"]

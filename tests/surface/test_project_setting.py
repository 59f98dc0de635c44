"""The setting ``project`` decides which project a call means that names none."""

from __future__ import annotations

import subprocess

import pytest

from memrpc.server import schema_files


def said(served, **more) -> str:
    return served.record("The roof is tiled.", **more)["scope"]["project_id"]


def test_without_the_setting_it_is_default(served):
    assert said(served) == "default"


def test_a_name_is_the_default_and_an_argument_still_wins(serve):
    served = serve("--project", "house")
    assert (said(served), said(served, project_id="garden")) == ("house", "garden")
    listed = served.peer.ask("tools/list")["result"]["tools"]
    defaults = {t["inputSchema"]["properties"]["project_id"]["default"] for t in listed}
    assert defaults == {"house"}


def test_repo_is_the_owner_and_name_of_the_git_origin(serve, tmp_path):
    checkout = tmp_path / "checkout"
    subprocess.run(["git", "init", "-q", str(checkout)], check=True)
    origin = "https://github.com/acme/widgets.git"
    subprocess.run(["git", "-C", str(checkout), "remote", "add", "origin", origin], check=True)
    served = serve("--project", "repo", env={"CLAUDE_PROJECT_DIR": str(checkout)})
    assert said(served) == "acme/widgets"
    assert "roof" in served.recalled("roof", project_id="acme/widgets")
    params = {"name": "start_session", "arguments": {}}
    (message,) = served.peer.ask("prompts/get", params)["result"]["messages"]
    assert "project_id acme/widgets" in message["content"]["text"]


@pytest.mark.parametrize("name", schema_files.names("tools", "archive"))
def test_every_archive_tool_names_its_scope(name):
    properties = schema_files.read("tools", "archive", f"{name}.json")["$defs"]["input"][
        "properties"
    ]
    assert properties["persona_id"]["default"] == properties["project_id"]["default"] == "default"

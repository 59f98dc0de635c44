"""Each configuration of the page of hosts, as a host would read it, starts the server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGES = [Path(__file__).parents[2] / name for name in ("README.md", "docs/hosts.md")]
PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def configurations() -> list[dict]:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    written = re.findall(r"```json\n(.*?)```", text, re.DOTALL) + re.findall(
        r"`({\"\w*(?:mcp|servers).*?})`", text
    )
    tables = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    return [json.loads(each) for each in written] + [tomllib.loads(each) for each in tables]


def command_of(configuration: dict) -> list[str]:
    (servers,) = configuration.values()
    server = servers["memrpc"]
    command = server["command"]
    return command if isinstance(command, list) else [command, *server["args"]]


@pytest.mark.parametrize("configuration", configurations(), ids=lambda each: next(iter(each)))
def test_a_configuration_names_a_command_that_serves(configuration, tmp_path):
    name, *words = command_of(configuration)
    assert name == "memrpc"
    command = [sys.executable, "-m", name, *words, "--db", str(tmp_path / "memory.db")]
    done = subprocess.run(command, input=PING, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["result"]) == (0, {})


def test_every_host_has_its_configuration():
    assert len(configurations()) == 15

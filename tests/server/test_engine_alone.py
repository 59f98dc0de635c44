"""The engine serves with no memory code installed at all."""

from __future__ import annotations

import shutil
import sys

from tests.peer import ROOT, Peer

ENGINE = ("wire", "protocol", "server")


def test_the_engine_serves_both_eras_without_memory_code(tmp_path):
    package = tmp_path / "memrpc"
    package.mkdir()
    shutil.copy(ROOT / "memrpc" / "__init__.py", package)
    for part in ENGINE:
        shutil.copytree(ROOT / "memrpc" / part, package / part)
    shutil.copytree(ROOT / "schemas" / "protocol", tmp_path / "schemas" / "protocol")
    shutil.copytree(ROOT / "conformance" / "fixture", tmp_path / "conformance" / "fixture")
    (tmp_path / "conformance" / "__init__.py").touch()
    # -I keeps the checkout off the path, so what was not copied cannot be imported.
    start = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; import runpy; "
    run = "runpy.run_module('conformance.fixture', run_name='__main__')"
    with Peer((sys.executable, "-I", "-c", start + PROOF + run), cwd=tmp_path) as peer:
        peer.handshake()
        assert peer.ask("tools/list")["result"]["tools"]
        answer = peer.ask("tools/call", {"name": "test_simple_text"})["result"]
        assert answer["isError"] is False
        peer.prove_alive()
        code, _ = peer.end()
        assert code == 0


PROOF = (
    "import memrpc; from pathlib import Path; "
    "assert Path(memrpc.__file__).is_relative_to(sys.path[0]); "
)

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from memrpc.codebase import holders

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc elsewhere")


@pytest.fixture
def child():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def test_a_process_that_lives_is_not_gone(child):
    assert not holders.is_gone(holders.name(os.getpid()))
    assert not holders.is_gone(holders.name(child.pid))


def test_a_process_that_has_ended_is_gone_even_before_its_parent_looks(child):
    name = holders.name(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert holders.is_gone(name)
    child.wait()
    assert holders.is_gone(name)


def test_a_number_that_was_given_out_again_is_another_process(child):
    name = holders.name(child.pid)
    assert holders.is_gone(name.rpartition(" ")[0] + " 1")


@pytest.mark.parametrize("place", [0, 1])
def test_nothing_is_known_of_another_machine_boot_or_container(child, place):
    words = holders.name(child.pid).split(" ")
    child.kill()
    child.wait()
    words[place] = f"x{words[place]}"
    assert not holders.is_gone(" ".join(words))


@pytest.mark.parametrize("name", ["", "4242-ab12cd34", "other"])
def test_a_holder_without_such_a_name_is_left_to_its_lease(name):
    assert not holders.is_gone(name)


def test_where_there_is_no_proc_a_process_has_no_name_and_nobody_is_gone(
    child, tmp_path, monkeypatch
):
    name = holders.name(child.pid)
    child.kill()
    child.wait()
    monkeypatch.setattr(holders, "_BOOT", tmp_path / "none")
    assert holders.name(os.getpid()) == ""
    assert not holders.is_gone(name)

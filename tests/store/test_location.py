"""Where the database lies, for every way of writing it and every odd environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from memrpc.store import location
from memrpc.store.errors import Unusable


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home of ü"
    home.mkdir()
    return home


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/x/m.db", "/x/m.db"),
        ("m.db", "{base}/m.db"),
        ("sub/m.db", "{base}/sub/m.db"),
        ("~/m.db", "{home}/m.db"),
        ("~", "{home}"),
        ("${HOME}/m.db", "{home}/m.db"),
        ("$PLACE/m.db", "/a b/ü/m.db"),
        ("${PLACE}${PLACE}", "/a b/ü/a b/ü"),
        ("~somebody/m.db", "{base}/~somebody/m.db"),
        ("m$$.db", "{base}/m$$.db"),
    ],
)
def test_b58_path_as_people_write_it(tmp_path: Path, home: Path, written: str, expected: str):
    environment = {"HOME": str(home), "PLACE": "/a b/ü"}
    found = location.resolve(written, base=tmp_path, environment=environment)
    assert found == Path(expected.format(base=tmp_path, home=home))


@pytest.mark.parametrize("written", ["$NOWHERE/m.db", "${NOWHERE}/m.db"])
def test_b58_unset_variable_is_named(tmp_path: Path, written: str):
    with pytest.raises(Unusable, match="NOWHERE"):
        location.resolve(written, base=tmp_path, environment={})


@pytest.mark.parametrize("written", [":memory:", "file:m.db?mode=memory", "m\0.db"])
def test_what_sqlite_takes_for_no_file_is_refused(tmp_path: Path, written: str):
    with pytest.raises(Unusable, match="the database is a file"):
        location.resolve(written, base=tmp_path, environment={})


def test_a_relative_path_needs_the_folder_that_it_starts_at(tmp_path: Path):
    whole = tmp_path / "m.db"
    assert location.resolve(str(whole), base=None, environment={}) == whole
    with pytest.raises(Unusable, match=r"sub/m\.db would start is gone"):
        location.resolve("sub/m.db", base=None, environment={})


def test_a_home_that_may_not_be_looked_at_is_none(tmp_path: Path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(Unusable, match="cannot be one"):
        location.home({"HOME": str(loop / "ann")})


def test_b58_empty_path_is_refused(tmp_path: Path):
    with pytest.raises(Unusable, match="empty"):
        location.resolve(" ", base=tmp_path, environment={})


@pytest.mark.parametrize("value", [None, "", "/", "//", "/nonexistent"])
@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_b57_home_that_is_none_is_never_written_to(value: str | None, system: str):
    environment = {} if value is None else {"HOME": value}
    with pytest.raises(Unusable, match="--db"):
        location.default(environment, system=system)


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {}, "{home}/.local/share/memrpc/memory.db"),
        ("linux", {"XDG_DATA_HOME": "/data/a b/ü"}, "/data/a b/ü/memrpc/memory.db"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "{home}/.local/share/memrpc/memory.db"),
        ("darwin", {}, "{home}/Library/Application Support/memrpc/memory.db"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/memrpc/memory.db"),
        ("win32", {}, "{home}/.local/share/memrpc/memory.db"),
    ],
)
def test_b57_default_place(home: Path, system: str, variables: dict[str, str], expected: str):
    found = location.default({"HOME": str(home)} | variables, system=system)
    assert found == Path(expected.format(home=home))


def test_b57_xdg_needs_no_home():
    found = location.default({"XDG_DATA_HOME": "/data"}, system="linux")
    assert found == Path("/data/memrpc/memory.db")

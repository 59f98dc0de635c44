"""export: write what is remembered as JSON Lines, with ids, provenance and windows as they are."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING

from memrpc.cli.terminal import progress, spare_databases, whole
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse

    import apsw

    from memrpc.archive.model import Scope
    from memrpc.workspace.model import Repo


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="where to; default: standard output")
    parser.add_argument("--since", help="only what is new or changed since (ISO 8601 with a zone)")
    parser.add_argument("--scope", metavar="PERSONA/PROJECT", help="only this scope of the archive")
    parser.add_argument("--repo", metavar="OWNER/NAME", help="only this repository's workspace")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from pathlib import Path

    from memrpc.archive import statistics as archived
    from memrpc.cli.opening import opened
    from memrpc.workspace import statistics as noted

    if parsed.file != "-":
        spare_databases(Path(parsed.file), settings.database_path())
    with opened(settings) as application:

        def write(db: apsw.Connection) -> None:
            held, kept = archived.count(db), noted.count(db)
            total = held.events + kept.entries + kept.tasks + kept.standards
            _write(parsed.file, progress(_lines(db, parsed), total, "export"))

        application.database.read_blocking(write)
    return 0


def _lines(db: apsw.Connection, parsed: argparse.Namespace) -> Iterable[str]:
    """The archive and then the workspace; naming a part of one leaves out the other."""
    from memrpc.archive import exporting, times
    from memrpc.store import transfer
    from memrpc.workspace import exporting as workspace

    # An empty value, as of a variable that is not set, is a wrong one and not "everything".
    since = None if parsed.since is None else times.parse(parsed.since, "since")
    scope = None if parsed.scope is None else _scope(db, parsed.scope)
    repo = None if parsed.repo is None else _repo(db, parsed.repo)
    archived = exporting.export_lines(db, since=since, scope=scope)
    noted = workspace.export_lines(db, since=since, repo=repo)
    return chain(
        [transfer.header()],
        archived if scope or not repo else (),
        noted if repo or not scope else (),
    )


def _scope(db: apsw.Connection, text: str) -> Scope:
    from memrpc.archive import scopes
    from memrpc.archive.model import Scope
    from memrpc.store.errors import NotFound

    names = text.split("/")  # Either name may hold a slash itself; a project often does.
    cuts = [("/".join(names[:at]), "/".join(names[at:])) for at in range(1, len(names) + 1)]
    possible = [Scope(persona_id, project_id or "default") for persona_id, project_id in cuts]
    found = next((scope for scope in possible if scopes.find(db, scope) is not None), None)
    if found is None:
        named = [f"{p}/{each}" for p in scopes.personas(db) for each in scopes.projects(db, p)]
        raise NotFound(f"There is no scope {text!r}; there are {', '.join(named) or 'none'}.")
    return found


def _repo(db: apsw.Connection, text: str) -> Repo:
    from memrpc.store.errors import NotFound
    from memrpc.workspace import scope

    owner, name = scope.split(None, text)
    found = scope.find(db, owner or "", name or "")
    if not found.key:
        known = ", ".join(scope.full_name(each) for each in scope.everything(db)) or "none"
        raise NotFound(f"There is no repository {text!r}; there are {known}.")
    return found


def _write(file: str, lines: Iterable[str]) -> None:
    """Write the whole export or leave what was there: it may be the last one that is good."""
    if file == "-":
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    import os
    from pathlib import Path

    path = Path(file)
    is_special = path.exists() and not path.is_file()  # as /dev/stdout
    if path.is_symlink() and not is_special:
        path = path.resolve()
    with nullcontext(path) if is_special else whole(path) as part:
        # Only its owner may read it, from the first byte on.
        descriptor = os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as output:
            output.writelines(f"{line}\n" for line in lines)

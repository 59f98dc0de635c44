"""doctor: say what memrpc would use here, and what stands in its way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.cli.terminal import show, show_json
from memrpc.settings import Settings
from memrpc.store.errors import DomainError, Unusable

if TYPE_CHECKING:
    import argparse

    import apsw


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    is_ok: bool
    finding: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """0 if all is well, 3 if the database cannot be used, 1 if something else cannot."""
    from memrpc.surface.shapes import to_json

    checks = [_checked(name, look, settings) for name, look in CHECKS]
    if parsed.json:
        show_json(to_json(checks))
    else:
        show("\n".join(f"{'ok ' if c.is_ok else 'BAD'} {c.name:12} {c.finding}" for c in checks))
    bad = {check.name for check in checks if not check.is_ok}
    return 3 if bad & {"sqlite", "database"} else int(bool(bad))


def _checked(name: str, look: Callable[[Settings], str], settings: Settings) -> Check:
    try:
        return Check(name, is_ok=True, finding=look(settings))
    except DomainError as error:
        return Check(name, is_ok=False, finding=error.message)
    except (OSError, ValueError) as error:
        return Check(name, is_ok=False, finding=str(error))


def _program(_: Settings) -> str:
    from memrpc import __version__

    return f"memrpc {__version__} on Python {sys.version.split()[0]}, {sys.platform}"


def _sqlite(_: Settings) -> str:
    import apsw

    if "ENABLE_FTS5" not in apsw.compile_options:
        raise Unusable("This SQLite has no full text (FTS5); reinstall the apsw wheel.")
    return f"SQLite {apsw.sqlite_lib_version()} with full text"


def _settings(settings: Settings) -> str:
    set_here = {n: s for n, s in settings.values.items() if s.origin != "default"}
    shown = ", ".join(f"{name}={s.value} ({s.origin})" for name, s in set_here.items())
    return shown or "all at their defaults"


def _database(settings: Settings) -> str:
    from memrpc.archive import statistics as archive
    from memrpc.cli.opening import is_missing, opened
    from memrpc.workspace import statistics as workspace

    path = settings.database_path()
    origin = ", made just now" if is_missing(path) else ""
    with opened(settings, makes=True) as application:
        archived = application.database.read_blocking(archive.count)
        noted = application.database.read_blocking(workspace.count)
        problem = application.database.read_blocking(_integrity)
        is_fixed = application.database.write_blocking(lambda db: db.readonly("main"))
    if problem != "ok":
        raise Unusable(f"{path} is damaged ({problem}); restore a backup of it.", path=str(path))
    if is_fixed:
        raise Unusable(f"{path} is read-only: make it writable for this user.", path=str(path))
    held = f"{archived.events} events, {noted.entries} entries, {noted.tasks} tasks"
    return f"{path}, {held}, integrity ok{origin}"


def _embedder(settings: Settings) -> str:
    from memrpc.app import Application
    from memrpc.recall.meaning import Embedders

    embedders: Embedders = Application(settings).embedders
    if embedders.builtin is None:
        return "none: recall finds words alone"
    embedders.builtin.query("")
    found = f"{embedders.builtin.model.id} works ({embedders.builtin.model.dimension} dimensions)"
    if embedders.configured is not None:
        import anyio

        asked = anyio.run(embedders.configured.query, "memrpc doctor")
        found += f", {embedders.configured.id} answers ({len(asked)} dimensions)"
    return found


def _extractor(settings: Settings) -> str:
    from memrpc.app import Application
    from memrpc.archive.model import Method

    method = Method(settings["extractor"])
    if method is not Method.LLM:
        return method.value
    if not settings["extractor_url"]:
        raise Unusable("The extractor llm asks nobody: set extractor_url and extractor_model.")
    import anyio

    ask = Application(settings).models[method]
    anyio.run(ask, "This is a test of the connection.", "Answer with one word.")
    return f"{settings['extractor_model'] or settings['extractor_url']} answers"


def _integrity(db: apsw.Connection) -> str:
    return str(db.pragma("quick_check"))


CHECKS: Final[tuple[tuple[str, Callable[[Settings], str]], ...]] = (
    ("program", _program),
    ("sqlite", _sqlite),
    ("settings", _settings),
    ("database", _database),
    ("extractor", _extractor),
    ("embedder", _embedder),
)

"""persona: show, edit or import the core text of a persona, which no tool can change."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memrpc.cli.terminal import edit, keep, show, show_json
from memrpc.settings import Settings
from memrpc.store.errors import Conflict, DomainError, InvalidArguments

if TYPE_CHECKING:
    import argparse

    import apsw

    from memrpc.archive.persona import Persona


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    shown = actions.add_parser("show", help="print it")
    edited = actions.add_parser("edit", help="open it in $EDITOR, one item a line")
    imported = actions.add_parser("import", help="replace it by a file's lines")
    imported.add_argument("file", help="a text file, one item a line; - for standard input")
    shown.add_argument("--json", action="store_true", help="as JSON")
    for action in (shown, edited, imported):
        action.add_argument("--persona", default="default", help="which one; default: default")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.app import now_us
    from memrpc.archive import persona
    from memrpc.cli.opening import opened

    with opened(settings, makes=parsed.action != "show") as application:
        database = application.database
        core = database.read_blocking(lambda db: persona.current(db, parsed.persona))
        if parsed.action == "show":
            _show(core, as_json=parsed.json)
            return 0
        is_edited = parsed.action == "edit"
        text = edit(core.text) if is_edited else _read(parsed.file)

        def replace(db: apsw.Connection) -> Persona:
            if is_edited and persona.current(db, parsed.persona).version != core.version:
                raise Conflict("Somebody else has changed the persona meanwhile.")
            return persona.replace(db, parsed.persona, _items(text), now=now_us())

        try:
            core = database.write_blocking(replace)
        except DomainError as error:
            if is_edited:
                error.message += f" What you wrote is in {keep(text)}: mend it, and import it."
            raise
    show(f"persona {core.persona_id} is now version {core.version}, {len(core.items)} items")
    return 0


def _show(core: Persona, *, as_json: bool) -> None:
    if as_json:
        from memrpc.surface.shapes import to_json

        show_json(to_json(core))
    else:
        show(core.text or f"persona {core.persona_id} has no core yet")


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    from pathlib import Path

    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidArguments(f"{file} is not text in UTF-8.", field="file") from None


def _items(text: str) -> Sequence[str]:
    """The lines that say something; some editors begin a file with a byte order mark."""
    lines = text.removeprefix("\ufeff").splitlines()
    return [line.strip() for line in lines if line.strip()]

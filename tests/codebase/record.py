"""Write the transcripts of the code index's tools anew: ``python -m tests.codebase.record``.

They index ``tests/codebase/sample``.  What differs from run to run and from place to place becomes
a pattern.  Read the difference before you commit it: a transcript is a promise.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.workspace import record

FOLDER = Path(__file__).with_name("transcripts")
SAMPLE = "tests/codebase/sample"
ANYTHING = {"durationMs": "number", "root": "string", "id": "number", "usedGit": "boolean"}
VOLATILE = re.compile(rf"{record.TIME.pattern}|\b\d+ms\b|/\S*{SAMPLE}")
INDEX = ("codebase-index", {"repoPath": SAMPLE})

CONVERSATIONS: dict[str, list[tuple[str, dict]]] = {
    "codebase-index": [
        ("codebase-index", {}),
        INDEX,
        ("codebase-index", {"repoPath": SAMPLE, "force": True, "includeGlobs": ["*.py"]}),
        ("codebase-index", {}),
        ("codebase-index", {"repoPath": "tests/codebase/nowhere"}),
        ("codebase-index", {"repoPath": SAMPLE, "json": True}),
        ("codebase-index", {"json": True}),
    ],
    "codebase-read": [
        ("codebase-read", {"name": "Cart"}),
        INDEX,
        ("codebase-read", {"name": "price_of"}),
        ("codebase-read", {"name": "clear"}),
        ("codebase-read", {"name": "Cart.clear"}),
        ("codebase-read", {"query": "price"}),
        ("codebase-read", {"query": "kind:class cart"}),
        ("codebase-read", {"query": "zzzzz"}),
        ("codebase-read", {"content": "everything"}),
        ("codebase-read", {"content": r"def \w+\(self", "regex": True, "limit": 1}),
        ("codebase-read", {"content": "(", "regex": True}),
        ("codebase-read", {"filePath": "shop/cart.py"}),
        ("codebase-read", {"filePath": "../secret"}),
        ("codebase-read", {"depth": 1}),
        ("codebase-read", {"name": "missing"}),
        ("codebase-read", {"name": "price_of", "json": True}),
        ("codebase-read", {"name": "clear", "json": True}),
        ("codebase-read", {"query": "price", "json": True}),
        ("codebase-read", {"content": "everything", "json": True}),
        ("codebase-read", {"filePath": "shop/cart.py", "json": True}),
        ("codebase-read", {"depth": 1, "json": True}),
    ],
}


def pattern(value: Any, name: str = "") -> Any:
    """The value with what differs from run to run replaced."""
    if name in ANYTHING and not isinstance(value, dict):
        return {"$any": ANYTHING[name]}
    if isinstance(value, dict):
        return {key: pattern(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [pattern(item) for item in value]
    if isinstance(value, str) and VOLATILE.search(value):
        return {"$matches": "^" + ".+".join(map(re.escape, VOLATILE.split(value))) + "$"}
    return value


def expected(result: dict) -> dict:
    shown = {key: result[key] for key in ("isError", "resultType") if key in result}
    if "structuredContent" in result:
        shown["structuredContent"] = pattern(result["structuredContent"])
    first = result["content"][0]["text"].splitlines()[0]
    if first.startswith('{"mode"'):
        first = first.partition(",")[0]  # The whole of it is held to the schema of its mode.
    text = {"$matches": "^" + ".+".join(map(re.escape, VOLATILE.split(first)))}
    return {**shown, "content": [{"type": "text", "text": text}]}


if __name__ == "__main__":
    record.write_transcripts(FOLDER, CONVERSATIONS, expected)

"""Parsers and queries, loaded when a language is first met.

Only parsing processes import this: a grammar is native code that may crash or never return.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from memrpc.codebase import languages

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

    from memrpc.codebase.languages import Language

_MATCHES_AT_ONCE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Grammar:
    """What parses a language and what is looked for in the tree."""

    parser: Parser
    query: Query

    def matches(self, root: Node) -> list[tuple[int, dict[str, list[Node]]]]:
        """Each pattern's matches, in the order of the source."""
        from tree_sitter import QueryCursor

        return QueryCursor(self.query, match_limit=_MATCHES_AT_ONCE).matches(root)


@lru_cache(maxsize=64)
def load(language: Language) -> Grammar:
    """The grammar of a language that has one."""
    import tree_sitter

    if language.grammar is None:
        raise ValueError(f"{language.name} has no grammar")
    package, function = language.grammar
    grammar = tree_sitter.Language(getattr(import_module(package), function)())
    files = (languages.QUERIES / f"{name}.scm" for name in (language.query, *language.also))
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return Grammar(tree_sitter.Parser(grammar), tree_sitter.Query(grammar, text))

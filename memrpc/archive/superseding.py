"""Superseding: a statement that says itself what it puts an end to.

"Actually, we now use Exa instead of Jina for web search" names the old value.  It ends a statement
of which nothing is left that the new one does not speak of as well; so it ends "we use Jina for
web search", and not "we use Jina for reranking".  "I no longer eat meat" ends every statement of
which it is the beginning.  Who might, would or plans to change has not changed yet.

Reading words is no proof, so nothing is closed by it in the store (the verbatim extractor never
supersedes): an answer tells the newer first and warns, see ``contradictions``.
"""

from __future__ import annotations

import re
from typing import Final

from memrpc.archive import assertions
from memrpc.archive.assertions import FILLERS, FIRST_PERSON, MAX_CHARS, stems_of, tokens, words_of
from memrpc.recall.query import COMMON_WORDS

_INSTEAD: Final = re.compile(
    r"""\b(?:instead\sof|in\splace\sof|rather\sthan|and\snot|no\slonger|not)\s
      | ,\snot\s
      | \b(?:from|replac(?:es|ed))\s
      | 而不是 | 不再是 | [，,]不是 | 代替了? | 取代了? | 替换了? | 从 | ではなく | から
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHANGE: Final = re.compile(
    r"""\b(?:switch|mov|migrat|chang|convert|upgrad|downgrad|renam|shift)\w*\s.*\bfrom\s.*\b(?:to|into)\b
      | \bfrom\s.*\b(?:switched|moved|migrated|changed|went)\b.*\bto\b
      | \b(?:instead\sof|in\splace\sof|rather\sthan|replac(?:es|ed))\s
      | \b(?:,\s|and\s)not\s | ,\s(?:not|no\slonger)\s | \bnot\s.*\b(?:any\s?more|any\slonger)\b
      | 而不是 | 不再是 | [，,]不是 | 代替 | 取代 | 替换 | 从.*(?:换成|改为|改成|改用|切换|迁移|搬)
      | ではなく | から.*(?:変え|変わ|変更|乗り換え|移行|切り替え|引っ越)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_REPLACED: Final = re.compile(
    r"(?P<old>.+?)\s(?:is|are|was|were|has\sbeen|have\sbeen|got)\s(?:now\s)?(?:replaced|superseded)\s"
    r"(?:by|with)\s",
    re.IGNORECASE,
)
_SIGNS: Final = words_of(
    "from onger nstead lace ather not n't n\u2019t perseded 不 代 取 替 从 もう ではなく から"
)
"""One of them stands in whatever names an end, and is found sooner."""
_ENDED: Final = re.compile(
    r"(?:\bno\slonger|(?:\bnot|n['\u2019]t)\b.*\b(?:any\s?more|any\slonger))\b"
    r"|不再|もう.*(?:ない|ません)",
    re.IGNORECASE,
)
_NOT_YET: Final = re.compile(
    r"""\b(?:might|may|could|would|should|will|if|unless|maybe|perhaps|consider\w*|plan\w*|want\w*
      |propos\w*|thinking|wish\w*|hop\w+|going\sto|intend\w*|almost|\w+['\u2019]ll|never)\b
      | 如果|可能|也许|打算|计划|考虑|没有|不会|应该|かも|たい|つもり|もし|予定
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE_END: Final = re.compile(r"[,;:\u2014，；：]\s*|\.\s*$|。")
_GENERIC: Final = stems_of("""
    use have run live work go take be do move switch change migrate make get keep
""") | frozenset("我们用是在了住的私はをにでがを使うっている")
_SMALL: Final = COMMON_WORDS | FILLERS | stems_of(" ".join(COMMON_WORDS))


def names_an_end(statement: str) -> bool:
    """Say whether the statement says that something is so no more, and what."""
    if len(statement) > MAX_CHARS or not any(sign in statement for sign in _SIGNS):
        return False
    forms = (_CHANGE.search, _ENDED.search, _REPLACED.match)
    return any(form(statement) for form in forms) and not _NOT_YET.search(statement)


def ends(new: str, old: str) -> bool:
    """Say whether ``new``, which names an end, names that of ``old``."""
    if len(old) > MAX_CHARS or _ENDED.search(old) or not _is_of_the_same(new, old):
        return False
    if _ENDED.search(new) and _is_denied(new, old):
        return True
    is_change = _CHANGE.search(new) or _REPLACED.match(new)
    return bool(is_change) and not assertions.tells_a_tale(old) and _is_replaced(new, old)


def names(new: str, value: frozenset[str]) -> bool:
    """Say whether the statement names this value, and nothing else, as the replaced one."""
    named = (assertions.value_of(list(tokens(each))[: len(value)]) for each in _named(new))
    return value in named


def _is_of_the_same(new: str, old: str) -> bool:
    """Say whether both may speak of the same persons: a "she" is said again."""
    said, before = set(tokens(new)), set(tokens(old))
    if not _THIRD.isdisjoint(before - said):
        return False
    is_impersonal = bool(_IMPERSONAL.search(new))
    return is_impersonal or _speaks_of_self(new) or not _speaks_of_self(old)


_THIRD: Final = words_of("he she they his her their it its you your 他 她 它 你")
_IMPERSONAL: Final = re.compile(r"\breplac(?:es|ed)\b", re.IGNORECASE)


def _speaks_of_self(text: str) -> bool:
    return not FIRST_PERSON.isdisjoint(tokens(text)) or "我" in text


def _is_replaced(new: str, old: str) -> bool:
    """Say whether ``new`` names a part of ``old`` as replaced, and speaks of all the rest."""
    said, rest = set(tokens(new)), list(tokens(old))
    return any(
        _is_spoken_of(rest[:start] + rest[end:], said)
        for named in _named(new)
        for start, end in [_place(rest, list(tokens(named)))]
        if end > start and any(word not in _SMALL | _GENERIC for word in rest[start:end])
    )


def _named(new: str) -> list[str]:
    """Return what stands where a statement names the old value."""
    after = [new[match.end() :] for match in _INSTEAD.finditer(new)]
    passive = _REPLACED.match(new)
    return after + ([passive["old"]] if passive else [])


def _place(text: list[str], words: list[str]) -> tuple[int, int]:
    """Return where the longest beginning of ``words`` stands in ``text``, articles aside."""
    while words and words[0] in ("the", "a", "an", "my", "our"):
        words = words[1:]
    for length in range(len(words), 0, -1):
        for start in range(len(text) - length + 1):
            if text[start : start + length] == words[:length]:
                return start, start + length
    return 0, 0


def _is_spoken_of(rest: list[str], said: set[str]) -> bool:
    """Say whether each word that tells something is among those that were said."""
    return all(word in said or word in _SMALL or word in _GENERIC for word in rest)


def _is_denied(new: str, old: str) -> bool:
    """Say whether a clause of ``new``, its denial aside, is how ``old`` begins."""
    words = [word for word in tokens(old) if word not in FILLERS]
    for clause in _CLAUSE_END.split(new):
        if _ENDED.search(clause):
            denied = [word for word in tokens(_bare(clause)) if word not in FILLERS | _DENIALS]
            if len(denied) > 1 and words[: len(denied)] == denied:
                return True
    return False


_DENIALS: Final = words_of("no not longer more any do don doesn does don't t 不 再")


def _bare(clause: str) -> str:
    return re.sub(r"(?i)\bno\slonger\b|\bany\s?more\b|\bany\slonger\b|不再", " ", clause)

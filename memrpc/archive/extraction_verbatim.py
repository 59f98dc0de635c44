"""The verbatim extractor: statements in the event's own words, nothing added and nothing merged.

The text is cut into statements at line ends and at the marks that end a sentence; fenced code is
left out.  Kept is what asserts something: no questions, greetings or bare acknowledgements, and
nothing shorter than two words.  A script without spaces or full stops (Thai, for one) keeps its
line whole.  Content and quote are the statement, so both occur in the event's text as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memrpc.archive import rules, stated_dates
from memrpc.archive.model import Category, MemoryKind, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memrpc.archive.model import Event

VERSION: Final = "verbatim:1"

_FENCE: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
# A line that goes on in small letters is the same sentence, wrapped.
_LINE_END: Final = re.compile(r"\r?\n(?![a-zß-öø-ÿ])")
_SENTENCE_END: Final = re.compile(
    r"""(?<![.!?…])[.!?…]+["'”\u2019»)\]]*(?=\s)  # marks, whatever they close, and a space
      | [。\uff01\uff1f｡]+[」』”\u2019\uff09]*         # East Asian marks need no space
    """,
    re.VERBOSE,
)
_LAST_WORD: Final = re.compile(r"([\w.]+)\.$")
_ABBREVIATION_LIST: Final = """
    mr mrs ms dr prof sr jr st vs etc e.g i.e eg ie cf no nr vol pp fig approx inc ltd co corp dept
    est z.b d.h u.a bzw ca evtl ggf usw str tel abs bspw hr fr vgl m mme mlle p.ex env av bd
"""
_ABBREVIATIONS: Final = frozenset(_ABBREVIATION_LIST.split())
_ORDINAL_AHEAD: Final = re.compile(
    r"\s+(?:[a-zß-öø-ÿ]|(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez))"
)
_ORDINAL: Final = re.compile(r"(?:^|\s)\d{1,2}\.$")
_MARKER: Final = re.compile(r"^(?:(?:[-*+•\u2013>]|\d{1,3}[.)]|#{1,6}|\[[ xX]\])\s+|>)+")
_CLOSERS: Final = " \t\n\r\"'”\u2019»)]*_」』\uff09\ufe0f"
_QUESTION: Final = re.compile(
    r"""[?\uff1f؟;]$
      | (?:です|ます|でしょう|ません|ました)か。?$ | [吗嗎]。?$ | 까\.?$
      | (?:ไหม|มั้ย|หรือเปล่า|หรือไม่|หรือยัง)(?:ครับ|คะ|ค่ะ)?$
    """,
    re.VERBOSE,
)
_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*")
_DENSE: Final = re.compile(r"[ก-๿຀-໿က-႟ក-៿぀-ヿ㐀-䶿一-鿿가-힣]")
_DENSE_MINIMUM: Final = 3
_WORDS_MINIMUM: Final = 2
_PLEASANTRY: Final = re.compile(
    r"""(?:way\sto\sgo|go\sfor\sit|look\sat\s(?:this|that|it)|sorry\sto\shear\s(?:that|it)|well\sdone
        |good\s(?:luck|job|point)|congratulations|congrats|no\sway|take\scare|(?:me|you)\stoo
        |hi|hello|hey|hiya|howdy|greetings|good\s(?:morning|afternoon|evening|night|day)
        |hallo|servus|moin|guten\s(?:morgen|tag|abend)|bonjour|bonsoir|salut|coucou
        |hola|buen[oa]s\s(?:días|tardes|noches)|ciao|buongiorno|olá|привет|здравствуйте
        |bye|goodbye|see\syou|tschüss|au\srevoir|adiós)(?:\s\w+)?""",
    re.VERBOSE,
)
_SMALL_TALK_LIST: Final = """
    ok okay k yes yeah yep no nope thanks thank thx you very much so great good cool nice sure got
    it sounds perfect right alright all fine please wow haha lol awesome welcome you're agreed done
    understood exactly absolutely of course problem worries that's that is amazing well see i
    ja nein danke schön gut genau klar alles super bitte vielen dank in ordnung
    oui non merci beaucoup d'accord bien sûr parfait sí gracias vale claro muchas perfecto
"""
_SMALL_TALK: Final = frozenset(_SMALL_TALK_LIST.split())
_DENSE_SMALL_TALK: Final = re.compile(
    r"""(?:你好|您好|大家好|早上好|晚上好|谢谢|謝謝|好的|没问题|沒問題|不客气|明白了|知道了|收到
        |こんにちは|こんばんは|おはよう|ございます|ありがとう|はい|いいえ|わかりました|了解です|了解しました
        |よろしくお願いします|สวัสดี|ขอบคุณ|ครับ|ค่ะ|คะ|โอเค|ได้เลย
        |안녕하세요|감사합니다|고맙습니다|네|알겠습니다|您|你|了|啊|吧|[\W_])+""",
    re.VERBOSE,
)
_ADDRESSEE: Final = re.compile(r",\s+[^\W\d_]+[.!\s]*$")
_NOT_WORDS: Final = re.compile(r"[^\w'\u2019]+")
_SPACE: Final = re.compile(r"\s")


def extract(event: Event) -> list[Statement]:
    """Draw the event's statements, in order, at most as many as one extraction may have."""
    kept = dict.fromkeys(filter(asserts, statements(event.text)))
    return [_statement(text, event) for text in list(kept)[: rules.MAX_STATEMENTS]]


def statements(text: str) -> Iterator[str]:
    """Cut ``text`` into statements, each a substring of it; fenced code is left out."""
    start = 0
    for fence in _FENCE.finditer(text):
        yield from _of_block(text[start : fence.start()])
        start = fence.end()
    yield from _of_block(text[start:])


def asserts(statement: str) -> bool:
    """Say whether the statement could be remembered as true of something."""
    if _QUESTION.search(statement.rstrip(_CLOSERS)):
        return False
    dense = len(_DENSE.findall(statement))
    words = _WORD.findall(_DENSE.sub(" ", statement))
    if dense:
        is_long_enough = dense + len(words) >= _DENSE_MINIMUM
        return is_long_enough and not _DENSE_SMALL_TALK.fullmatch(statement)
    unaddressed = _ADDRESSEE.sub("", statement)
    plain = _NOT_WORDS.sub(" ", unaddressed).strip().casefold().replace("\u2019", "'")
    return (
        len(words) >= _WORDS_MINIMUM
        and not _PLEASANTRY.fullmatch(plain)
        and not _SMALL_TALK.issuperset(plain.split())
    )


def _statement(text: str, event: Event) -> Statement:
    since = stated_dates.holds_from(text, event.occurred_at)
    if event.category is Category.PERSONA:
        kind = MemoryKind.PERSONA
    elif since is None and stated_dates.tells_of_the_past(text, event.occurred_at):
        kind = MemoryKind.EPISODIC
    else:
        kind = MemoryKind.SEMANTIC
    return Statement(kind, text, text, event.occurred_at if since is None else since)


def _of_block(block: str) -> Iterator[str]:
    for line in _LINE_END.split(block):
        for sentence in _sentences(line):
            bare = _MARKER.sub("", sentence.strip()).strip()
            yield from _pieces(bare)


def _sentences(line: str) -> Iterator[str]:
    start = 0
    marks = list(_SENTENCE_END.finditer(line))
    is_listed = bool(marks) and _MARKER.match(line.strip()) is not None
    for mark in marks:
        if _ends_sentence(line, mark, is_listed=is_listed):
            yield line[start : mark.end()]
            start = mark.end()
    yield line[start:]


def _ends_sentence(line: str, mark: re.Match[str], *, is_listed: bool) -> bool:
    """Say whether a full stop is one, and not part of an abbreviation or an ordinal."""
    if mark.group() != ".":
        return True
    before = line[max(0, mark.end() - 30) : mark.end()]
    if _ORDINAL.search(before):
        if _ORDINAL_AHEAD.match(line, mark.end()):
            return False
        if is_listed:
            return 0 <= line.find(" ") < line.rfind(" ", 0, mark.end())
    word = _LAST_WORD.search(before)
    if word is None:
        return True
    name = word[1].casefold()
    is_initial = len(name) == 1 and word[1].isupper()
    return not is_initial and name not in _ABBREVIATIONS


def _pieces(statement: str) -> Iterator[str]:
    """Cut a statement that is longer than a content may be, at spaces where there are any."""
    while len(statement) > rules.MAX_CONTENT_CHARS:
        window = statement[: rules.MAX_CONTENT_CHARS]
        spaces = [space.end() for space in _SPACE.finditer(window)]
        end = spaces[-1] if spaces else rules.MAX_CONTENT_CHARS
        yield statement[:end].strip()
        statement = statement[end:].lstrip()
    if statement:
        yield statement

"""Assertions: what a statement says of which attribute, where that has one value at a time.

Two statements about one attribute with different values cannot both hold.  Most sentences have no
such reading and give none ("I like tea" leaves room for coffee); what is read is

- an attribute and what it *is* ("the staging port is 5433", "my favourite colour is blue"), if the
  noun is known to name a single thing or the value is a number or a name;
- a verb of which somebody has one object at a time ("I live in Lyon"), or has for one purpose
  ("we use Jina for web search");
- a sentence with numbers, of which only the numbers may differ;
- a sentence and its denial ("I eat meat", "I don't eat meat", "I love it", "I hate it").

The attribute is a set of stems, so "the deadline for Orion" and "Orion's deadline" are one.  Told
tales are left out: what was once so may have been otherwise at another time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from memrpc.recall.text import PieceKind, pieces, stemmed

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS: Final = 300
"""Longer sentences say too many things at once."""
MAX_VALUE_TOKENS: Final = 6
_LEAST_FRAME: Final = 3


def words_of(words: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(words.split())


def stems_of(words: str) -> frozenset[str]:
    """Return the stems of such a list."""
    return frozenset(map(stemmed, words.split()))


FIRST_PERSON: Final = words_of("i me my mine myself we us our ours 我 私 僕 俺")
_ARTICLES: Final = words_of("a an the this that its of s to for and 的 の")
FILLERS: Final = stems_of("""
    now currently actually also just still already really well so oh yes today correction update
    instead anymore longer
""") | frozenset("现在今其实已经")
_LEAD: Final = re.compile(
    r"\b(?:from\snow\son|as\sof\s(?:now|today)|turns\sout)\b,?", re.IGNORECASE
)
_COPULAS: Final = stems_of("is are")
_SINGLE: Final = stems_of("""
    live work prefer cost weigh start begin end close open expire listen meet happen leave arrive
    depart last belong report
""")
_VERBS: Final = _SINGLE | stems_of("use run deploy store host keep")
_PLACING: Final = stems_of("store host keep")
_PARTICIPLES: Final = stems_of("""
    lead own maintain host deploy store write build manage run set locate base call name schedule
    pin limit keep serve
""")
_OWNED: Final = re.compile(
    r"(?:\w+,?\s){0,2}(?:my|our|\w+['\u2019]s)\s(?:[\w-]+\s){1,4}(?:is|are)\s(?!so\s|such\s|very\s|like\s|pretty\s)",
    re.IGNORECASE,
)
_PRONOUNS: Final = words_of("i it he she they there you")
_DO: Final = stems_of("do don does doesn am is are isn aren can")
_PREPOSITIONS: Final = words_of("in on at as for from to with by into under via per")
_NOT: Final = words_of("not never no t cannot without 不 没 別 非")
_LIKES: Final = stems_of("like love enjoy adore hate dislike loathe")
_DISLIKES: Final = stems_of("hate dislike loathe")
_NOT_NOW: Final = re.compile(
    r"""\b(?:be|been|being|was|were|did|had|went|ran|saw|got|made|took|came|ate|bought|paid|said|told|won|felt|met
      |would|could|might|if|will|[a-z]+['\u2019]ll
      |(?<!is\s)(?<!are\s)(?!(?:need|speed|feed|seed|exceed|indeed|hundred|embed|red|bed)\b)[a-z]+ed
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ATTRIBUTES: Final = stems_of("""
    name nickname birthday age address email phone number port host hostname url path branch version
    language framework library database editor shell tool owner lead maintainer manager boss doctor
    dentist landlord supplier vendor provider deadline date day time window schedule budget price
    fee rate limit quota timeout size length width height weight capacity threshold default format
    encoding timezone location venue room capital city country currency password code title role job
    status level priority target region zone bucket queue topic theme font licence license model
    brand diet seat gate platform flight hotel colour color favourite favorite major hometown
    username hobby codename protocol interval frequency retention salary rent headquarters
    endpoint contact captain chair coach teacher wifi ssid backend frontend cache broker registry
    domain subnet hash algorithm cipher locale unit scale ratio dose blood type insurance bank
""")
_EAST: Final = re.compile(
    r"(?P<subject>.{1,24}?)(?:现在|目前|今)?(?:(?P<zh>是|住在|叫做|叫|等于|设为)|は)(?:今は|现在)?"
    r"(?P<value>.{1,24}?)(?:です|だ|である|に住んでいます|に住んでいる|了)?[.！!]*"
)
_EAST_CLAUSE: Final = re.compile(r"[，,、。；;：:]\s*")
_EAST_ATTRIBUTES: Final = re.compile(
    r"住|叫|名|端口|颜色|顏色|地址|生日|电话|電話|日期|截止|时间|時間|版本|密码|预算|价格|编号|号|城市|首都|负责人|"
    r"数据库|编辑器|框架|喜欢的|最喜|ポート|色|誕生日|締め切り|締切|住所|場所|好きな|担当|予算|価格|バージョン"
)
_HANZI: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Assertion:
    """An attribute with its value; both are sets of stems."""

    attribute: frozenset[str]
    value: frozenset[str]

    def contradicts(self, other: Assertion) -> bool:
        """Say whether both are about one attribute and neither says the same or more."""
        return self.attribute == other.attribute and not (
            self.value <= other.value or other.value <= self.value
        )

    @property
    def is_first_person(self) -> bool:
        """Whether the attribute is the speaker's, and so another one for each speaker."""
        return "i" in self.attribute


def assertions(statement: str) -> list[Assertion]:
    """Read the statement in every way in which another one could contradict it."""
    if len(statement) > MAX_CHARS:
        return []
    if _HANZI.search(statement):
        return list(_of_east(statement))
    if tells_a_tale(statement):
        return []
    words = [word for word in tokens(_LEAD.sub("", statement)) if word not in FILLERS]
    return [*_of_copula(words, statement), *_of_verb(words), *_of_numbers(words), *_denial(words)]


def tells_a_tale(statement: str) -> bool:
    """Say whether the statement is about what was or may be, and not about what is."""
    return _NOT_NOW.search(statement) is not None


@lru_cache(maxsize=1024)
def tokens(text: str) -> tuple[str, ...]:
    """Return the stems of a text in order; a script without spaces by its characters."""
    found: list[str] = []
    for piece in pieces(text):
        if piece.kind is PieceKind.RUN:
            found += piece.parts[0]
        else:
            found += map(stemmed, piece.parts)
    return tuple(found)


def subject(words: list[str]) -> frozenset[str]:
    """Return a set of stems in which every speaker says "i" of himself."""
    return frozenset(
        "i" if word in FIRST_PERSON else word for word in words if word not in _ARTICLES
    )


def _of_copula(words: list[str], statement: str) -> Iterator[Assertion]:
    place = next((at for at, word in enumerate(words) if word in _COPULAS), 0)
    who = subject(words[:place])
    if who <= _PRONOUNS or _is_denied(words):
        return
    relation, value = _related(words[place + 1 :])
    is_single = (
        bool(who & _ATTRIBUTES) or _is_owned(statement) or _is_number_or_name(statement, value)
    )
    if is_single and value:
        yield Assertion(who | {f"is {relation}"}, value)


def _of_verb(words: list[str]) -> Iterator[Assertion]:
    places = (at for at, word in enumerate(words) if at and word in _VERBS)
    place = next(places, 0)
    who = subject(words[:place])
    if not who or _is_denied(words):
        return
    verb = words[place]
    relation, rest = _led(words[place + 1 :])
    what, purpose = _before_purpose(rest)
    if what and (relation or verb in _SINGLE):
        yield Assertion(who | {f"{verb} {relation}"}, what)
    elif what and purpose and verb in _PLACING:
        yield Assertion(who | what | {verb}, purpose)
    elif what and purpose:
        yield Assertion(who | purpose | {f"{verb} {relation}"}, what)


def _of_numbers(words: list[str]) -> Iterator[Assertion]:
    numbers = frozenset(word for word in words if word.isdecimal())
    frame = subject(["#" if word.isdecimal() else word for word in words])
    if numbers and len(frame) > _LEAST_FRAME and not _is_denied(words):
        yield Assertion(frame, numbers)


def _denial(words: list[str]) -> Iterator[Assertion]:
    is_denied = _is_denied(words) is not bool(_DISLIKES.intersection(words))
    frame = subject(
        ["like" if word in _LIKES else word for word in words if word not in _NOT | _DO]
    )
    if len(frame) >= _LEAST_FRAME:
        yield Assertion(frame, frozenset({str(is_denied)}))


def _is_denied(words: list[str]) -> bool:
    return not _NOT.isdisjoint(words)


def _related(right: list[str]) -> tuple[str, frozenset[str]]:
    """Cut what follows "is" in how it leads to the value ("in", "owned by", "called") and that."""
    if right and right[0] in _PARTICIPLES:
        way, rest = _led(right[1:])
        relation = f"{right[0]} {way}"
    else:
        relation, rest = _led(right)
    return relation, value_of(rest)


def _led(right: list[str]) -> tuple[str, list[str]]:
    """Cut off a preposition at the front."""
    has_one = bool(right) and right[0] in _PREPOSITIONS
    return (right[0], right[1:]) if has_one else ("", right)


def _before_purpose(right: list[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Cut what follows a verb in its object and in what a later preposition adds."""
    end = next((at for at, word in enumerate(right) if word in _PREPOSITIONS), len(right))
    return value_of(right[:end]), subject(right[end + 1 :])


def value_of(words: list[str]) -> frozenset[str]:
    value = subject(words)
    return value if len(value) <= MAX_VALUE_TOKENS else frozenset()


def _is_owned(statement: str) -> bool:
    return _OWNED.match(statement) is not None


def _is_number_or_name(statement: str, value: frozenset[str]) -> bool:
    """Say whether the value holds a figure, or is written like a name wherever it stands."""
    if any(word.isdecimal() for word in value):
        return True
    *_, last = re.findall(r"[^\W_][\w.-]*", statement) or [""]
    return str(last).istitle() or str(last).isupper()


def _of_east(statement: str) -> Iterator[Assertion]:
    clauses = map(_EAST.fullmatch, _EAST_CLAUSE.split(statement.strip()))
    match = next(filter(None, clauses), None)
    if match is None:
        return
    relation = match["zh"] or "は"
    who = subject([word for word in tokens(match["subject"]) if word not in FILLERS])
    value = match["value"].strip()
    names_one = _EAST_ATTRIBUTES.search(match["subject"] + relation)
    is_single = names_one is not None or any(map(str.isdecimal, value))
    if who and is_single and _NOT.isdisjoint(value):
        yield Assertion(who | {f"is {relation}"}, frozenset({value}))

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrpc.archive import extraction_verbatim, rules, times
from memrpc.archive.model import (
    Category,
    Event,
    Extraction,
    ExtractionState,
    MemoryKind,
    Method,
    Role,
    Statement,
)

SAID_AT = times.parse("2026-05-20T10:00:00Z", "occurred_at")  # a Wednesday


def event(text: str, category: Category = Category.CONVERSATION) -> Event:
    return Event(
        seq=1,
        event_id="e",
        scope=1,
        session_id="s",
        role=Role.USER,
        category=category,
        source="user",
        text=text,
        occurred_at=SAID_AT,
        recorded_at=SAID_AT,
        reason=None,
        extraction=Extraction(ExtractionState.PENDING, Method.VERBATIM),
    )


def drawn(text: str) -> list[str]:
    return [statement.content for statement in extraction_verbatim.extract(event(text))]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("I live in Lyon. My cat is called Mia.", ["I live in Lyon.", "My cat is called Mia."]),
        (
            "Dr. Smith works at 3.12 Park St. near us.",
            ["Dr. Smith works at 3.12 Park St. near us."],
        ),
        ("J. R. Tolkien wrote it.", ["J. R. Tolkien wrote it."]),
        ("Wir nutzen z.B. Postgres. Das läuft.", ["Wir nutzen z.B. Postgres.", "Das läuft."]),
        ("Am 3. Mai ziehen wir um.", ["Am 3. Mai ziehen wir um."]),
        ("J'habite à Paris ! Mon chat dort.", ["J'habite à Paris !", "Mon chat dort."]),
        ("我住在北京。我喜欢猫！", ["我住在北京。", "我喜欢猫！"]),
        ("私は東京に住んでいる。猫が好きだ。", ["私は東京に住んでいる。", "猫が好きだ。"]),
        ("เราใช้ฐานข้อมูลที่กรุงเทพ", ["เราใช้ฐานข้อมูลที่กรุงเทพ"]),
        ("오늘 끝말잇기 게임을 했다", ["오늘 끝말잇기 게임을 했다"]),
        ("- we use Postgres\n- we deploy on Friday", ["we use Postgres", "we deploy on Friday"]),
        ("1. Buy milk\n2) Buy bread", ["Buy milk", "Buy bread"]),
        ("# Our plan\n\nWe ship in May", ["Our plan", "We ship in May"]),
        ("The service listens\non port 8080.", ["The service listens\non port 8080."]),
        ("Use version 3.12 of it. It works.", ["Use version 3.12 of it.", "It works."]),
        ("Hey, it works. Yes, it scales.", ["Hey, it works.", "Yes, it scales."]),
        ("Good to know, Mia lives in Rome.", ["Good to know, Mia lives in Rome."]),
        ('He said "I am here." Then he left.', ['He said "I am here."', "Then he left."]),
    ],
)
def test_text_is_cut_into_statements(text: str, statements: list[str]) -> None:
    assert drawn(text) == statements


@pytest.mark.parametrize(
    "text",
    [
        "What is Rust?",
        "你住在哪里？",
        "你好吗",
        "お元気ですか",
        "คุณสบายดีไหม",
        "Hello!",
        "Hi Caroline!",
        "Good morning everyone",
        "Guten Tag",
        "你好！",
        "こんにちは。",
        "สวัสดีครับ",
        "ok",
        "Thanks so much!",
        "Yes, sounds good.",
        "Great, got it",
        "Wow, Caroline!",
        "Agreed, Caroline.",
        "Way to go, John!",
        "Sorry to hear that.",
        "Danke schön!",
        "好的，谢谢",
        "ありがとうございます",
        "Berlin",
        "```python\nx = compute_all_the_things()\n```",
        "---\n***\n| --- | --- |",
        "🎉🎉",
        "",
    ],
)
def test_what_asserts_nothing_is_dropped(text: str) -> None:
    assert drawn(text) == []


def test_text_around_fenced_code_is_kept() -> None:
    text = "We build like this:\n```sh\nmake all the things\n```\nIt takes two minutes."
    assert drawn(text) == ["We build like this:", "It takes two minutes."]


def test_a_fence_that_never_closes_hides_the_rest() -> None:
    assert drawn("The code follows.\n```\nimport os and more words") == ["The code follows."]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I went to the dentist yesterday.", MemoryKind.EPISODIC),
        ("We met two years ago in Rome.", MemoryKind.EPISODIC),
        ("Wir waren letzte Woche in Rom.", MemoryKind.EPISODIC),
        ("Je suis allé au cinéma hier.", MemoryKind.EPISODIC),
        ("昨天我去了医院。", MemoryKind.EPISODIC),
        ("เมื่อวานไปหาหมอมา", MemoryKind.EPISODIC),
        ("I moved to Lyon in March 2019.", MemoryKind.EPISODIC),
        ("I am allergic to nuts.", MemoryKind.SEMANTIC),
        ("We use Postgres since 2019.", MemoryKind.SEMANTIC),
        ("The launch is on 3 June 2027.", MemoryKind.SEMANTIC),
    ],
)
def test_a_past_time_makes_an_episode(text: str, kind: MemoryKind) -> None:
    assert [statement.kind for statement in extraction_verbatim.extract(event(text))] == [kind]


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("We use Postgres since 2019.", "2019-01-01"),
        ("We use Postgres since March 2024.", "2024-03-01"),
        ("We use Exa since 2024-03-05 only.", "2024-03-05"),
        ("As of 3 June 2027 the office is closed.", "2027-06-03"),
        ("Starting March 5, 2026 we work remotely.", "2026-03-05"),
        ("We use Exa since yesterday.", "2026-05-19"),
        ("We use Exa since last Monday.", "2026-05-18"),
        ("We use Exa since last Wednesday.", "2026-05-13"),
        ("We use Exa since last week.", "2026-05-11"),
        ("We use Exa since last month.", "2026-04-01"),
        ("We use Exa since last year.", "2025-01-01"),
        ("I have lived here since October.", "2025-10-01"),
        ("I have lived here since March.", "2026-03-01"),
        ("Wir nutzen Postgres seit gestern.", "2026-05-19"),
        ("Ab 3. Juni 2026 gilt das neue Passwort.", "2026-06-03"),
        ("J'habite à Lyon depuis mars 2020.", "2020-03-01"),
        ("2019年3月以来我们使用Postgres。", "2019-03-01"),
        ("2020年から東京に住んでいる。", "2020-01-01"),
    ],
)
def test_a_stated_start_opens_the_window(text: str, since: str) -> None:
    (statement,) = extraction_verbatim.extract(event(text))
    assert times.to_text(statement.valid_from) == f"{since}T00:00:00Z"


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Lyon.",
        "I come from Berlin originally.",
        "I lived there from 2019 to 2021.",
        "We are open from Monday to Friday.",
        "Since 2019-02-31 nothing works.",
        "We use Exa since the meeting.",
    ],
)
def test_b23_without_a_provable_start_a_statement_holds_from_when_it_was_said(text: str) -> None:
    (statement,) = extraction_verbatim.extract(event(text))
    assert statement.valid_from == SAID_AT


def test_a_role_definition_yields_persona_memories() -> None:
    (statement,) = extraction_verbatim.extract(event("You are Ada.", Category.PERSONA))
    assert statement == Statement(MemoryKind.PERSONA, "You are Ada.", "You are Ada.", SAID_AT)


def test_a_repeated_statement_is_drawn_once() -> None:
    assert drawn("I like tea. I like tea. I like tea.") == ["I like tea."]


def test_one_extraction_is_bounded() -> None:
    text = " ".join(f"Fact number {number} is true." for number in range(100))
    assert len(drawn(text)) == rules.MAX_STATEMENTS


@pytest.mark.parametrize(
    "piece", ["\n", "\r\n", "\n \t", ".", "?", "1. ", "1.\t", "- 1. > ", "e.g. ", "! ", '."', "`"]
)
def test_whatever_repeats_is_read_in_a_time_that_grows_with_its_length(piece: str) -> None:
    text = piece * (rules.MAX_TEXT_CHARS // len(piece))
    begun = time.process_time()
    drawn(text)
    assert time.process_time() - begun < 5


def test_a_statement_longer_than_a_content_is_cut_at_a_space() -> None:
    text = "word " * 2_000
    assert all(len(piece) <= rules.MAX_CONTENT_CHARS for piece in drawn(text))
    assert all(set(piece.split()) == {"word"} for piece in drawn(text))


@given(st.text(max_size=400))
def test_every_statement_occurs_in_the_text(text: str) -> None:
    for statement in extraction_verbatim.extract(event(text)):
        assert statement.content in text
        assert statement.quote == statement.content
        assert 0 < len(statement.content) <= rules.MAX_CONTENT_CHARS


@given(st.text(alphabet="ab. !?\n-`~0123456789年月ら以来since fromMay", max_size=300))
def test_no_mixture_of_marks_and_dates_fails(text: str) -> None:
    assert all(statement.content in text for statement in extraction_verbatim.extract(event(text)))

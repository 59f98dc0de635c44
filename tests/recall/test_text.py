from __future__ import annotations

import apsw
import pytest
from hypothesis import example, given

from memrpc.recall.text import index_text, is_english_or_unknown, pieces

from .shelves import any_text, fill, found

FOUND = [
    ("userprofile", "getUserProfile"),
    ("profile", "getUserProfile"),
    ("user_profile", "getUserProfile"),
    ("getUserProfile", "get-user-profile"),
    ("HTTPServer", "http_server"),
    ("server", "HTTPServerError"),
    ("3.12", "v3.12.0-rc1"),
    ("v3.12.0", "v3.12.0-rc1"),
    ("rc1", "v3.12.0-rc1"),
    ("utf8", "UTF-8"),
    ("sha-256", "sha256"),
    ("GPT-4o", "gpt4o"),
    ("ERR_CONN_4012", "ERR-CONN-4012"),
    ("4012", "ERR_CONN-4012"),
    ("service.py", "src/user_profile_service.py:42"),
    ("profile_service", "src/user_profile_service.py:42"),
    ("retry after", "Retry-After"),
    ("foo.bar.baz", "foo.bar.baz()"),
    ("migrat", "migration"),
    ("数据库", "讨论了数据库迁移"),
    ("迁移", "讨论了数据库迁移"),
    ("猫", "私は猫"),
    ("猫", "猫が好き"),
    ("データ", "本日はデータベースの"),
    ("サーバー", "\uff7b\uff70\uff8a\uff9e\uff70"),  # half-width
    ("데이터베이스", "데이터베이스를"),
    ("백업", "자동백업도"),
    ("ข้อมูล", "เรื่องการย้ายฐานข้อมูลและ"),
    ("ฐานข้อมูล", "เรื่องการย้ายฐานข้อมูลและ"),
    ("🚀", "🚀🚀"),
    ("👩🏽‍💻", "👩🏽‍💻"),
    ("👩‍💻", "👩🏽‍💻"),
    ("❤", "❤️"),
    ("deploy東京", "deploy東京リージョン"),
    ("café", "CAFE"),
    ("strasse", "Straße"),
    ("naive", "naïve"),
    ("привет", "Привет"),
    ("сервер", "два сервера"),
    ("l'école", "une école"),
    ("Caroline", "Caroline's dog"),
    ("postg", "we use Postgres"),
    ("हिन्दी", "मुझे हिन्दी आती है"),
]
NOT_FOUND = [
    ("猫", "犬が好き"),
    ("数库", "数据库"),
    ("userprofile", "get profile user"),
    ("3.13", "v3.12.0"),
    ("ข้อมา", "ฐานข้อมูล"),
    ("profile", "prof ile"),
    ("état", "estate"),
]


@pytest.mark.parametrize(("question", "text"), FOUND)
def test_a_spelling_finds_what_it_means(db: apsw.Connection, question: str, text: str) -> None:
    fill(db, [text])
    assert found(db, question) == [0]


@pytest.mark.parametrize(("question", "text"), NOT_FOUND)
def test_a_spelling_finds_nothing_else(db: apsw.Connection, question: str, text: str) -> None:
    fill(db, [text])
    assert found(db, question) == []


@given(any_text)
@example("\ud800\udfff \x00 \ufdfa" * 20)
def test_index_text_is_made_of_plain_tokens(text: str) -> None:
    tokens = index_text(text)
    both = f"{tokens.parts} {tokens.joined}"
    both.encode("utf-8")
    assert not set(both) & set("\"\x00\n\t*()^'-")
    assert all(both.split(" ")) or not tokens.joined or not tokens.parts


@pytest.mark.parametrize(
    ("text", "is_stemmed"),
    [
        ("the servers of the company", True),
        ("migrations", True),
        ("les migrations sont dans le dossier des serveurs", False),
        ("die Migrations sind nicht auf dem Server und das ist gut", False),
        ("las migrations que no son para los servidores", False),
        ("I am allergic to nuts", True),
        ("I do love hiking", True),
        ("no meetings on fridays", True),
        ("mam psa i kota ale nie na wsi", False),
        ("no como carne", False),
    ],
)
def test_only_rows_that_may_be_english_are_stemmed(text: str, *, is_stemmed: bool) -> None:
    assert is_english_or_unknown(text.lower().split()) == is_stemmed


def test_what_i_say_of_myself_in_few_words_is_found_by_another_form_of_them(
    db: apsw.Connection,
) -> None:
    fill(db, ["I love hiking.", "I am allergic to nuts."])
    assert found(db, "hikes") == [0]
    assert found(db, "nut allergy") == [1]


def test_a_question_finds_the_unstemmed_word_of_a_french_row(db: apsw.Connection) -> None:
    fill(db, ["les migrations sont dans le dossier des serveurs", "The migration is done and over"])
    assert sorted(found(db, "migrations")) == [0, 1]


def test_two_french_words_that_english_stemming_would_unite_stay_apart(
    db: apsw.Connection,
) -> None:
    fill(db, ["il est sur le organisme de la ville et du pays"])
    assert found(db, "organes") == []


def test_a_french_row_keeps_its_words_as_they_are() -> None:
    row = "les migrations sont dans le dossier des serveurs"
    assert index_text(row).parts == row


def test_an_english_genitive_leaves_no_token() -> None:
    assert index_text("Bob's cat and the people's car") == index_text("Bob cat and the people car")


def test_a_hash_is_split_at_its_joints_only() -> None:
    digest = "a1b2c3d4e5f6a7b8c9d0"
    assert [piece.parts for piece in pieces(f"sha-{digest}")] == [("sha", digest)]

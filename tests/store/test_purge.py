"""The purge and the audit: forgotten text is in no byte on disk, and the audit would know."""

from __future__ import annotations

import random
import re
import threading
from pathlib import Path

import anyio
import anyio.to_thread
import apsw
import pytest

from memrpc.store import backups, jobs, purge
from memrpc.store.audit import Finding, Kind, audit
from memrpc.store.database import Database
from memrpc.store.purge import Erasure

SCHEMA = (
    "CREATE TABLE said (id INTEGER PRIMARY KEY, ref TEXT UNIQUE, text TEXT) STRICT",
    "CREATE VIRTUAL TABLE said_words USING fts5 (text, content = '')",
    "CREATE VIRTUAL TABLE said_terms USING fts5vocab (said_words, 'row')",
)
SAY = "INSERT INTO said (ref, text) VALUES (:ref, :text) RETURNING id"
INDEX = "INSERT INTO said_words (rowid, text) VALUES (:id, :text)"
UNINDEX = "INSERT INTO said_words (said_words, rowid, text) VALUES ('delete', :id, :text)"
UNSAY = "DELETE FROM said WHERE id = :id"
SCATTER = "INSERT INTO scattered (id, text) VALUES (:id, :text)"
UNSCATTER = "DELETE FROM scattered WHERE id = :id"
TRUNCATE = "PRAGMA wal_checkpoint(TRUNCATE)"
TERMS = """
SELECT value FROM json_each(:terms)
WHERE EXISTS (SELECT 1 FROM said_terms WHERE instr(term, value) > 0)
"""
FORGOTTEN = "Zanzibarquokka lurks beneath Llanfairpwll 東京都庁舎の鍵は金庫"


def create(db: apsw.Connection) -> None:
    for statement in SCHEMA:
        db.execute(statement).fetchall()


def say(db: apsw.Connection, text: str, ref: str) -> int:
    said: int = db.execute(SAY, {"ref": ref, "text": text}).get
    db.execute(INDEX, {"id": said, "text": text}).fetchall()
    return said


def unsay(db: apsw.Connection, said: int, text: str) -> None:
    db.execute(UNINDEX, {"id": said, "text": text}).fetchall()
    db.execute(UNSAY, {"id": said}).fetchall()
    purge.request(db, now=0)


def scrub(db: apsw.Connection) -> None:
    """Merge the index into one new segment, which needs that it has more than one."""
    db.execute(INDEX, {"id": 10**9, "text": "x"}).fetchall()
    db.execute(UNINDEX, {"id": 10**9, "text": "x"}).fetchall()
    db.execute("INSERT INTO said_words (said_words) VALUES ('optimize')").fetchall()


def run_purge(database: Database) -> Erasure:
    return database.maintain_blocking(lambda db: purge.purge(db, scrub=scrub))


@pytest.fixture
def said(database: Database) -> int:
    """A database with the secret among much else."""

    def fill(db: apsw.Connection) -> int:
        create(db)
        chance = random.Random(1)
        for _ in range(300):
            words = (f"{chance.randrange(2**40):x}" for _ in range(chance.randrange(60)))
            say(db, " ".join(words), f"{chance.randrange(2**40):x}")
        return say(db, FORGOTTEN, "secret")

    return database.write_blocking(fill)


def forget(database: Database, said: int) -> None:
    database.write_blocking(lambda db: unsay(db, said, FORGOTTEN))


def kinds(findings: list[Finding]) -> set[Kind]:
    return {found.kind for found in findings}


def test_audit_finds_what_is_stored(database: Database, said: int, path: Path):
    found = audit(path, FORGOTTEN, vocabularies=[TERMS])
    assert said
    assert kinds(found) == set(Kind)
    assert {each.sought for each in found if each.kind is Kind.WORD} == {
        "Zanzibarquokka",
        "lurks",
        "beneath",
        "Llanfairpwll",
    }
    assert "庁舎" in {each.sought for each in found if each.kind is Kind.PAIR}
    assert database.read_blocking(lambda db: db.pragma("integrity_check")) == "ok"


def test_b33_forgotten_text_is_in_no_byte_after_the_purge(
    database: Database, said: int, path: Path
):
    forget(database, said)
    assert kinds(audit(path, FORGOTTEN)) == set(Kind)  # Not yet: the log and the page gaps.
    assert run_purge(database) is Erasure.COMPLETE
    assert audit(path, FORGOTTEN, vocabularies=[TERMS]) == []
    assert database.read_blocking(lambda db: db.pragma("integrity_check")) == "ok"


def test_purge_deletes_the_automatic_backups(database: Database, said: int, path: Path):
    database.maintain_blocking(lambda db: backups.back_up(db, 1))
    assert {each.path.name for each in audit(path, FORGOTTEN)} >= {"memory.db.bak-1"}
    forget(database, said)
    assert run_purge(database) is Erasure.COMPLETE
    assert (backups.every(path), audit(path, FORGOTTEN)) == ([], [])


def test_open_reader_blocks_the_purge_until_it_ends(database: Database, said: int, path: Path):
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN").fetchall()
    reader.execute("SELECT count(*) FROM said").fetchall()
    forget(database, said)
    assert run_purge(database) is Erasure.BLOCKED
    assert kinds(audit_in_another_process(path, FORGOTTEN)) == set(Kind)
    reader.execute("COMMIT").fetchall()
    assert run_purge(database) is Erasure.COMPLETE
    reader.close()
    assert audit(path, FORGOTTEN) == []


def audit_in_another_process(path: Path, text: str) -> list[Finding]:
    """Audit copies, because reading the files here would release this process's locks."""
    copies = path.parent / "copies"
    copies.mkdir()
    for name in (path.name, path.name + "-wal"):
        (copies / name).write_bytes(path.with_name(name).read_bytes())
    return audit(copies / path.name, text)


def test_purge_waits_for_no_lock(database: Database, said: int, path: Path):
    """A writer of another process would be shut out for as long as the purge waited."""
    waited = []
    impatient = Database(path, jitter=lambda: waited.append(1) or 0.0)
    forget(database, said)
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN").fetchall()
    reader.execute("SELECT count(*) FROM said").fetchall()
    database.write_blocking(lambda db: say(db, "more", "more"))
    assert impatient.maintain_blocking(lambda db: purge.purge(db, scrub=scrub)) is Erasure.BLOCKED
    assert waited == []
    reader.close()
    impatient.close()


def test_one_text_free_job_serves_every_forget_that_waits(database: Database, said: int):
    forget(database, said)
    database.write_blocking(lambda db: purge.request(db, now=5))
    (job,) = database.read_blocking(jobs.list_jobs)
    assert (job.kind, job.subject, job.due_at) == ("purge", "file", purge.QUIET_US)


@pytest.mark.parametrize("seed", range(3))
def test_gaps_that_page_splits_leave_behind_are_purged(database: Database, path: Path, seed: int):
    """Leak A: a b-tree that is rebalanced keeps copies of cells where no delete reaches."""
    chance = random.Random(seed)
    texts = {chance.randrange(2**62): random_word(chance) for _ in range(1_200)}
    doomed = chance.sample(sorted(texts), 600)
    database.write_blocking(lambda db: scatter(db, texts, chance))
    database.write_blocking(
        lambda db: [db.execute(UNSCATTER, {"id": each}).fetchall() for each in doomed]
    )
    database.maintain_blocking(lambda db: db.execute(TRUNCATE).fetchall())
    forgotten = [texts.pop(each).encode() for each in doomed]
    before = path.read_bytes()
    assert any(text in before for text in forgotten)  # The leak is real.
    database.write_blocking(create)
    assert run_purge(database) is Erasure.COMPLETE
    after = path.read_bytes()
    assert [text for text in forgotten if text in after] == []
    assert all(text.encode() in after for text in texts.values())


def random_word(chance: random.Random) -> str:
    return "".join(chance.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=20))


def scatter(db: apsw.Connection, texts: dict[int, str], chance: random.Random) -> None:
    """Insert in the order of nothing, so that pages split everywhere."""
    db.execute("CREATE TABLE scattered (id INTEGER PRIMARY KEY, text TEXT) STRICT").fetchall()
    for each, text in texts.items():
        filled = text + " filler" * chance.randrange(100)
        db.execute(SCATTER, {"id": each, "text": filled}).fetchall()


@pytest.mark.parametrize("seed", range(3))
def test_separators_of_forgotten_terms_are_purged(path: Path, seed: int):
    """Leak B: a separator key of the full-text index is the beginning of a forgotten term."""
    chance = random.Random(seed)
    database = Database(path, jitter=random.random)
    database.write_blocking(create)
    pairs = [chr(0x4E00 + i) + chr(0x4E00 + chance.randrange(9_000)) for i in range(0, 9_000, 5)]
    chance.shuffle(pairs)
    texts = [" ".join(pairs[i : i + 12]) for i in range(0, len(pairs), 12)]
    said = database.write_blocking(
        lambda db: [say(db, text, str(i)) for i, text in enumerate(texts)]
    )
    database.maintain_blocking(scrub)
    for at, text in zip(said[::2], texts[::2], strict=True):
        database.write_blocking(lambda db, at=at, text=text: unsay(db, at, text))
    assert run_purge(database) is Erasure.COMPLETE
    database.close()
    content = path.read_bytes()
    forgotten = " ".join(texts[::2]).split()
    assert [pair for pair in forgotten if pair.encode() in content] == []
    assert all(pair.encode() in content for pair in " ".join(texts[1::2]).split())


def test_text_longer_than_a_page_is_purged(database: Database, path: Path):
    text = "overflowing " + " ".join(f"Qx{i:06d}zv" for i in range(20_000))
    database.write_blocking(create)
    said = database.write_blocking(lambda db: say(db, text, "long"))
    assert kinds(audit(path, text[:2_000])) == {Kind.TEXT, Kind.WORD}
    database.write_blocking(lambda db: unsay(db, said, text))
    assert run_purge(database) is Erasure.COMPLETE
    assert re.findall(rb"qx\d{6}zv", path.read_bytes(), re.IGNORECASE) == []


def test_interrupted_purge_is_still_owed(database: Database, said: int, path: Path):
    def crash(_: apsw.Connection) -> None:
        raise LookupError

    forget(database, said)
    with pytest.raises(LookupError):
        database.maintain_blocking(lambda db: purge.purge(db, scrub=crash))
    assert [job.kind for job in database.read_blocking(jobs.list_jobs)] == ["purge"]
    assert run_purge(database) is Erasure.COMPLETE
    assert audit(path, FORGOTTEN) == []


@pytest.mark.anyio
async def test_cancelled_purge_leaves_a_sound_file_and_can_be_repeated(
    database: Database, said: int, path: Path
):
    reached, released = threading.Event(), threading.Event()

    def stop(_: apsw.Connection) -> None:
        reached.set()
        assert released.wait(30)

    forget(database, said)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.maintain, lambda db: purge.purge(db, scrub=stop))
        await anyio.to_thread.run_sync(reached.wait)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
        released.set()
    assert await database.read(lambda db: db.pragma("integrity_check")) == "ok"
    assert run_purge(database) is Erasure.COMPLETE
    assert audit(path, FORGOTTEN) == []


def test_expected_time_grows_with_the_file(database: Database):
    def grow(db: apsw.Connection) -> None:
        db.execute("CREATE TABLE grown (bytes BLOB) STRICT").fetchall()
        db.execute("INSERT INTO grown VALUES (zeroblob(10000000))").fetchall()

    small = database.read_blocking(purge.expected_s)
    database.write_blocking(grow)
    large = database.read_blocking(purge.expected_s)
    assert (0 < small < 0.05, 0.1 < large < 0.2) == (True, True)


PLANTED = {
    "as given": ("Zanzibarquokka", b"Zanzibarquokka"),
    "in lower case": ("Zanzibarquokka", b"zanzibarquokka"),
    "in upper case": ("zanzibarquokka", b"ZANZIBARQUOKKA"),
    "inside a longer word": ("quokka", b"Zanzibarquokkas"),
    "one word of two": ("Zanzibar quokka", b"a quokka"),
    "composed": ("cafe\u0301s", "caf\u00e9s".encode()),
    "decomposed": ("caf\u00e9s", "cafe\u0301s".encode()),
    "without its marks": ("caf\u00e9s", b"cafes"),
    "folded": ("Stra\u00dfe", b"STRASSE"),
    "Greek in capitals": (
        "\u03bb\u03cc\u03b3\u03bf\u03c2",
        "\u039b\u039f\u0393\u039f\u03a3".encode(),
    ),
    "a pair of a longer run": ("東京都庁舎", "庁舎".encode()),
    "a Thai pair": ("ฐานข้อมูล", "มู".encode()),
    "half width": ("ｻｰﾊﾞｰ", "サーバー".encode()),
}


@pytest.mark.parametrize(("text", "planted"), PLANTED.values(), ids=PLANTED)
@pytest.mark.parametrize(
    "name", ["m.db", "m.db-wal", "m.db-shm", "m.db.bak-3", "m.db.bak-3.partial"]
)
def test_audit_finds_a_planted_trace(tmp_path: Path, name: str, text: str, planted: bytes):
    (tmp_path / name).write_bytes(b"\x00" * 5_000 + planted + b"\xff" * 5_000)
    assert {each.path.name for each in audit(tmp_path / "m.db", text)} == {name}


@pytest.mark.parametrize("text", ["absentword", "欠席", "a b", "", "  "])
def test_audit_finds_nothing_where_nothing_is(tmp_path: Path, text: str):
    (tmp_path / "m.db").write_bytes(b"something else entirely" * 1_000)
    assert audit(tmp_path / "m.db", text) == []
    assert audit(tmp_path / "missing.db", text) == []


def test_audit_finds_a_trace_across_two_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("memrpc.store.audit.CHUNK_BYTES", 16)
    for at in range(64):
        (tmp_path / "m.db").write_bytes(b"." * at + b"Quokka" + b"." * 40)
        assert [each.offset for each in audit(tmp_path / "m.db", "quokka")] == [at]


def test_audit_looks_into_the_vocabulary_of_the_index(tmp_path: Path):
    """A term that follows a similar one is stored without its beginning."""
    path = tmp_path / "m.db"
    db = apsw.Connection(str(path))
    create(db)
    db.execute(INDEX, {"id": 1, "text": "quokkabear quokkabeast"}).fetchall()
    db.close()
    assert audit(path, "quokkabeast") == []
    assert audit(path, "quokkabeast", vocabularies=[TERMS]) == [
        Finding(path, Kind.TEXT, "quokkabeast", None)
    ]

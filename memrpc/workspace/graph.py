"""The graph: what entries, tasks and standards name, and how they stand to each other.

A subject's part of the graph is made anew whenever it is written, in the same transaction, so it
lives exactly as long as what it came from.  Only stated links exist: a text *mentions* what it
names, a task *depends_on* and is *part_of* another, an entry *supersedes* an older one, a task was
*decided_in* an entry, a standard *extends* its parent, an archive *records* its task.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.workspace.model import Kind
from memrpc.workspace.naming import Name, names_in, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

MAX_ENTITIES: Final = 50
MENTIONS: Final = "mentions"

_FIND: Final = "SELECT entity FROM entities WHERE repo = :repo AND key = :key"
_ADD: Final = """
INSERT INTO entities (repo, key, name, type) VALUES (:repo, :key, :name, :type) RETURNING entity
"""
_MENTION: Final = """
INSERT INTO mentions (entity, kind, subject) VALUES (:entity, :kind, :subject)
ON CONFLICT DO NOTHING
"""
_LINK: Final = """
INSERT INTO links (kind, subject, type, to_kind, to_subject)
VALUES (:kind, :subject, :type, :to_kind, :to_subject) ON CONFLICT DO NOTHING
"""
_MENTIONED: Final = "SELECT entity FROM mentions WHERE kind = :kind AND subject = :subject"
_UNMENTION: Final = "DELETE FROM mentions WHERE kind = :kind AND subject = :subject"
_UNLINK: Final = "DELETE FROM links WHERE kind = :kind AND subject = :subject"
_UNLINK_TO: Final = "DELETE FROM links WHERE to_kind = :kind AND to_subject = :subject"
_SWEEP: Final = """
DELETE FROM entities WHERE entity IN (SELECT value FROM json_each(:entities))
AND NOT EXISTS (SELECT 1 FROM mentions WHERE mentions.entity = entities.entity)
"""
_ENTITIES: Final = """
SELECT DISTINCT entities.entity, entities.name, entities.type, mentions.kind, mentions.subject
FROM json_each(:subjects) CROSS JOIN mentions
ON mentions.kind = :kind AND mentions.subject = json_each.value
JOIN entities ON entities.entity = mentions.entity
ORDER BY entities.entity, mentions.subject LIMIT :limit
"""
_MENTIONING: Final = """
SELECT mentions.kind, mentions.subject FROM entities
JOIN mentions ON mentions.entity = entities.entity
WHERE entities.repo = :repo AND entities.key = :key
ORDER BY mentions.kind, mentions.subject DESC LIMIT :limit
"""
_NAMES: Final = """
SELECT entities.name, entities.type, count(*) FROM entities
JOIN mentions ON mentions.entity = entities.entity WHERE entities.repo = :repo
GROUP BY entities.entity ORDER BY count(*) DESC, entities.entity LIMIT :limit OFFSET :offset
"""
_COUNT: Final = "SELECT count(*) FROM entities WHERE repo = :repo"
_LINKS: Final = """
SELECT kind, subject, type, to_kind, to_subject FROM links
WHERE kind = :kind AND subject IN (SELECT value FROM json_each(:subjects))
UNION
SELECT kind, subject, type, to_kind, to_subject FROM links
WHERE to_kind = :kind AND to_subject IN (SELECT value FROM json_each(:subjects))
"""
_CODES: Final = {
    Kind.ENTRY: "SELECT code FROM entries WHERE entry = :key",
    Kind.TASK: "SELECT code FROM tasks WHERE task = :key",
    Kind.STANDARD: "SELECT code FROM standards WHERE standard = :key",
}
_CLEAR: Final = ("DELETE FROM mentions", "DELETE FROM links", "DELETE FROM entities")


class Link(NamedTuple):
    """A typed link to another subject, from whatever subject states it."""

    type: str
    to_kind: Kind
    to_subject: int


class Entity(NamedTuple):
    """What a text names."""

    name: str
    type: str
    source_domain: str


class Relation(NamedTuple):
    """An edge: from a subject's code, to an entity's name or another subject's code."""

    source: str
    target: str
    type: str


class Subgraph(NamedTuple):
    """Some entities and relations."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


def put(
    db: apsw.Connection, subject: tuple[Kind, int], repo: int, text: str, links: Iterable[Link] = ()
) -> None:
    """Make the subject's part of the graph anew."""
    kind, key = subject
    before = _mentioned(db, kind, key)
    values = {"kind": kind, "subject": key}
    if before:
        db.execute(_UNMENTION, values).fetchall()
    db.execute(_UNLINK, values).fetchall()
    for name in names_in(text):
        entity = _entity(db, repo, name)
        db.execute(_MENTION, values | {"entity": entity}).fetchall()
    for link in links:
        target = {"type": link.type, "to_kind": link.to_kind, "to_subject": link.to_subject}
        db.execute(_LINK, values | target).fetchall()
    _sweep(db, before)


def remove(db: apsw.Connection, kind: Kind, key: int) -> None:
    """Take the subject out, with the entities that nothing else names."""
    before = _mentioned(db, kind, key)
    for statement in (_UNMENTION, _UNLINK, _UNLINK_TO):
        db.execute(statement, {"kind": kind, "subject": key}).fetchall()
    _sweep(db, before)


def clear(db: apsw.Connection) -> None:
    """Empty the graph, for a rebuild."""
    for statement in _CLEAR:
        db.execute(statement).fetchall()


def around(db: apsw.Connection, kind: Kind, keys: Sequence[int]) -> Subgraph:
    """Return what these subjects name and every link that begins or ends at one of them."""
    subjects = json.dumps(list(keys))
    values = {"kind": kind, "subjects": subjects}
    mentioned: list[Any] = db.execute(_ENTITIES, values | {"limit": MAX_ENTITIES}).fetchall()
    linked: list[Any] = db.execute(_LINKS, values).fetchall()
    entities = {row[0]: Entity(row[1], row[2], row[3]) for row in mentioned}
    ends = {(row[3], row[4]) for row in mentioned}
    ends |= {end for row in linked for end in ((row[0], row[1]), (row[3], row[4]))}
    codes = {end: code_of(db, Kind(end[0]), end[1]) for end in ends}
    mentions = [Relation(codes[row[3], row[4]], row[1], MENTIONS) for row in mentioned]
    links = [
        Relation(codes[kind, key], codes[to_kind, to_key], type_)
        for kind, key, type_, to_kind, to_key in linked
    ]
    return Subgraph(tuple(entities.values()), tuple([*links, *mentions][: 2 * MAX_ENTITIES]))


def mentioning(db: apsw.Connection, repo: int, name: str, limit: int) -> list[tuple[Kind, int]]:
    """List the subjects of a repository that name ``name``, newest first by kind."""
    values = {"repo": repo, "key": number_of(name), "limit": limit}
    rows: list[Any] = db.execute(_MENTIONING, values).fetchall()
    return [(Kind(kind), key) for kind, key in rows]


def names(
    db: apsw.Connection, repo: int, *, limit: int, offset: int = 0
) -> list[tuple[str, str, int]]:
    """List what a repository's texts name: name, type and by how many, most named first."""
    values = {"repo": repo, "limit": limit, "offset": offset}
    rows: list[Any] = db.execute(_NAMES, values).fetchall()
    return rows


def count(db: apsw.Connection, repo: int) -> int:
    """Count what a repository's texts name."""
    total: int = db.execute(_COUNT, {"repo": repo}).get
    return total


def code_of(db: apsw.Connection, kind: Kind, key: int) -> str:
    """Return the subject's code, or its kind where it has gone."""
    code: str | None = db.execute(_CODES[kind], {"key": key}).get
    return code or str(kind)


def _entity(db: apsw.Connection, repo: int, name: Name) -> int:
    values = {"repo": repo, "key": name.key}
    found: int | None = db.execute(_FIND, values).get
    if found is not None:
        return found
    added: int = db.execute(_ADD, values | {"name": name.name, "type": name.type}).get
    return added


def _mentioned(db: apsw.Connection, kind: Kind, key: int) -> list[int]:
    rows: list[Any] = db.execute(_MENTIONED, {"kind": kind, "subject": key}).fetchall()
    return [entity for (entity,) in rows]


def _sweep(db: apsw.Connection, entities: list[int]) -> None:
    if entities:
        db.execute(_SWEEP, {"entities": json.dumps(entities)}).fetchall()

-- What texts mean, as vectors of numbers, kept apart from their words.

-- The text of each unit as an embedder reads it.  A unit that changes gets a new version, so whoever
-- embeds a text can tell, when it comes back with the vector, whether the text is still the unit's.
CREATE TABLE unit_sources (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    unit_id INTEGER NOT NULL UNIQUE,
    text    TEXT    NOT NULL
) STRICT;

-- One row an embedder whose vectors are kept.  All versions up to ``done`` have been embedded.
CREATE TABLE vector_sets (
    vector_set INTEGER PRIMARY KEY AUTOINCREMENT,
    purpose    TEXT    NOT NULL CHECK (purpose IN ('builtin', 'configured')),
    embedder   TEXT    NOT NULL UNIQUE,
    dimension  INTEGER NOT NULL,
    weights    TEXT    NOT NULL,  -- SHA-256 in hexadecimal; empty where nobody can tell
    usual      REAL    NOT NULL,  -- mean and spread of the cosines of texts that have nothing in common
    spread     REAL    NOT NULL,
    done       INTEGER NOT NULL DEFAULT 0,
    used_at    INTEGER NOT NULL
) STRICT;

-- Up to 1,024 vectors of one collection.  What is read often stands apart from the numbers, because
-- SQLite would rewrite them with it.
CREATE TABLE vector_blocks (
    block      INTEGER PRIMARY KEY AUTOINCREMENT,
    vector_set INTEGER NOT NULL REFERENCES vector_sets (vector_set),
    kind       TEXT    NOT NULL,
    scope      INTEGER NOT NULL,
    held       INTEGER NOT NULL,  -- slots that hold a vector
    capacity   INTEGER NOT NULL,  -- slots that there are
    revision   INTEGER NOT NULL   -- raised by every change of the slots
) STRICT;
CREATE INDEX vector_blocks_of_collection ON vector_blocks (vector_set, kind, scope, block);

-- A slot is a unit_id (8 bytes), a scale (4 bytes, float) and one signed byte a dimension, all little
-- endian; an empty one is zeros.
CREATE TABLE vector_slots (
    block INTEGER PRIMARY KEY REFERENCES vector_blocks (block),
    slots BLOB NOT NULL
) STRICT;

CREATE TABLE unit_vectors (
    unit_id    INTEGER NOT NULL,
    vector_set INTEGER NOT NULL,
    block      INTEGER NOT NULL,
    slot       INTEGER NOT NULL,
    PRIMARY KEY (unit_id, vector_set)
) STRICT, WITHOUT ROWID;

-- Units that were indexed before there were vectors have no source: ``memrpc reindex`` gives them one.

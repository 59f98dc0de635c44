-- What recall indexes: one row a unit (a short text, or a chunk of a long one).

-- The index text of each column is kept beside the full-text table, because a contentless FTS5 table
-- forgets a row only when it is given exactly the tokens that were put in.
CREATE TABLE units (
    unit_id     INTEGER PRIMARY KEY,
    kind        TEXT    NOT NULL,
    subject     INTEGER NOT NULL,
    chunk       INTEGER NOT NULL,
    scope       INTEGER NOT NULL,
    start       INTEGER NOT NULL,  -- code points into the subject's text
    length      INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    session     TEXT    NOT NULL,
    speaker     TEXT    NOT NULL,
    role        TEXT    NOT NULL,
    tokens      INTEGER NOT NULL,  -- in all columns together
    own         TEXT    NOT NULL,
    joined      TEXT    NOT NULL,
    head        TEXT    NOT NULL,
    prev        TEXT    NOT NULL,
    next        TEXT    NOT NULL,
    near        TEXT    NOT NULL,
    meta        TEXT    NOT NULL,
    UNIQUE (kind, subject, chunk)
) STRICT;

-- How many units a collection (one kind in one scope) has: what document frequencies are measured by.
CREATE TABLE collections (
    kind   TEXT    NOT NULL,
    scope  INTEGER NOT NULL,
    units  INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (kind, scope)
) STRICT, WITHOUT ROWID;

-- Every token begins with its collection, so a term of one scope is not a term of another: matching,
-- document frequencies and ranks never cross a scope, and a search reads its own postings only.
CREATE VIRTUAL TABLE unit_text USING fts5(
    own, joined, head, prev, next, near, meta,
    content = '', tokenize = 'ascii', columnsize = 1
);
INSERT INTO unit_text (unit_text, rank) VALUES ('automerge', 4);
INSERT INTO unit_text (unit_text, rank) VALUES ('rank', 'bm25(1.0, 0.6, 1.5, 0.6, 0.4, 0.2, 0.6)');

CREATE VIRTUAL TABLE unit_terms USING fts5vocab (unit_text, 'row');

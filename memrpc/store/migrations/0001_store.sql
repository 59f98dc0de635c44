-- The store's own tables.  All times are microseconds since the epoch, UTC.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The archive's secret: keys the digests kept of forgotten text and signs what leaves the process.
-- Whoever wins the race to create the file makes it; everybody reads it back afterwards.
INSERT INTO meta VALUES ('key', randomblob(32));

-- Work to be done at least once.  A finished job is deleted, so every row is still owed.
-- AUTOINCREMENT, because a stale lease must not fit a later job that got the same id.
CREATE TABLE jobs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  kind        TEXT NOT NULL,
  subject     TEXT NOT NULL,               -- what the job is about: an id, never a text
  payload     TEXT NOT NULL,               -- a JSON object; never holds an event's text
  state       TEXT NOT NULL CHECK (state IN ('ready', 'leased', 'dead')),
  generation  INTEGER NOT NULL DEFAULT 1,  -- one more at each enqueue
  attempts    INTEGER NOT NULL DEFAULT 0,  -- claims so far
  token       INTEGER NOT NULL DEFAULT 0,  -- fencing: one more at each claim
  owner       TEXT,                        -- the process that holds the lease
  enqueued_at INTEGER NOT NULL,
  due_at      INTEGER NOT NULL,            -- when it may be claimed; while leased, when the lease ends
  error       TEXT,                        -- the last failure, free of text
  UNIQUE (kind, subject)
) STRICT;

CREATE INDEX jobs_due ON jobs (due_at) WHERE state <> 'dead';

-- The latest change of each topic, in order: what a subscriber in another process has missed.
CREATE TABLE changes (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  topic    TEXT NOT NULL UNIQUE,
  noted_at INTEGER NOT NULL
) STRICT;

-- The archive: an append-only log of events and the memories that quote them.
-- All times are microseconds since the epoch, UTC.  No index holds text that a user may forget:
-- page gaps and statistics would keep copies of it.

CREATE TABLE scopes (
  scope      INTEGER PRIMARY KEY,
  persona_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  events     INTEGER NOT NULL DEFAULT 0,  -- kept by the triggers below, so that a recall need not count
  memories   INTEGER NOT NULL DEFAULT 0,
  UNIQUE (persona_id, project_id)
) STRICT;

-- AUTOINCREMENT: a forgotten event's place is never given to another one, which checkpoints rely on.
CREATE TABLE events (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id       TEXT NOT NULL UNIQUE,
  scope          INTEGER NOT NULL REFERENCES scopes (scope),
  session_id     TEXT NOT NULL,
  role           TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
  category       TEXT NOT NULL CHECK (category IN ('conversation', 'reference', 'persona')),
  source         TEXT NOT NULL,
  text           TEXT NOT NULL,
  occurred_at    INTEGER NOT NULL,        -- when it was said or seen
  recorded_at    INTEGER NOT NULL,        -- when we learnt it
  payload_sha256 BLOB NOT NULL,
  reason         TEXT,                    -- why a correction was made
  state          TEXT NOT NULL CHECK (state IN ('pending', 'complete', 'failed', 'skipped')),
  method         TEXT NOT NULL,
  attempts       INTEGER NOT NULL DEFAULT 0,
  error          TEXT                     -- the last failure, free of text
) STRICT;

CREATE INDEX events_of_scope ON events (scope);
CREATE INDEX events_of_session ON events (scope, session_id);
CREATE INDEX events_pending ON events (scope) WHERE state = 'pending';

CREATE TABLE cues (
  cue       INTEGER PRIMARY KEY,
  event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
  kind      TEXT NOT NULL CHECK (kind IN ('text', 'photo')),
  key       TEXT NOT NULL,
  label     TEXT,
  key_hash  INTEGER NOT NULL              -- finds the key; the key itself is in no index
) STRICT;

CREATE INDEX cues_of_event ON cues (event_seq);
CREATE INDEX cues_by_hash ON cues (key_hash);

CREATE TABLE memories (
  memory        INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_id     TEXT NOT NULL UNIQUE,
  scope         INTEGER NOT NULL REFERENCES scopes (scope),
  event_seq     INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
  extractor     TEXT NOT NULL,            -- name and version: an extraction is repeated without effect
  position      INTEGER NOT NULL,         -- place among the memories of the event
  kind          TEXT NOT NULL CHECK (kind IN ('semantic', 'episodic', 'emotion', 'persona')),
  content       TEXT NOT NULL,
  quote         TEXT,                     -- null: the content is the quote
  inferred      INTEGER NOT NULL CHECK (inferred IN (0, 1)),
  confidence    REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  valid_from    INTEGER NOT NULL,
  valid_to      INTEGER CHECK (valid_to >= valid_from),  -- half-open; equal: it never held
  recorded_at   INTEGER NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('current', 'superseded', 'revoked')),
  superseded_by INTEGER REFERENCES memories (memory) ON DELETE SET NULL,
  corrects      INTEGER REFERENCES memories (memory) ON DELETE SET NULL,
  gist          TEXT,
  UNIQUE (event_seq, extractor, position)
) STRICT;

CREATE INDEX memories_of_scope ON memories (scope);
CREATE INDEX memories_superseded_by ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_corrects ON memories (corrects) WHERE corrects IS NOT NULL;

CREATE TABLE tombstones (
  event_id     TEXT PRIMARY KEY,
  forgotten_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
  checkpoint       INTEGER PRIMARY KEY AUTOINCREMENT,
  checkpoint_id    TEXT NOT NULL UNIQUE,
  scope            INTEGER NOT NULL REFERENCES scopes (scope),
  session_id       TEXT NOT NULL,
  state            TEXT,                  -- a JSON object; null once what it may repeat was forgotten
  covered_event_id TEXT NOT NULL,
  covered_seq      INTEGER NOT NULL,
  created_at       INTEGER NOT NULL,
  invalidated_at   INTEGER,
  invalidated_by   TEXT
) STRICT;

CREATE INDEX checkpoints_of_scope ON checkpoints (scope);

CREATE TABLE personas (
  persona_id TEXT PRIMARY KEY,
  version    INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE persona_items (
  item       INTEGER PRIMARY KEY,
  persona_id TEXT NOT NULL REFERENCES personas (persona_id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  text       TEXT NOT NULL,
  UNIQUE (persona_id, position)
) STRICT;

CREATE TRIGGER events_count_up AFTER INSERT ON events BEGIN
  UPDATE scopes SET events = events + 1 WHERE scope = new.scope;
END;
CREATE TRIGGER events_count_down AFTER DELETE ON events BEGIN
  UPDATE scopes SET events = events - 1 WHERE scope = old.scope;
END;
CREATE TRIGGER memories_count_up AFTER INSERT ON memories BEGIN
  UPDATE scopes SET memories = memories + 1 WHERE scope = new.scope;
END;
CREATE TRIGGER memories_count_down AFTER DELETE ON memories BEGIN
  UPDATE scopes SET memories = memories - 1 WHERE scope = old.scope;
END;

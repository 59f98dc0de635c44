-- The workspace: entries, tasks, claims, handoffs, standards and summaries of a repository.
-- All times are microseconds since the epoch, UTC.  JSON columns hold objects or arrays.
-- Codes are handles; tags and entities are found by number, so that no index holds their text.

CREATE TABLE repos (
  repo           INTEGER PRIMARY KEY,
  owner          TEXT NOT NULL,              -- as it was first written
  name           TEXT NOT NULL,
  folded_owner   TEXT NOT NULL,              -- as names are compared
  folded_name    TEXT NOT NULL,
  entry_codes    INTEGER NOT NULL DEFAULT 0, -- the last number given out; never given twice
  task_codes     INTEGER NOT NULL DEFAULT 0,
  standard_codes INTEGER NOT NULL DEFAULT 0,
  active_at      INTEGER NOT NULL,           -- the latest write
  UNIQUE (folded_name, folded_owner)
) STRICT;

CREATE TABLE entries (
  entry         INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT NOT NULL UNIQUE,
  repo          INTEGER NOT NULL REFERENCES repos (repo),
  code          TEXT NOT NULL,
  type          TEXT NOT NULL CHECK (type IN ('code_fact', 'decision', 'mistake', 'pattern', 'task_archive')),
  title         TEXT NOT NULL,
  content       TEXT NOT NULL,
  importance    INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 5),
  agent         TEXT NOT NULL,
  role          TEXT NOT NULL,
  model         TEXT NOT NULL,
  branch        TEXT,
  folder        TEXT,
  language      TEXT,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  completed_at  TEXT,                        -- as the caller gave it
  used          INTEGER NOT NULL DEFAULT 0,  -- acknowledgements by kind
  irrelevant    INTEGER NOT NULL DEFAULT 0,
  contradictory INTEGER NOT NULL DEFAULT 0,
  last_used_at  INTEGER,
  expires_at    INTEGER,
  decayed_at    INTEGER,                     -- when disuse last cost it a point
  supersedes    TEXT,                        -- the id of the entry that it replaced
  status        TEXT NOT NULL CHECK (status IN ('active', 'archived')),
  is_global     INTEGER NOT NULL CHECK (is_global IN (0, 1)),
  tags          TEXT NOT NULL,
  metadata      TEXT NOT NULL,
  UNIQUE (repo, code)
) STRICT;

CREATE INDEX entries_recap ON entries (repo, importance DESC, created_at DESC)
  WHERE status = 'active' AND type <> 'task_archive';
CREATE INDEX entries_of_type ON entries (repo, type, importance DESC, created_at DESC)
  WHERE status = 'active';
CREATE INDEX entries_created ON entries (repo, status, created_at);
CREATE INDEX entries_expiring ON entries (expires_at) WHERE expires_at IS NOT NULL AND status = 'active';
CREATE INDEX entries_global ON entries (is_global) WHERE is_global = 1;

CREATE TABLE entry_tags (
  entry INTEGER NOT NULL REFERENCES entries (entry) ON DELETE CASCADE,
  tag   INTEGER NOT NULL,                    -- a number made from the folded tag
  PRIMARY KEY (tag, entry)
) STRICT, WITHOUT ROWID;

CREATE INDEX entry_tags_of_entry ON entry_tags (entry);

CREATE TABLE tasks (
  task             INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT NOT NULL UNIQUE,
  repo             INTEGER NOT NULL REFERENCES repos (repo),
  code             TEXT NOT NULL,
  phase            TEXT NOT NULL,
  title            TEXT NOT NULL,
  description      TEXT NOT NULL,
  status           TEXT NOT NULL
    CHECK (status IN ('backlog', 'pending', 'in_progress', 'completed', 'canceled', 'blocked')),
  priority         INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 5),
  agent            TEXT NOT NULL,
  role             TEXT NOT NULL,
  model            TEXT NOT NULL,
  doc_path         TEXT,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  in_progress_at   INTEGER,
  finished_at      INTEGER,
  canceled_at      INTEGER,
  est_tokens       INTEGER NOT NULL,
  commit_id        TEXT,
  changed_files    TEXT NOT NULL,
  tags             TEXT NOT NULL,
  suggested_skills TEXT NOT NULL,
  metadata         TEXT NOT NULL,
  parent           INTEGER REFERENCES tasks (task) ON DELETE SET NULL,
  depends_on       INTEGER REFERENCES tasks (task) ON DELETE SET NULL,
  UNIQUE (repo, code)
) STRICT;

CREATE INDEX tasks_by_priority ON tasks (repo, status, priority DESC, task);
CREATE INDEX tasks_by_update ON tasks (repo, status, updated_at DESC);
CREATE INDEX tasks_of_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_depending ON tasks (depends_on) WHERE depends_on IS NOT NULL;

CREATE TABLE comments (
  comment         INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  task            INTEGER NOT NULL REFERENCES tasks (task) ON DELETE CASCADE,
  text            TEXT NOT NULL,
  agent           TEXT NOT NULL,
  role            TEXT NOT NULL,
  model           TEXT NOT NULL,
  previous_status TEXT,
  next_status     TEXT,
  created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX comments_of_task ON comments (task);

-- Which issues of a tracker a task or its comments name ("#123").
CREATE TABLE task_issues (
  task  INTEGER NOT NULL REFERENCES tasks (task) ON DELETE CASCADE,
  issue INTEGER NOT NULL,
  PRIMARY KEY (task, issue)
) STRICT, WITHOUT ROWID;

CREATE INDEX task_issues_by_issue ON task_issues (issue, task);

CREATE TABLE claims (
  claim       INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT NOT NULL UNIQUE,
  repo        INTEGER NOT NULL REFERENCES repos (repo),
  task        INTEGER NOT NULL REFERENCES tasks (task) ON DELETE CASCADE,
  agent       TEXT NOT NULL,
  instance    TEXT NOT NULL,                 -- the server process that the agent spoke through
  role        TEXT NOT NULL,
  token       TEXT NOT NULL UNIQUE,          -- fencing: whoever holds it may write
  metadata    TEXT NOT NULL,
  claimed_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  released_at INTEGER,
  ended_by    TEXT CHECK (ended_by IN ('release', 'expiry', 'force', 'task'))
) STRICT;

-- One open claim a task: whoever comes second fails in the database itself.
CREATE UNIQUE INDEX claims_open ON claims (task) WHERE released_at IS NULL;
CREATE INDEX claims_of_repo ON claims (repo, claimed_at DESC);
CREATE INDEX claims_of_task ON claims (task);

CREATE TABLE handoffs (
  handoff    INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  repo       INTEGER NOT NULL REFERENCES repos (repo),
  from_agent TEXT NOT NULL,
  to_agent   TEXT,
  task       INTEGER REFERENCES tasks (task) ON DELETE SET NULL,
  summary    TEXT NOT NULL,
  context    TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('pending', 'accepted', 'rejected', 'expired')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;

CREATE INDEX handoffs_of_repo ON handoffs (repo, handoff DESC);
CREATE INDEX handoffs_pending ON handoffs (repo, handoff DESC) WHERE status = 'pending';
CREATE INDEX handoffs_of_task ON handoffs (task) WHERE task IS NOT NULL;

CREATE TABLE standards (
  standard   INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  repo       INTEGER NOT NULL REFERENCES repos (repo),
  code       TEXT NOT NULL,
  title      TEXT NOT NULL,
  content    TEXT NOT NULL,
  parent     INTEGER REFERENCES standards (standard) ON DELETE SET NULL,
  context    TEXT NOT NULL,
  version    TEXT NOT NULL,
  language   TEXT,
  stack      TEXT NOT NULL,
  is_global  INTEGER NOT NULL CHECK (is_global IN (0, 1)),
  tags       TEXT NOT NULL,
  metadata   TEXT NOT NULL,
  agent      TEXT NOT NULL,
  model      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (repo, code)
) STRICT;

CREATE INDEX standards_of_repo ON standards (repo, standard DESC);
CREATE INDEX standards_global ON standards (standard DESC) WHERE is_global = 1;
CREATE INDEX standards_of_parent ON standards (parent) WHERE parent IS NOT NULL;

CREATE TABLE summaries (
  repo       INTEGER PRIMARY KEY REFERENCES repos (repo),
  signals    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- What was changed, by whom, from what to what; one row a changed subject.
CREATE TABLE actions (
  action     INTEGER PRIMARY KEY AUTOINCREMENT,
  repo       INTEGER NOT NULL REFERENCES repos (repo),
  tool       TEXT NOT NULL,
  operation  TEXT NOT NULL,
  kind       TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  code       TEXT,
  agent      TEXT NOT NULL,
  before     TEXT,
  after      TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX actions_of_repo ON actions (repo, action DESC);
CREATE INDEX actions_of_subject ON actions (subject_id);
CREATE INDEX actions_by_age ON actions (created_at);

-- The graph: what texts name, and how subjects stand to each other.
CREATE TABLE entities (
  entity INTEGER PRIMARY KEY,
  repo   INTEGER NOT NULL REFERENCES repos (repo),
  key    INTEGER NOT NULL,                   -- a number made from the folded name
  name   TEXT NOT NULL,
  type   TEXT NOT NULL,
  UNIQUE (repo, key)
) STRICT;

CREATE TABLE mentions (
  entity  INTEGER NOT NULL REFERENCES entities (entity),
  kind    TEXT NOT NULL,
  subject INTEGER NOT NULL,
  PRIMARY KEY (kind, subject, entity)
) STRICT, WITHOUT ROWID;

CREATE INDEX mentions_of_entity ON mentions (entity, kind, subject);

CREATE TABLE links (
  kind        TEXT NOT NULL,
  subject     INTEGER NOT NULL,
  type        TEXT NOT NULL,
  to_kind     TEXT NOT NULL,
  to_subject  INTEGER NOT NULL,
  PRIMARY KEY (kind, subject, type, to_kind, to_subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_to ON links (to_kind, to_subject);

-- How many rows of a label a repository has, kept by the triggers below, so that no list counts.
CREATE TABLE tallies (
  repo  INTEGER NOT NULL REFERENCES repos (repo),
  kind  TEXT NOT NULL,
  label TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (repo, kind, label)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER entries_tally_insert AFTER INSERT ON entries BEGIN
  INSERT INTO tallies VALUES (new.repo, 'entry', new.status || '/' || new.type, 1)
  ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER entries_tally_delete AFTER DELETE ON entries BEGIN
  UPDATE tallies SET count = count - 1
  WHERE repo = old.repo AND kind = 'entry' AND label = old.status || '/' || old.type;
END;
CREATE TRIGGER entries_tally_update AFTER UPDATE OF status, type ON entries
WHEN old.status <> new.status OR old.type <> new.type BEGIN
  UPDATE tallies SET count = count - 1
  WHERE repo = old.repo AND kind = 'entry' AND label = old.status || '/' || old.type;
  INSERT INTO tallies VALUES (new.repo, 'entry', new.status || '/' || new.type, 1)
  ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER tasks_tally_insert AFTER INSERT ON tasks BEGIN
  INSERT INTO tallies VALUES (new.repo, 'task', new.status, 1)
  ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER tasks_tally_delete AFTER DELETE ON tasks BEGIN
  UPDATE tallies SET count = count - 1
  WHERE repo = old.repo AND kind = 'task' AND label = old.status;
END;
CREATE TRIGGER tasks_tally_update AFTER UPDATE OF status ON tasks WHEN old.status <> new.status BEGIN
  UPDATE tallies SET count = count - 1
  WHERE repo = old.repo AND kind = 'task' AND label = old.status;
  INSERT INTO tallies VALUES (new.repo, 'task', new.status, 1)
  ON CONFLICT DO UPDATE SET count = count + 1;
END;

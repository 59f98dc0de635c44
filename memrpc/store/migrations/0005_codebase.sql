-- The codebase index.  All times are microseconds since the epoch, UTC, but for a file's own stamps.
-- The id of a symbol, a reference or a link is its file's id shifted left by 18 bits, plus its place
-- in the file: so a file's rows lie together and go together, and need no column for the file.

CREATE TABLE code_repositories (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  owner       TEXT NOT NULL COLLATE NOCASE,
  name        TEXT NOT NULL COLLATE NOCASE,
  root        TEXT NOT NULL,              -- the folder of the last run
  indexed_at  INTEGER,                    -- NULL until a run has come to its end
  report      TEXT NOT NULL DEFAULT '{}', -- what the last run counted: a JSON object
  lease_token INTEGER NOT NULL DEFAULT 0, -- fencing: one more at each run
  lease_until INTEGER NOT NULL DEFAULT 0, -- no other run may begin before
  lease_owner TEXT,
  done        INTEGER NOT NULL DEFAULT 0, -- the present run's progress in files
  total       INTEGER NOT NULL DEFAULT 0,
  UNIQUE (owner, name)
) STRICT;

-- A run writes new versions of files as 'staged', which no reader sees, and switches all of them
-- to 'live' in one transaction; what they replace is 'dead' and swept away afterwards.
CREATE TABLE code_files (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  repository INTEGER NOT NULL REFERENCES code_repositories (id),
  path       TEXT NOT NULL,               -- below the root, with slashes
  state      TEXT NOT NULL CHECK (state IN ('staged', 'live', 'dead')),
  language   TEXT NOT NULL,
  hash       BLOB NOT NULL,               -- of the bytes on disk
  size       INTEGER NOT NULL,
  lines      INTEGER NOT NULL,
  mtime_ns   INTEGER NOT NULL,            -- 0 when the file changed too near to its reading
  ctime_ns   INTEGER NOT NULL,
  problem    TEXT,                        -- syntax, timeout, crash: what is known is a part
  indexed_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX code_files_live ON code_files (repository, path) WHERE state = 'live';
CREATE INDEX code_files_other ON code_files (repository) WHERE state <> 'live';

CREATE TABLE code_symbols (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  owner      TEXT,                        -- qualified name of what it stands in
  parent     INTEGER,                     -- its place in the file
  exported   INTEGER NOT NULL,
  is_default INTEGER NOT NULL,
  start_line INTEGER NOT NULL,
  start_col  INTEGER NOT NULL,
  end_line   INTEGER NOT NULL,
  end_col    INTEGER NOT NULL,
  name_line  INTEGER NOT NULL,
  name_col   INTEGER NOT NULL,
  signature  TEXT NOT NULL,
  doc        TEXT
) STRICT;

CREATE INDEX code_symbols_name ON code_symbols (name COLLATE NOCASE);

-- Uses of a name that differ in nothing but their places, in one row.
CREATE TABLE code_references (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL,
  kind      TEXT NOT NULL,
  is_member INTEGER NOT NULL,             -- taken from something with a dot
  caller    INTEGER,                      -- the place of the symbol around it
  local     INTEGER,                      -- the place of the symbol of this file that it means
  link      INTEGER,                      -- the place of the link that leads to what it means
  uses      INTEGER NOT NULL,
  spots     TEXT NOT NULL                 -- of each use its line and column: '3:5 8:9'
) STRICT;

CREATE INDEX code_references_name ON code_references (name);

CREATE TABLE code_links (
  id        INTEGER PRIMARY KEY,
  module    TEXT NOT NULL,
  name      TEXT NOT NULL,                -- '' for the module itself, '*' for all of it
  member    TEXT NOT NULL,
  alias     TEXT,
  line      INTEGER NOT NULL,
  reexports INTEGER NOT NULL,
  target    INTEGER                       -- a symbol; 0: outside the repository; NULL: not known
) STRICT;

CREATE INDEX code_links_target ON code_links (target) WHERE target > 0;

-- Names in parts, and what comments and signatures say.
CREATE VIRTUAL TABLE code_words USING fts5 (
  names, texts, tokenize = 'ascii', content = '', contentless_delete = 1, detail = column
);

-- Names by their runs of three characters: for parts of words and for misspelt ones.
CREATE VIRTUAL TABLE code_grams USING fts5 (
  name, tokenize = 'trigram', content = '', contentless_delete = 1, detail = none
);

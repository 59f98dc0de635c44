-- What was redacted from the workspace, by id and without a word of it: an import brings none back.

CREATE TABLE redactions (
  id          TEXT PRIMARY KEY,
  redacted_at INTEGER NOT NULL           -- microseconds since the epoch, UTC
) STRICT, WITHOUT ROWID;

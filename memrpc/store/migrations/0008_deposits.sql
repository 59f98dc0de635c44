-- Text left under a name for whoever comes back with it, in any process, until it expires.

CREATE TABLE deposits (
  name       TEXT PRIMARY KEY,  -- unguessable: knowing it is the right to read it
  version    INTEGER NOT NULL,  -- one more at each replacement
  body       TEXT NOT NULL,     -- never holds an event's text, because forgetting does not look here
  expires_at INTEGER NOT NULL   -- microseconds since the epoch, UTC
) STRICT, WITHOUT ROWID;

CREATE INDEX deposits_expiry ON deposits (expires_at);

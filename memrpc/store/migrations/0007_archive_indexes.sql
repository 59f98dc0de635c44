-- What recall and resume ask of large scopes: events up to a time, and memories by rank.

DROP INDEX memories_of_scope;
CREATE INDEX events_in_time ON events (scope, occurred_at);
CREATE INDEX memories_ranked ON memories (scope, confidence, valid_from);

-- What a unit does in a talk.  Rows from before say neither until they are indexed anew.

ALTER TABLE units ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;     -- it ends with a question
ALTER TABLE units ADD COLUMN answers INTEGER NOT NULL DEFAULT 0;  -- what was said before it did

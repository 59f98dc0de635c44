-- Whether a unit is of a text that is code.  Rows from before say no until they are indexed anew.

ALTER TABLE units ADD COLUMN is_code INTEGER NOT NULL DEFAULT 0;

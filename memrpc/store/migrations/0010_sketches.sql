-- A few numbers of each text that is looked for before it is written again; see recall/sketches.py.

CREATE TABLE sketches (
  mark    INTEGER NOT NULL,              -- what texts of one collection share that are nearly the same
  subject INTEGER NOT NULL,
  PRIMARY KEY (mark, subject)
) STRICT, WITHOUT ROWID;

-- The texts of an older file have no sketch yet: this mark, which no text has, says so.
INSERT INTO sketches (mark, subject)
SELECT -1, 0 WHERE EXISTS (SELECT 1 FROM units WHERE kind IN ('entry', 'standard'));

"""The store: one SQLite file, its lanes, its migrations, its queue and its log of changes."""

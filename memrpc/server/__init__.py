"""The anyio driver: obeys the session's decisions, runs handlers, owns the pipes."""

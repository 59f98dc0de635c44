"""The workspace's tools: each a table of modes, each mode one operation."""

"""Streamable HTTP on one side, stdio servers on the other: the official suite speaks HTTP only."""

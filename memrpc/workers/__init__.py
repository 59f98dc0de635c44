"""Durable work in the background: whatever the queue owes, one process at a time."""

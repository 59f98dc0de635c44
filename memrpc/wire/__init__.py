"""Bytes on one side, messages on the other: framing, JSON and the JSON-RPC 2.0 envelope."""

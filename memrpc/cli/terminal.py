"""What a verb shows: text for people, JSON for programs."""

from __future__ import annotations

import sys

from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON


def show(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def show_json(value: JSON) -> None:
    show(compact(value))


def show_error(text: str) -> None:
    sys.stderr.write(f"memrpc: {text}\n")

"""One of many processes that want the same task: claims it when told to, prints what it is told."""

from __future__ import annotations

import random
import sys
import time
import uuid
from pathlib import Path

from memrpc.store.database import Database
from memrpc.store.errors import DomainError
from memrpc.workspace import scope, working
from memrpc.workspace.claims import Wish
from memrpc.workspace.model import Act


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(path: str, agent: str) -> None:
    database = Database(Path(path), jitter=random.random)
    database.read_blocking(scope.everything)
    say("ready")
    sys.stdin.readline()

    def claim(db):
        act = Act("claim-manage", agent, agent, time.time_ns() // 1_000, lambda: str(uuid.uuid4()))
        return working.claim(db, scope.find(db, "acme", "harbor"), "TASK-001", Wish(), act)

    try:
        taken, _ = database.write_blocking(claim)
        say("won", taken.agent)
    except DomainError as refusal:
        say("lost", refusal.details["holder"], refusal.details["expires_at"])
    finally:
        database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Recall from ten thousand turns to a million: what the same questions cost; see ``recall``."""

from __future__ import annotations

from functools import partial

from . import chat_store
from .findings import Findings, Grid, Verdict, shown
from .inside import Inside
from .recall import ASKED, MOST_ROUNDS, ask, folder, known_chats, spread
from .recall_library import Library
from .rounds import Table, interleave

SMALL, LARGE = 10_000, 1_000_000
WAYS = {"words": "none", "default": chat_store.EMBEDDER}


def run(*, rounds: int) -> Findings:
    chats = known_chats()
    asked = chats.questions[:ASKED]
    table = Table()
    opened: list[Inside | Library] = []
    measures = {}
    for size in (SMALL, LARGE):
        path = chat_store.database(folder(), chats, size)
        library = Library(path)
        opened.append(library)
        measures[f"Q {size}"] = library.rank
        for way, embedder in WAYS.items():
            server = Inside(path, toolset="core", embedder=embedder)
            opened.append(server)
            ask(server, asked[0], search_mode="semantic")  # Loads the model.
            measures[f"{way} {size}"] = partial(ask, server)
    rounds = min(rounds, MOST_ROUNDS)
    interleave(table, measures, lambda key: spread(map(measures[key], asked)), rounds=rounds)
    for each in opened:
        each.close()
    return _findings(table, tuple(measures))


def _findings(table: Table, keys: tuple[str, ...]) -> Findings:
    rows = [
        [f"{way}, {int(size):,} turns", *(shown(table.median(key, p)) for p in ("p50", "p95"))]
        for key in keys
        for way, size in [key.split()]
    ]
    verdicts = [
        Verdict(
            f"recall p50 ({way}), a million turns to ten thousand",
            table.ratio("p50", f"{way} {LARGE}", f"{way} {SMALL}"),
            8.0,
            4.0,
        )
        for way in WAYS
    ]
    grids = [Grid("Figures", ("ms of CPU", "p50", "p95"), rows)]
    return Findings("recall_growth", "Recall as a store grows", grids, verdicts, table.samples)

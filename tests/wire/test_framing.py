"""Lines, cut at 0x0A and at nothing else."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memrpc.wire.framing import EDGE_BYTES, LineSplitter, Overlong

LINES = st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=12)


def cut(data: bytes, points: list[int]) -> list[bytes]:
    edges = [0, *sorted(p % (len(data) + 1) for p in points), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def split(chunks: list[bytes], limit: int = 1 << 20) -> list[object]:
    splitter = LineSplitter(limit)
    found = [line for chunk in chunks for line in splitter.feed(chunk)]
    return [*found, *splitter.finish()]


@given(LINES, st.lists(st.integers(0, 1000), max_size=20))
def test_the_lines_do_not_depend_on_where_the_stream_is_cut(lines, points):
    data = b"\n".join(lines)
    whole = [line.strip(b" \t\r") for line in lines]
    if whole:
        whole[0] = lines[0].removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")
    assert split(cut(data, points)) == [line for line in whole if line]


@given(LINES, st.lists(st.integers(0, 1000), max_size=20), st.integers(1, 20))
def test_a_line_above_the_limit_is_reported_once_wherever_it_is_cut(lines, points, limit):
    data = b"".join(line + b"\n" for line in lines)
    whole, pieces = (
        [None if isinstance(line, Overlong) else line for line in split(chunks, limit)]
        for chunks in ([data], cut(data, points))
    )
    assert pieces == whole
    expected = sum(len(line) > limit for line in lines)
    assert sum(isinstance(line, Overlong) for line in split([data], limit)) == expected


def test_only_a_line_feed_ends_a_line():
    text = '{"a":"\u2028\u2029\x85"}\r{"b":1}\x0b\x0c'.encode()
    assert split([text]) == [text]


def test_a_byte_order_mark_is_stripped_at_the_start_of_the_stream_only():
    bom = b"\xef\xbb\xbf"
    assert split([bom + b"a\n" + bom + b"b\n"]) == [b"a", bom + b"b"]
    assert split([b"\xef", b"\xbb", b"\xbfa\n"]) == [b"a"]


def test_a_skipped_line_holds_no_memory_and_the_next_one_is_served():
    splitter = LineSplitter(10)
    assert list(splitter.feed(b"x" * 100)) == []
    assert splitter.held_bytes == 0
    assert list(splitter.feed(b"y\nok\n")) == [Overlong(b"x" * 100, b"x" * 100 + b"y"), b"ok"]


@given(st.binary(max_size=600), st.lists(st.integers(0, 1000), max_size=20))
def test_a_skipped_line_shows_its_two_ends_wherever_it_is_cut(data, points):
    line = data.replace(b"\n", b"") + b"x" * (EDGE_BYTES + 1)
    ends = Overlong(line[:EDGE_BYTES], line[-EDGE_BYTES:])
    assert split(cut(line, points), EDGE_BYTES) == [ends]


def test_a_line_of_exactly_the_limit_is_served():
    longer = b"x" * 11
    found = split([b"x" * 10 + b"\n" + longer + b"\n"], 10)
    assert found == [b"x" * 10, Overlong(longer, longer)]

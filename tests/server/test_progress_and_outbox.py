"""What waits to leave: progress that is paced, lines that are gathered."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memrpc.server.outbox import BLOCK_BYTES, DROP_NOTIFICATIONS_ABOVE_BYTES, Outbox
from memrpc.server.progress import BURST, Progress
from tests.loopback import Clock

_LONG = None  # stands for a line of more than a block, which a report had better not print


def reporter() -> tuple[Progress, list[dict], Clock]:
    sent: list[dict] = []
    clock = Clock()
    return Progress("t", sent.append, clock), sent, clock


@given(st.lists(st.tuples(st.floats(), st.floats(0, 0.2)), max_size=80))
def test_progress_rises_is_finite_and_ends_with_the_highest(reports):
    progress, sent, clock = reporter()
    for value, wait_s in reports:
        clock.now_s += wait_s
        progress.report(value, value, None)
    progress.flush()
    values = [params["progress"] for params in sent]
    assert values == sorted(set(values))
    finite = [value for value, _ in reports if float("-inf") < value < float("inf")]
    assert values[-1:] == sorted(finite)[-1:]


def test_a_burst_goes_out_at_once_and_then_at_the_rate():
    progress, sent, clock = reporter()
    for value in range(1000):
        progress.report(value, None, None)
    assert len(sent) == BURST
    clock.now_s += 1.0
    for value in range(1000, 1100):
        progress.report(value, None, None)
    assert len(sent) == BURST + 20
    progress.flush()
    assert sent[-1] == {"progressToken": "t", "progress": 1099}


def test_a_slow_stream_is_never_thinned():
    progress, sent, clock = reporter()
    for value in range(200):
        clock.now_s += 0.05
        progress.report(value, 200, "m")
    assert len(sent) == 200


@settings(deadline=None)
@given(
    st.lists(st.binary(min_size=1, max_size=50) | st.just(_LONG), max_size=30),
    st.lists(st.integers(1, BLOCK_BYTES), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1, max_size=60),
)
def test_bytes_leave_in_order_whatever_the_peer_takes(lines, takes, turns):
    outbox, left = Outbox(), b""
    lines = [b"x" * (BLOCK_BYTES + 1) if line is _LONG else line for line in lines]
    pending = list(lines)
    for n in range(4000):
        if pending and turns[n % len(turns)]:
            outbox.put(pending.pop(0))
        elif block := bytes(outbox.peek()[: takes[n % len(takes)]]):
            outbox.written(len(block))
            left += block
        assert outbox.size_bytes == sum(map(len, lines)) - sum(map(len, pending)) - len(left)
        if not pending and not outbox.size_bytes:
            break
        if n > 200:  # Enough of small bites: let it all go.
            takes = [BLOCK_BYTES * 2]
            turns = [True, False]
    assert left == b"".join(lines)
    assert not outbox.peek()


def test_it_is_crowded_only_above_its_limit():
    outbox = Outbox()
    outbox.put(b"x" * DROP_NOTIFICATIONS_ABOVE_BYTES)
    assert not outbox.is_crowded
    outbox.put(b"x")
    assert outbox.is_crowded

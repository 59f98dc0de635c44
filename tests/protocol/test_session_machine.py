"""Any interleaving of requests, cancels, answers, batches and eras, against a model of the ledger.

The model knows one rule: a request is open from its arrival until it is settled or cancelled, it
is answered at most once, and an id is one request at a time.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memrpc.protocol.calls import Cancel, Dispatch, Ignore, Notice, Reply, Resolve
from memrpc.protocol.revisions import Era
from memrpc.protocol.session import Phase, Session
from memrpc.wire.errors import ErrorCode
from memrpc.wire.messages import Error, Malformed, Notification, Request, Response
from tests.peer import envelope

IDS = st.sampled_from([1, 2, "1", "2", 0, ""])
METHODS = st.sampled_from(["tools/list", "tools/call", "nope", "ping", "server/discover"])
HANDSHAKES = st.sampled_from(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2099-01-01"])


def key(id_) -> tuple[type, object]:
    return (type(id_), id_)


class SessionMachine(RuleBasedStateMachine):
    """Drives a session and says after each step which calls must be open."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session({"tools": {}})
        self.open: dict[tuple[type, object], object] = {}
        self.settled: list[object] = []
        self.version: str | None = None
        self.asked: list[str] = []

    def arrive(self, request: Request, receive) -> None:
        decision = receive(request)
        if key(request.id) in self.open:
            assert isinstance(decision, Reply)
            assert decision.response.id is None
            assert decision.response.error.code == ErrorCode.INVALID_REQUEST
        elif isinstance(decision, Dispatch):
            assert decision.call.id == request.id
            self.open[key(request.id)] = decision.call
        else:
            assert isinstance(decision, Reply)
            assert key(decision.response.id) == key(request.id)

    @rule(id_=IDS, method=METHODS)
    def request_of_the_session(self, id_, method):
        before = dict(self.open)
        self.arrive(Request(id_, method, {}), self.session.receive)
        new = [call for k, call in self.open.items() if k not in before]
        for call in new:
            assert call.revision.era is Era.HANDSHAKE
            assert method == "ping" or call.revision.version == self.version

    @rule(id_=IDS, method=METHODS)
    def request_with_an_envelope(self, id_, method):
        before = dict(self.open)
        self.arrive(Request(id_, method, {"_meta": envelope()}), self.session.receive)
        for k, call in self.open.items():
            assert k in before or call.revision.era is Era.ENVELOPE

    @rule(id_=IDS, asked=HANDSHAKES)
    def initialize(self, id_, asked):
        was_free = key(id_) not in self.open
        self.arrive(Request(id_, "initialize", {"protocolVersion": asked}), self.session.receive)
        if was_free:
            self.version = "2025-11-25" if asked == "2099-01-01" else asked
            assert self.session.phase is Phase.INITIALIZING
            assert self.open[key(id_)].revision.version == self.version

    @rule(id_=IDS, method=METHODS)
    def request_in_a_batch(self, id_, method):
        if self.session.accepts_batches:
            self.arrive(Request(id_, method, {}), self.session.receive_in_batch)

    @rule(id_=IDS)
    def initialize_in_a_batch(self, id_):
        phase = self.session.phase
        request = Request(id_, "initialize", {"protocolVersion": "2025-03-26"})
        decision = self.session.receive_in_batch(request)
        assert isinstance(decision, Reply)
        assert self.session.phase is phase

    @rule()
    def initialized(self):
        before = self.session.phase
        decision = self.session.receive(Notification("notifications/initialized", {}))
        assert isinstance(decision, Ignore if self.version is None else Notice)
        if before is Phase.INITIALIZING:
            assert self.session.phase is Phase.OPERATING

    @rule(id_=IDS | st.sampled_from([True, None, 1.0]))
    def cancel(self, id_):
        decision = self.session.receive(Notification("notifications/cancelled", {"requestId": id_}))
        call = self.open.pop(key(id_), None)
        assert isinstance(decision, Ignore if call is None else Cancel)
        if call is not None:
            assert decision.call is call
            assert not self.session.settle(call)
            self.settled.append(call)

    @rule(data=st.data())
    def settle(self, data):
        if self.open:
            k = data.draw(st.sampled_from(list(self.open)))
            call = self.open.pop(k)
            assert self.session.settle(call)
            self.settled.append(call)

    @rule()
    def settle_again(self):
        for call in self.settled:
            assert not self.session.settle(call)
            assert not self.session.is_open(call)

    @rule(id_=IDS)
    def malformed(self, id_):
        decision = self.session.receive(Malformed(id_, Error(-32600, "x")))
        assert isinstance(decision, Reply)
        expected = None if key(id_) in self.open else id_
        assert decision.response.id == expected

    @rule()
    def ask(self):
        self.asked.append(self.session.outbound.open())

    @rule(data=st.data())
    def answer(self, data):
        id_ = data.draw(st.sampled_from([*self.asked, "srv-999", 1, "1"]))
        decision = self.session.receive(Response(id_, {}))
        if id_ in self.asked:
            assert decision == Resolve(id_, Response(id_, {}))
            self.asked.remove(id_)
        else:
            assert isinstance(decision, Ignore)

    @invariant()
    def the_ledger_is_the_model(self):
        assert self.session.in_flight == self.open
        assert all(self.session.is_open(call) for call in self.open.values())


TestSessionMachine = SessionMachine.TestCase
TestSessionMachine.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)

"""Ask the client of the handshake session, and wait for its answer, its refusal or the time-out.

Source: 2024-11-05 to 2025-11-25, Client Features, and Lifecycle, Timeouts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.protocol.asks import Ask
from memrpc.protocol.session import Phase, Session
from memrpc.server.faults import Refusal, RefusedError
from memrpc.wire.messages import JSONObject, Notification, Outbound, Request, Response

if TYPE_CHECKING:
    import anyio

MAX_REASON_CHARS: Final = 500


@dataclass(slots=True, eq=False)
class _Slot:
    answered: anyio.Event
    is_sent: bool = False
    response: Response | None = None


class Asking:
    """Requests of ours in flight; ``send`` takes what may leave at once."""

    def __init__(self, session: Session, send: Callable[[Outbound], None]) -> None:
        self._session = session
        self._send = send
        self._slots: dict[str, _Slot] = {}
        self._held: list[anyio.Event] = []

    async def request(self, ask: Ask, params: JSONObject) -> JSONObject:
        """The client's result.

        Raises ``RefusedError`` if it refuses or does not answer within ``ask.timeout_s``.  When
        the waiting call is cancelled, the client is told to stop as well.
        """
        import anyio

        id_ = self._session.outbound.open()
        slot = self._slots[id_] = _Slot(anyio.Event())
        try:
            with anyio.fail_after(ask.timeout_s):
                await self._until_operating()
                self._send(Request(id_, ask.method, params))
                slot.is_sent = True
                await slot.answered.wait()
        except TimeoutError as error:
            raise RefusedError(_no_answer(ask)) from error
        finally:
            self._abandon(id_)
        return _result(ask, slot.response)

    async def _until_operating(self) -> None:
        """No request may precede ``initialized``."""
        import anyio

        if self._session.phase is Phase.OPERATING:
            return
        event = anyio.Event()
        self._held.append(event)
        await event.wait()

    def operate(self) -> None:
        """The handshake is complete."""
        for event in self._held:
            event.set()
        self._held.clear()

    def resolve(self, id_: str, response: Response) -> None:
        """The client's answer has come."""
        slot = self._slots.get(id_)
        if slot is not None:
            slot.response = response
            slot.answered.set()

    def _abandon(self, id_: str) -> None:
        slot = self._slots.pop(id_)
        if self._session.outbound.close(id_) and slot.is_sent:
            params = {"requestId": id_, "reason": "no longer needed"}
            self._send(Notification("notifications/cancelled", params))


def _no_answer(ask: Ask) -> Refusal:
    message = f"The client did not answer {ask.method} within {ask.timeout_s:g} seconds"
    return Refusal("unavailable", message, retryable=True)


def _result(ask: Ask, response: Response | None) -> JSONObject:
    if response is not None and response.result is not None:
        return response.result
    reason = response.error.message if response is not None and response.error else "no reason"
    told = f"The client refused {ask.method}: {reason[:MAX_REASON_CHARS]}"
    raise RefusedError(Refusal("unavailable", told))

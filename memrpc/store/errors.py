"""The kinds of refusal: what the memory stack raises when the call was right and the world says no.

A message is written for the caller: it names the field and the limit and says what to send
instead.  It never shows a byte of what another scope remembers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from memrpc.store.json_column import JSON


class DomainError(Exception):
    """A refusal with a stable code, a sentence for the caller and values for a program."""

    code: ClassVar[str]
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: JSON) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class InvalidArguments(DomainError):
    """An argument is wrong in type, length, range, zone or combination."""

    code = "invalid_arguments"


class NotFound(DomainError):
    """No such record in this scope; a record of another scope looks the same."""

    code = "not_found"


class Conflict(DomainError):
    """The key is taken by something else, or another writer was first."""

    code = "conflict"


class InvalidState(DomainError):
    """The record exists and is not in a state that allows this."""

    code = "invalid_state"


class LimitExceeded(DomainError):
    """More than a stated limit allows."""

    code = "limit_exceeded"


class Forbidden(DomainError):
    """Reserved for the user's own command line."""

    code = "forbidden"


class Unavailable(DomainError):
    """Something outside is in the way for now: a lock, an endpoint. Try again."""

    code = "unavailable"
    retryable = True


class Unusable(Unavailable):
    """The same code, but trying again is no use until a person has acted on the file."""

    retryable = False


class NotSupported(DomainError):
    """Beyond what this build, client or configuration can do."""

    code = "not_supported"

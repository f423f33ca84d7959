"""The errors of this library: `PerchError` and its kinds."""

import enum
from typing import Dict, Mapping, Optional

from ._generated.reasons import RETRY


class Code(enum.IntEnum):
    """gRPC's status codes: the kind of an error."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class PerchError(Exception):
    """What a call or a stream ends with. Each one is a `TransientError` or a `FinalError`.

    `str(error)` is safe to log: it has no account, token or credentials.
    """

    def __init__(
        self,
        code: Code,
        reason: str,
        message: str,
        *,
        details: Optional[Mapping[str, str]] = None,
        may_have_happened: bool = False,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """The kind, as gRPC numbers it."""
        self.reason = reason
        """For programs: one of `perch.Reason`, or of this library's own reasons in `perch.LocalReason`."""
        self.message = message
        """For people: what happened, the value found, the limit, the next step."""
        self.details: Dict[str, str] = dict(details or {})
        """The numbers of the message, and the field, for programs."""
        self.may_have_happened = may_have_happened
        """Whether the change that was asked for may have happened, because its answer was lost."""
        self.retry_after = retry_after
        """Seconds after which the server wants to be asked again; None where it did not say."""

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later by itself."""
        return isinstance(self, TransientError)

    def __str__(self) -> str:
        doubt = " (what was asked for may have happened)" if self.may_have_happened else ""
        return f"{self.code.name} {self.reason}: {self.message}{doubt}"


class TransientError(PerchError):
    """The same request may succeed later. Calls that are safe to repeat were repeated before you see it."""


class DeadlineExceeded(TransientError, TimeoutError):
    """The time of the call has passed."""


class FinalError(PerchError):
    """The same request gets the same answer, until the request, the credentials or a setting change."""


class CredentialsError(FinalError):
    """The server refuses the credentials. It takes others."""


class TokenError(FinalError):
    """The server refuses a resume token, a cursor or a page token: begin without it."""


class Closed(FinalError):
    """The client was closed."""


class LocalReason:
    """The reasons of errors that come from this library, not from the server."""

    CONNECT_FAILED = "CONNECT_FAILED"
    """No connection could be made."""
    TLS_FAILED = "TLS_FAILED"
    """The server's certificate is not trusted, or it does not speak TLS."""
    CONNECTION_LOST = "CONNECTION_LOST"
    """The connection ended before the answer."""
    CONNECTION_SILENT = "CONNECTION_SILENT"
    """Nothing came for two and a half heartbeats."""
    PROTOCOL_BREACH = "PROTOCOL_BREACH"
    """The peer is no Perch server, or sent what the contract does not allow."""
    HTTP_STATUS = "HTTP_STATUS"
    """Something before the server, such as a proxy, answered with a status of HTTP."""
    AUTHORIZATION_UNREADABLE = "AUTHORIZATION_UNREADABLE"
    """The credentials cannot be read."""
    CLOSED = "CLOSED"
    """The client was closed."""
    ENTITLEMENT_UNKNOWN = "ENTITLEMENT_UNKNOWN"
    """The app has no entitlement of this name."""
    COPY_NOT_READY = "COPY_NOT_READY"
    """The copy is not complete yet."""
    ALIAS_IN_SHARD = "ALIAS_IN_SHARD"
    """A copy of one shard was asked by an alias."""
    OTHER_SHARD = "OTHER_SHARD"
    """The account is in another shard than the copy."""


_TRANSIENT_CODES = {
    Code.UNAVAILABLE,
    Code.INTERNAL,
    Code.UNKNOWN,
    Code.RESOURCE_EXHAUSTED,
    Code.ABORTED,
    Code.DEADLINE_EXCEEDED,
}
_KINDS = {"YES": TransientError, "CREDENTIALS": CredentialsError, "TOKEN": TokenError, "NO": FinalError}


def server_error(
    code: Code, reason: str, message: str, details: Mapping[str, str], retry_after: Optional[float]
) -> PerchError:
    """The error for a status of the server.

    The column Retry of the contract decides its kind. `RetryInfo` and the code decide that of an
    unknown reason.
    """
    if reason in RETRY:
        kind = _KINDS[RETRY[reason]]
    elif retry_after is not None:
        kind = TransientError
    elif code == Code.UNAUTHENTICATED:
        kind = CredentialsError
    else:
        kind = TransientError if code in _TRANSIENT_CODES else FinalError
    if kind is TransientError and code == Code.DEADLINE_EXCEEDED:
        kind = DeadlineExceeded
    return kind(code, reason, message, details=details, retry_after=retry_after)


def lost(message: str, reason: str = LocalReason.CONNECTION_LOST) -> TransientError:
    return TransientError(Code.UNAVAILABLE, reason, message)


def breach(message: str) -> FinalError:
    return FinalError(Code.INTERNAL, LocalReason.PROTOCOL_BREACH, message)


def late(message: str) -> DeadlineExceeded:
    return DeadlineExceeded(Code.DEADLINE_EXCEEDED, "DEADLINE", message)

"""The messages of the package perch.wire.v1.

Generated from proto/ by `make proto`. Do not edit: change the contract or proto/generator/python.py.
"""
# flake8: noqa
from __future__ import annotations

from typing import List, Optional, Sequence

from .._codec import Enumeration, Message


class Encoding(Enumeration):
    """Encodings of a message."""

    UNSPECIFIED = 0
    """Unspecified; treated as identity."""

    IDENTITY = 1
    """Bytes as they are."""

    ZLIB = 2
    """zlib, RFC 1950."""


class Hello(Message):
    """Kind 1. The first frame of a client, never compressed, at most 16 KiB."""

    __slots__ = ("protocol_version", "authorization", "client_name", "accepts", "heartbeat_seconds", "client_id")
    _fields = (
        (1, "protocol_version", "uint32", False, None),
        (2, "authorization", "string", False, None),
        (3, "client_name", "string", False, None),
        (4, "accepts", "Encoding", True, None),
        (5, "heartbeat_seconds", "uint32", False, None),
        (6, "client_id", "bytes", False, None),
    )

    protocol_version: int
    """The version of this protocol that the client speaks: 1."""

    authorization: str
    """Credentials of the connection, in the form of the HTTP header of that name; empty for none."""

    client_name: str
    """Name and version of the client program, for the server's logs."""

    accepts: List[Encoding]
    """Encodings that the client can read. Identity is always understood and need not be listed."""

    heartbeat_seconds: int
    """Requested seconds between heartbeats: 10 to 600; 0 for the server's default of 30."""

    client_id: bytes
    """Up to 32 bytes that identify this client across its connections. Events caused by its own calls carry it as their
    origin, so that the client can skip them. Empty for none.
    """

    def __init__(
            self, *, protocol_version: int = 0, authorization: str = "", client_name: str = "",
            accepts: Sequence[Encoding] = (), heartbeat_seconds: int = 0, client_id: bytes = b"",
    ) -> None:
        self.protocol_version = protocol_version
        self.authorization = authorization
        self.client_name = client_name
        self.accepts = list(accepts)
        self.heartbeat_seconds = heartbeat_seconds
        self.client_id = client_id


class Limits(Message):
    """The limits that this server enforces."""

    __slots__ = ("frame_bytes", "request_bytes", "catalog_request_bytes", "calls_per_connection", "write_stall_ms")
    _fields = (
        (1, "frame_bytes", "uint32", False, None),
        (2, "request_bytes", "uint32", False, None),
        (3, "catalog_request_bytes", "uint32", False, None),
        (4, "calls_per_connection", "uint32", False, None),
        (5, "write_stall_ms", "uint32", False, None),
    )

    frame_bytes: int
    """Longest message, in bytes, compressed or inflated."""

    request_bytes: int
    """Longest request of an ordinary method, in bytes."""

    catalog_request_bytes: int
    """Longest request of the catalogue methods, in bytes."""

    calls_per_connection: int
    """Calls that may be live on one connection."""

    write_stall_ms: int
    """Milliseconds after which the server closes a connection that reads nothing while data waits for it."""

    def __init__(
            self, *, frame_bytes: int = 0, request_bytes: int = 0, catalog_request_bytes: int = 0,
            calls_per_connection: int = 0, write_stall_ms: int = 0,
    ) -> None:
        self.frame_bytes = frame_bytes
        self.request_bytes = request_bytes
        self.catalog_request_bytes = catalog_request_bytes
        self.calls_per_connection = calls_per_connection
        self.write_stall_ms = write_stall_ms


class Welcome(Message):
    """Kind 2. The server's answer to Hello."""

    __slots__ = (
            "server_version", "store_id", "epoch", "revision", "limits", "heartbeat_seconds", "accepts",
            "server_time_ms",
    )
    _fields = (
        (1, "server_version", "string", False, None),
        (2, "store_id", "bytes", False, None),
        (3, "epoch", "uint32", False, None),
        (4, "revision", "uint64", False, None),
        (5, "limits", "Limits", False, None),
        (6, "heartbeat_seconds", "uint32", False, None),
        (7, "accepts", "Encoding", True, None),
        (8, "server_time_ms", "int64", False, None),
    )

    server_version: str
    """Version of the server program."""

    store_id: bytes
    """Identity of the store behind this server: 16 bytes."""

    epoch: int
    """Changes with each restore of the store from a backup. Tokens of another epoch are refused."""

    revision: int
    """The revision at which this connection starts."""

    limits: Optional[Limits]
    """The limits in force."""

    heartbeat_seconds: int
    """Seconds between heartbeats on this connection."""

    accepts: List[Encoding]
    """Encodings that the server can read."""

    server_time_ms: int
    """The server's wall clock, in milliseconds since the Unix epoch."""

    def __init__(
            self, *, server_version: str = "", store_id: bytes = b"", epoch: int = 0, revision: int = 0,
            limits: Optional[Limits] = None, heartbeat_seconds: int = 0, accepts: Sequence[Encoding] = (),
            server_time_ms: int = 0,
    ) -> None:
        self.server_version = server_version
        self.store_id = store_id
        self.epoch = epoch
        self.revision = revision
        self.limits = limits
        self.heartbeat_seconds = heartbeat_seconds
        self.accepts = list(accepts)
        self.server_time_ms = server_time_ms


class Metadata(Message):
    """One entry of call metadata."""

    __slots__ = ("key", "value")
    _fields = (
        (1, "key", "string", False, None),
        (2, "value", "bytes", False, None),
    )

    key: str
    """Lower-case name, as in gRPC."""

    value: bytes
    """Value."""

    def __init__(self, *, key: str = "", value: bytes = b"") -> None:
        self.key = key
        self.value = value


class Call(Message):
    """Kind 3. Opens a call on a free stream number."""

    __slots__ = ("method", "timeout_ms", "metadata", "request")
    _fields = (
        (1, "method", "string", False, None),
        (2, "timeout_ms", "uint64", False, None),
        (3, "metadata", "Metadata", True, None),
        (4, "request", "bytes", False, None),
    )

    method: str
    """`/package.Service/Method`, as in gRPC."""

    timeout_ms: int
    """Milliseconds after which the call ends with DEADLINE_EXCEEDED; 0 for no deadline."""

    metadata: List[Metadata]
    """Call metadata; `authorization` overrides the connection's credentials for this call."""

    request: bytes
    """The method's request message, serialized."""

    def __init__(
            self, *, method: str = "", timeout_ms: int = 0, metadata: Sequence[Metadata] = (), request: bytes = b"",
    ) -> None:
        self.method = method
        self.timeout_ms = timeout_ms
        self.metadata = list(metadata)
        self.request = request


class StatusDetail(Message):
    """One named value of a status: a limit, the value found, the setting that changes it."""

    __slots__ = ("key", "value")
    _fields = (
        (1, "key", "string", False, None),
        (2, "value", "string", False, None),
    )

    key: str
    """Name, such as `limit`, `found`, `setting`, `field`. `README.md` lists them all."""

    value: str
    """Value, as text."""

    def __init__(self, *, key: str = "", value: str = "") -> None:
        self.key = key
        self.value = value


class Status(Message):
    """Kind 5. Ends a call."""

    __slots__ = ("code", "message", "reason", "details")
    _fields = (
        (1, "code", "int32", False, None),
        (2, "message", "string", False, None),
        (3, "reason", "string", False, None),
        (4, "details", "StatusDetail", True, None),
    )

    code: int
    """A gRPC status code: 0 is OK."""

    message: str
    """A text for users: what happened, with the numbers, and the next step."""

    reason: str
    """The reason code, from the table in proto/README.md, such as `FRAME_TOO_LONG`; empty with OK."""

    details: List[StatusDetail]
    """The numbers of `message`, for programs."""

    def __init__(
            self, *, code: int = 0, message: str = "", reason: str = "", details: Sequence[StatusDetail] = (),
    ) -> None:
        self.code = code
        self.message = message
        self.reason = reason
        self.details = list(details)


class Beat(Message):
    """Kind 7. The heartbeat, and the end of a group of values that changed together."""

    __slots__ = ("revision", "server_time_ms")
    _fields = (
        (1, "revision", "uint64", False, None),
        (2, "server_time_ms", "int64", False, None),
    )

    revision: int
    """The server has sent everything up to this revision that concerns the open watches of this connection. It does not rise
    while a watch of the connection is in failure: the BEAT then ends a group, and shows that the connection lives.
    """

    server_time_ms: int
    """The server's wall clock, in milliseconds since the Unix epoch."""

    def __init__(self, *, revision: int = 0, server_time_ms: int = 0) -> None:
        self.revision = revision
        self.server_time_ms = server_time_ms


class Drain(Message):
    """Kind 10. The server is about to stop, or to close this connection."""

    __slots__ = ("reason", "message", "reconnect_after_ms", "jitter_ms", "final", "details")
    _fields = (
        (1, "reason", "string", False, None),
        (2, "message", "string", False, None),
        (3, "reconnect_after_ms", "uint32", False, None),
        (4, "jitter_ms", "uint32", False, None),
        (5, "final", "bool", False, None),
        (6, "details", "StatusDetail", True, None),
    )

    reason: str
    """The reason code, from the table in proto/README.md, such as `SHUTTING_DOWN`."""

    message: str
    """A text for users: what happened, with the numbers, and the next step."""

    reconnect_after_ms: int
    """Minimum milliseconds before the client reconnects."""

    jitter_ms: int
    """Maximum milliseconds of a random time to add."""

    final: bool
    """True: the connection closes now. False: each call continues until its status."""

    details: List[StatusDetail]
    """The numbers of `message`, for programs."""

    def __init__(
            self, *, reason: str = "", message: str = "", reconnect_after_ms: int = 0, jitter_ms: int = 0,
            final: bool = False, details: Sequence[StatusDetail] = (),
    ) -> None:
        self.reason = reason
        self.message = message
        self.reconnect_after_ms = reconnect_after_ms
        self.jitter_ms = jitter_ms
        self.final = final
        self.details = list(details)


__all__ = ("Beat", "Call", "Drain", "Encoding", "Hello", "Limits", "Metadata", "Status", "StatusDetail", "Welcome")

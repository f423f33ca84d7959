"""A client of Perch, the service for entitlements of in-app purchases.

    client = perch.connect("http://127.0.0.1:7447")
    client.has("alice", "plus")
    for state in client.watch.entitlements("alice"):
        print(state.value)

`perch.v1` has the messages of the contract, `perch.aio` the same client for asyncio, `perch.testing` doubles for tests.
"""

import datetime as _datetime
import pkgutil as _pkgutil

# What protoc generates from the contract is `perch/v1/*_pb2.py`: a process may use both.
__path__ = _pkgutil.extend_path(__path__, __name__)

from . import v1
from ._codec import DecodeError
from ._copying import Copy
from ._entries import Entitlement, shard_of
from ._generated.reasons import Reason
from ._streams import State
from ._watching import Events, Listener, Together, Watch
from .client import Client, connect
from .credentials import Token, TokenFile, TokenSource
from .errors import (
    Closed,
    Code,
    CredentialsError,
    DeadlineExceeded,
    FinalError,
    LocalReason,
    PerchError,
    TokenError,
    TransientError,
)

__version__ = "0.1.0"


def to_datetime(milliseconds: int) -> _datetime.datetime:
    """The instant of a field that ends in `_ms`, in UTC."""
    return _datetime.datetime(1970, 1, 1, tzinfo=_datetime.timezone.utc) + _datetime.timedelta(
        milliseconds=milliseconds
    )


def to_ms(instant: _datetime.datetime) -> int:
    """An instant for a field that ends in `_ms`. It needs a time zone."""
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no time zone, so it is not one instant: use datetime.timezone.utc")
    return (instant - _datetime.datetime(1970, 1, 1, tzinfo=_datetime.timezone.utc)) // _datetime.timedelta(
        milliseconds=1
    )


__all__ = [
    "Client",
    "Closed",
    "Code",
    "Copy",
    "CredentialsError",
    "DeadlineExceeded",
    "DecodeError",
    "Entitlement",
    "Events",
    "FinalError",
    "Listener",
    "LocalReason",
    "PerchError",
    "Reason",
    "State",
    "Together",
    "Token",
    "TokenError",
    "TokenFile",
    "TokenSource",
    "TransientError",
    "Watch",
    "connect",
    "shard_of",
    "to_datetime",
    "to_ms",
    "v1",
]

"""The client for threads."""

import os
import ssl
import weakref
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

from . import v1
from ._copying import Copy
from ._core import Core
from ._entries import unknown_name
from ._generated.calls import WATCH, Calls, EventStreams, Watches
from ._io import BlockingIO, run
from ._method import Method, named_app
from ._streams import EventStream, TogetherStream, WatchStream
from ._watching import Events, Together, Watch
from .credentials import Credentials
from .errors import Code, server_error


class _Calls(Calls):
    def __init__(self, core: Core) -> None:
        self._core = core

    def _call(self, method: Method, request: Any, timeout: Optional[float]) -> Any:
        return run(self._core.call(method, request, timeout))


class ClientWatches(Watches):
    def __init__(self, core: Core) -> None:
        self._core = core

    def _watch(self, method: Method, request: Any, fail_after: Optional[float]) -> Any:
        return Watch(WatchStream(self._core, method, request, fail_after))

    def together(self, requests: Mapping[str, Any], *, fail_after: Optional[float] = None) -> Together:
        """Several streams of state on one connection, whose values agree: no entitlement without its subscription.

        `requests` has the requests of their methods by names of your choice, such as `{"plus":
        v1.SubscriptionStatusTaskRequest(account="alice", group_id="plus")}`; 256 at most.
        """
        return Together(TogetherStream(self._core, WATCH, requests, fail_after))


class Client(EventStreams):
    """A server of Perch, as one application sees it. Any thread may use it; `close` ends all that it has open.

    A call uses a connection of a small pool. A stream has a connection of its own, which the iterating thread reads.
    The client starts no thread, except those of `listen` and of copies.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self.call: Calls = _Calls(core)
        """Every method that answers once."""
        self.watch: ClientWatches = ClientWatches(core)
        """Every stream of state."""
        self._copies: "weakref.WeakSet[Copy]" = weakref.WeakSet()

    def _events(self, method: Method, request: Any, progress: bool, fail_after: Optional[float]) -> Any:
        return Events(EventStream(self._core, method, request, progress, fail_after))

    def has(
        self,
        account: str,
        name: str,
        *,
        app: Union[v1.AppRef, str, None] = None,
        at_least: Optional[v1.Position] = None,
        timeout: Optional[float] = None,
    ) -> bool:
        """Whether the account has the named entitlement now. A name that the app does not have is a FinalError."""
        return active(self.call.get_entitlements(app=app, account=account, at_least=at_least, timeout=timeout), name)

    def copy(
        self,
        *,
        app: Union[v1.AppRef, str, None] = None,
        file: Union[str, "os.PathLike[str]", None] = None,
        names: Sequence[str] = (),
        shard: Optional[Tuple[int, int]] = None,
        deny_after: Optional[float] = None,
    ) -> Copy:
        """A copy of every entitlement of an app in this process: `has` is then a look into a dictionary.

        `file`: where the copy survives a restart, also one while the server is away. One process writes it.
        `names`: only these entitlements; without them all.
        `shard`: only the accounts of this part: `(0, 8)` is the first of eight (`perch.shard_of`).
        `deny_after`: seconds without a word of the server after which `has` answers False; without it the copy goes on.
        """
        copy = Copy(self._core, app, file, names, shard, deny_after)
        self._copies.add(copy)
        return copy

    def close(self) -> None:
        """Closes every connection. Streams and calls of other threads end with `Closed`. Waits for copies' files."""
        self._core.close()
        for copy in list(self._copies):
            copy.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def connect(
    url: str,
    *,
    credentials: Credentials = None,
    app: Union[v1.AppRef, str, None] = None,
    timeout: float = 30.0,
    attempts: int = 6,
    ssl_context: Optional[ssl.SSLContext] = None,
    client_id: bytes = b"",
) -> Client:
    """A client of the server at `url`, such as `https://perch.internal:7447`. It connects when it is used.

    `credentials`: a token, a `perch.TokenFile` that another program renews, a function that answers a token, or None.
    `app`: the app of every request that names none: a bundle identifier or an `AppRef`.
    `timeout`: seconds that a call may take, with its repetitions.
    `attempts`: how often a call is sent, at most, where it is safe to repeat.
    `client_id`: up to 32 bytes that events of changes by this client carry.
    """
    return Client(
        Core(
            url,
            BlockingIO,
            credentials=credentials,
            app=named_app(app),
            timeout=timeout,
            attempts=attempts,
            ssl_context=ssl_context,
            client_id=client_id,
        )
    )


def active(answer: v1.GetEntitlementsResponse, name: str) -> bool:
    if answer.failure is not None:
        raise server_error(Code.UNAVAILABLE, answer.failure.reason, answer.failure.message, {}, None)
    found = answer.success.entitlements if answer.success is not None else []
    for entitlement in found:
        if entitlement.name == name:
            return entitlement.active
    raise unknown_name(name, [each.name for each in found], "the app")

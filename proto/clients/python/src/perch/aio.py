"""The client for asyncio: as `perch.connect`, with `await` before calls and `async for` over streams."""

import asyncio
import os
import ssl
import weakref
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

from . import v1
from ._copying import AsyncCopy
from ._core import Core
from ._generated.calls import WATCH, AsyncCalls, AsyncEventStreams, AsyncWatches
from ._io import AsyncIO
from ._method import Method, named_app
from ._streams import EventStream, TogetherStream, WatchStream
from ._watching import AsyncEvents, AsyncTogether, AsyncWatch
from .client import active
from .credentials import Credentials


class _AsyncCalls(AsyncCalls):
    def __init__(self, core: Core) -> None:
        self._core = core

    def _call(self, method: Method, request: Any, timeout: Optional[float]) -> Any:
        return self._core.call(method, request, timeout)


class AsyncClientWatches(AsyncWatches):
    def __init__(self, core: Core) -> None:
        self._core = core

    def _watch(self, method: Method, request: Any, fail_after: Optional[float]) -> Any:
        return AsyncWatch(WatchStream(self._core, method, request, fail_after))

    def together(self, requests: Mapping[str, Any], *, fail_after: Optional[float] = None) -> AsyncTogether:
        """Several streams of state on one connection, whose values agree. See `perch.Client.watch.together`."""
        return AsyncTogether(TogetherStream(self._core, WATCH, requests, fail_after))


class AsyncClient(AsyncEventStreams):
    """A server of Perch, for the tasks of one event loop. It has no threads, and no tasks except those of copies."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.call: AsyncCalls = _AsyncCalls(core)
        """Every method that answers once."""
        self.watch: AsyncClientWatches = AsyncClientWatches(core)
        """Every stream of state."""
        self._copies: "weakref.WeakSet[AsyncCopy]" = weakref.WeakSet()

    def _events(self, method: Method, request: Any, progress: bool, fail_after: Optional[float]) -> Any:
        return AsyncEvents(EventStream(self._core, method, request, progress, fail_after))

    async def has(
        self,
        account: str,
        name: str,
        *,
        app: Union[v1.AppRef, str, None] = None,
        at_least: Optional[v1.Position] = None,
        timeout: Optional[float] = None,
    ) -> bool:
        """Whether the account has the named entitlement now. A name that the app does not have is a FinalError."""
        return active(
            await self.call.get_entitlements(app=app, account=account, at_least=at_least, timeout=timeout), name
        )

    def copy(
        self,
        *,
        app: Union[v1.AppRef, str, None] = None,
        file: Union[str, "os.PathLike[str]", None] = None,
        names: Sequence[str] = (),
        shard: Optional[Tuple[int, int]] = None,
        deny_after: Optional[float] = None,
    ) -> AsyncCopy:
        """A copy of every entitlement of an app in this process, kept up to date by a task. See `perch.Client.copy`."""
        copy = AsyncCopy(self._core, app, file, names, shard, deny_after)
        self._copies.add(copy)
        return copy

    def close(self) -> None:
        """Closes every connection. Streams and calls of other tasks end with `Closed`."""
        self._core.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()
        for copy in list(self._copies):
            await copy._ended()
        await asyncio.sleep(0)  # The loop closes the sockets.


def connect(
    url: str,
    *,
    credentials: Credentials = None,
    app: Union[v1.AppRef, str, None] = None,
    timeout: float = 30.0,
    attempts: int = 6,
    ssl_context: Optional[ssl.SSLContext] = None,
    client_id: bytes = b"",
) -> AsyncClient:
    """A client of the server at `url` for asyncio. The parameters are those of `perch.connect`."""
    return AsyncClient(
        Core(
            url,
            AsyncIO,
            credentials=credentials,
            app=named_app(app),
            timeout=timeout,
            attempts=attempts,
            ssl_context=ssl_context,
            client_id=client_id,
        )
    )


__all__ = ["AsyncClient", "AsyncCopy", "AsyncEvents", "AsyncTogether", "AsyncWatch", "connect"]

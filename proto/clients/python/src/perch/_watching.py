"""The streams as an application holds them: for threads and for asyncio."""

import datetime
import threading
from typing import Any, AsyncIterator, Callable, Dict, Generic, Iterator, Optional, TypeVar

from ._core import closed, log
from ._io import Timeout, run
from ._streams import EventStream, Returning, State
from .errors import LocalReason, PerchError

T = TypeVar("T")

# MARK: For threads


class _Stream(Generic[T]):
    """A stream for one thread at a time. `close` may be called from any other."""

    def __init__(self, stream: Returning) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        try:
            return run(self._stream.next(None))  # type: ignore[no-any-return]
        except StopAsyncIteration:
            raise StopIteration from None

    def next(self, timeout: Optional[float] = None) -> T:
        """The next item. A TimeoutError after `timeout` seconds, which ends nothing; a `Closed` after `close`."""
        try:
            return run(self._stream.next(timeout))  # type: ignore[no-any-return]
        except Timeout:
            raise TimeoutError(f"nothing came within {timeout:g} s") from None
        except StopAsyncIteration:
            raise closed("stream") from None

    @property
    def disconnected_since(self) -> Optional[datetime.datetime]:
        """Since when the stream has no connection; None while it has one, and before the first attempt."""
        return self._stream.disconnected_since

    def listen(self, callback: Callable[[T], Any], on_end: Optional[Callable[[PerchError], Any]] = None) -> "Listener":
        """Calls a function for each item, on a thread of its own, until the listener is closed.

        `on_end` is called with the error that ends the stream.
        """
        return Listener(self, callback, on_end)

    def close(self) -> None:
        """Ends the stream: a thread that iterates leaves its loop."""
        self._stream.close()

    def __enter__(self: Any) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Watch(_Stream[State[T]]):
    """A stream of state: iterate it, and get a `State` with each new value."""


class Together(_Stream[Dict[str, State[Any]]]):
    """Several streams of state: iterate it, and get the states of all by their names, which agree."""


class Events(_Stream[T]):
    """A stream of events: iterate it, and store `cursor` when you have handled one."""

    @property
    def cursor(self) -> bytes:
        """Where to begin next time: behind the event that you have now."""
        stream = self._stream
        assert isinstance(stream, EventStream)
        return stream.cursor if stream._pending is None else stream._pending


class Listener:
    """The thread of a callback. After `close` the callback is not called again."""

    def __init__(
        self, stream: Any, callback: Callable[[Any], Any], on_end: Optional[Callable[[PerchError], Any]]
    ) -> None:
        self._stream, self._callback, self._on_end = stream, callback, on_end
        self._thread = threading.Thread(target=self._run, name="perch-listener", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for item in self._stream:
                if self._stream._stream.is_closed:
                    return
                try:
                    self._callback(item)
                except Exception:
                    log.exception("a callback of %s failed; the stream goes on", self._stream._stream.method.name)
        except PerchError as error:
            if self._on_end is not None:
                self._on_end(error)
            elif error.reason != LocalReason.CLOSED:
                log.error("%s has ended: %s", self._stream._stream.method.name, error)

    def close(self) -> None:
        """Ends the stream, and waits until a callback that runs has returned, unless it is the callback that closes."""
        self._stream.close()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


# MARK: For asyncio


class _AsyncStream(Generic[T]):
    """A stream for one task at a time."""

    def __init__(self, stream: Returning) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        return await self._stream.next(None)  # type: ignore[no-any-return]

    async def next(self, timeout: Optional[float] = None) -> T:
        """The next item. A TimeoutError after `timeout` seconds, which ends nothing; a `Closed` after `close`."""
        try:
            return await self._stream.next(timeout)  # type: ignore[no-any-return]
        except Timeout:
            raise TimeoutError(f"nothing came within {timeout:g} s") from None
        except StopAsyncIteration:
            raise closed("stream") from None

    @property
    def disconnected_since(self) -> Optional[datetime.datetime]:
        """Since when the stream has no connection; None while it has one, and before the first attempt."""
        return self._stream.disconnected_since

    def close(self) -> None:
        """Ends the stream: a task that iterates leaves its loop."""
        self._stream.close()

    async def __aenter__(self: Any) -> Any:
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()


class AsyncWatch(_AsyncStream[State[T]]):
    """A stream of state: iterate it, and get a `State` with each new value."""


class AsyncTogether(_AsyncStream[Dict[str, State[Any]]]):
    """Several streams of state: iterate it, and get the states of all by their names, which agree."""


class AsyncEvents(_AsyncStream[T]):
    """A stream of events: iterate it, and store `cursor` when you have handled one."""

    @property
    def cursor(self) -> bytes:
        """Where to begin next time: behind the event that you have now."""
        stream = self._stream
        assert isinstance(stream, EventStream)
        return stream.cursor if stream._pending is None else stream._pending

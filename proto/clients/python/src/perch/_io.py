"""Sockets and pauses, for threads and for asyncio.

The code that uses them is written once, as coroutines. With `BlockingIO` they never wait for an event loop, so `run`
drives them to their end on the caller's thread.
"""

import asyncio
import errno
import os
import selectors
import socket
import ssl
import threading
import time
from typing import Any, Callable, Coroutine, Optional, TypeVar

from .errors import Code, FinalError, LocalReason, PerchError, lost

T = TypeVar("T")
CONNECT_SECONDS = 10.0
READ_BYTES = 256 * 1024


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits by blocking its thread."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    coroutine.close()
    raise RuntimeError("a function for credentials has to wait for asyncio: use perch.aio.connect")


class Timeout(Exception):
    """The deadline of one step has passed. What was read until then is kept."""


def connect_error(host: str, port: int, error: Exception, seconds: float) -> PerchError:
    where = f"{host} port {port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return FinalError(
            Code.UNAUTHENTICATED,
            LocalReason.TLS_FAILED,
            f"the certificate of {where} is not trusted: {error.verify_message}",
        )
    # A connection that ends within the handshake is that of a server or a proxy that just stops.
    if isinstance(error, ssl.SSLError) and not isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return FinalError(
            Code.UNAVAILABLE,
            LocalReason.TLS_FAILED,
            f"{where} does not speak TLS as this client does: {error.reason or error}",
        )
    if isinstance(error, (TimeoutError, socket.timeout, asyncio.TimeoutError)):
        return lost(f"{where} did not answer within {seconds:.1f} s", LocalReason.CONNECT_FAILED)
    return lost(f"no connection to {where}: {getattr(error, 'strerror', None) or error}", LocalReason.CONNECT_FAILED)


def remaining(deadline: Optional[float]) -> Optional[float]:
    """Seconds until then; a Timeout if it has passed."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise Timeout
    return left


def _seconds_to(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


class BlockingConnection:
    """A socket that one thread uses and any thread may close."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._socket: Optional[socket.socket] = None
        self._lock = threading.Lock()
        self._is_used = self._is_closed = False

    async def connect(self, tls: Optional[ssl.SSLContext], deadline: Optional[float]) -> None:
        """The deadline is that of all addresses and of TLS together. `close` interrupts it."""
        left = min(CONNECT_SECONDS, remaining(deadline) or CONNECT_SECONDS)
        until = time.monotonic() + left
        self._is_used = True
        try:
            found = self._reach(until)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls:
                found.settimeout(_seconds_to(until))
                found = self._hold(tls.wrap_socket(found, server_hostname=self._host, do_handshake_on_connect=False))
                found.do_handshake()
            with self._lock:
                self._is_used = False
        except BaseException as error:
            with self._lock:
                if self._socket is not None:
                    self._socket.close()
            self._hold(None)
            if not isinstance(error, (OSError, UnicodeError)):
                raise
            raise connect_error(self._host, self._port, error, left) from None
        self._hold(found)

    def _hold(self, found: Optional[socket.socket]) -> Any:
        """From now on `close` closes this one."""
        with self._lock:
            self._socket = found
            if not self._is_closed:
                return found
            if found is not None:
                found.close()
        raise lost("the connection was closed here")

    def _reach(self, until: float) -> socket.socket:
        """A socket connected to the first address that answers. Each has its share of the time."""
        addresses = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        for place, (family, kind, protocol, _, address) in enumerate(addresses):
            try:
                found = self._hold(socket.socket(family, kind, protocol))
                try:
                    self._join(found, address, _seconds_to(until) / (len(addresses) - place))
                    return found  # type: ignore[no-any-return]
                except BaseException:
                    with self._lock:
                        found.close()
                    raise
            except OSError:
                if place == len(addresses) - 1 or time.monotonic() >= until:
                    raise
        raise OSError("the name has no address")

    def _join(self, found: socket.socket, address: Any, seconds: float) -> None:
        found.setblocking(False)
        with self._lock:  # So that `close` finds a socket that connects already, which it can interrupt.
            if self._is_closed:
                raise lost("the connection was closed here")
            number = found.connect_ex(address)
        if number in (errno.EINPROGRESS, errno.EWOULDBLOCK):
            with selectors.DefaultSelector() as waiting:
                waiting.register(found, selectors.EVENT_WRITE)
                if not waiting.select(seconds):
                    raise socket.timeout("timed out")
            number = found.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number:
            raise OSError(number, os.strerror(number))

    async def send(self, data: bytes, deadline: Optional[float]) -> None:
        with self._used(deadline) as open_socket:
            open_socket.sendall(data)

    async def receive(self, deadline: Optional[float]) -> bytes:
        """Bytes, or none at the end of the connection."""
        with self._used(deadline) as open_socket:
            return open_socket.recv(READ_BYTES)

    def is_fresh(self) -> bool:
        """Whether nothing came since the last answer, not even the end."""
        if self._socket is None or isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return False
        try:
            self._socket.settimeout(0)
            return socket.socket.recv(self._socket, 1, socket.MSG_PEEK) is None
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False

    def _used(self, deadline: Optional[float]) -> "_Used":
        return _Used(self, deadline)

    def close(self) -> None:
        """From any thread. A thread that waits for bytes gets the end."""
        with self._lock:
            self._is_closed = True
            if self._socket is None:
                return
            if not self._is_used:
                self._socket.close()
                return
            try:
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)  # Not that of TLS, which is not for two threads.
            except OSError:
                pass


class _Used:
    """The time in which a thread uses the socket, so that nobody closes its number under it."""

    def __init__(self, connection: BlockingConnection, deadline: Optional[float]) -> None:
        self._connection, self._deadline = connection, deadline

    def __enter__(self) -> socket.socket:
        connection = self._connection
        left = remaining(self._deadline)
        with connection._lock:
            if connection._is_closed or connection._socket is None:
                raise lost("the connection was closed here")
            connection._is_used = True
            connection._socket.settimeout(left)
            return connection._socket

    def __exit__(self, _: Any, error: Any, __: Any) -> None:
        connection = self._connection
        with connection._lock:
            connection._is_used = False
            if connection._is_closed and connection._socket is not None:
                connection._socket.close()
        if isinstance(error, (socket.timeout, ssl.SSLWantReadError)):
            raise Timeout from None
        if isinstance(error, OSError):
            raise lost(f"the connection ended: {error.strerror or error}") from None


class BlockingPause:
    """A pause that another thread can end."""

    def __init__(self) -> None:
        self._event = threading.Event()

    async def wait(self, seconds: float) -> None:
        self._event.wait(seconds)

    def end(self) -> None:
        self._event.set()


class BlockingSignal:
    """Wakes threads that wait until something holds."""

    def __init__(self) -> None:
        self._condition = threading.Condition()

    def notify(self) -> None:
        with self._condition:
            self._condition.notify_all()

    async def wait(self, holds: Callable[[], bool], seconds: Optional[float]) -> bool:
        """Whether it holds, at the latest after so many seconds."""
        with self._condition:
            return self._condition.wait_for(holds, seconds)


class BlockingIO:
    connection = BlockingConnection
    pause = BlockingPause
    signal = BlockingSignal

    @staticmethod
    async def breathe() -> None:
        """Between the steps of long work."""


def _nothing(_: Any) -> None:
    pass


async def _within(work: Coroutine[Any, Any, T], seconds: Optional[float], drop: Callable[[T], None] = _nothing) -> T:
    """As `asyncio.wait_for`, which before Python 3.12 forgets a cancellation that comes as the work ends.

    `drop` gets the result that nobody takes then.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
    except asyncio.CancelledError:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
        if not task.cancelled() and task.exception() is None:
            drop(task.result())
        raise
    if task.cancelled():
        raise asyncio.TimeoutError
    return task.result()


class _Reader(asyncio.StreamReader):
    """Knows what came and was not read yet."""

    unread = 0
    is_ended = False

    def feed_data(self, data: Any) -> None:
        self.unread += len(data)
        super().feed_data(data)

    def feed_eof(self) -> None:
        self.is_ended = True
        super().feed_eof()


class AsyncConnection:
    """A connection of asyncio."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._reader: Optional[_Reader] = None
        self._writer: Optional[asyncio.StreamWriter] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._is_closed = False
        self._kept = b""

    def __del__(self) -> None:
        """The loop keeps an open connection that nobody holds: that of a stream whose task left it by `break`."""
        if self._writer is None or self._loop is None or self._is_closed or self._loop.is_closed():
            return
        if asyncio._get_running_loop() is self._loop:
            self._writer.transport.abort()
            return
        try:
            self._loop.call_soon_threadsafe(self._writer.transport.abort)
        except RuntimeError:  # It was closed meanwhile.
            pass

    async def connect(self, tls: Optional[ssl.SSLContext], deadline: Optional[float]) -> None:
        left = min(CONNECT_SECONDS, remaining(deadline) or CONNECT_SECONDS)
        try:
            loop = self._loop = asyncio.get_running_loop()
            reader = _Reader(limit=READ_BYTES, loop=loop)
            protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
            transport, _ = await _within(
                loop.create_connection(lambda: protocol, self._host, self._port, ssl=tls),
                left,
                lambda found: found[0].abort(),
            )
        except (OSError, UnicodeError, asyncio.TimeoutError) as error:
            raise connect_error(self._host, self._port, error, left) from None
        self._reader, self._writer = reader, asyncio.StreamWriter(transport, protocol, reader, loop)
        if self._is_closed:
            self.close()

    async def send(self, data: bytes, deadline: Optional[float]) -> None:
        if self._writer is None or self._is_closed:
            raise lost("the connection was closed here")
        try:
            self._writer.write(data)
            await _within(self._writer.drain(), remaining(deadline))
        except asyncio.TimeoutError:
            raise Timeout from None
        except OSError as error:
            raise lost(f"the connection ended: {error.strerror or error}") from None

    async def receive(self, deadline: Optional[float]) -> bytes:
        if self._reader is None or self._is_closed:
            raise lost("the connection was closed here")
        try:
            found, self._kept = self._kept, b""
            if not found:
                found = await _within(self._reader.read(READ_BYTES), remaining(deadline), self._keep)
            self._reader.unread -= len(found)
            return found
        except asyncio.TimeoutError:
            raise Timeout from None
        except OSError as error:
            raise lost(f"the connection ended: {error.strerror or error}") from None

    def _keep(self, found: bytes) -> None:
        self._kept = found

    def is_fresh(self) -> bool:
        return (
            self._reader is not None
            and not self._reader.unread
            and not self._reader.is_ended
            and not self._is_closed
            and self._writer is not None
            and not self._writer.is_closing()
        )

    def close(self) -> None:
        self._is_closed = True
        if self._writer is not None:
            self._writer.transport.abort()  # What a peer that is gone does not take would keep it open.


class AsyncPause:
    """A pause that another task can end."""

    def __init__(self) -> None:
        self._event: Optional[asyncio.Event] = None
        self._is_over = False

    async def wait(self, seconds: float) -> None:
        if self._is_over:
            return
        if self._event is None:
            self._event = (
                asyncio.Event()
            )  # Here, because before Python 3.10 an event belongs to the loop of its making.
        try:
            await _within(self._event.wait(), seconds)
        except asyncio.TimeoutError:
            pass

    def end(self) -> None:
        self._is_over = True
        if self._event is not None:
            self._event.set()


class AsyncSignal:
    """Wakes tasks that wait until something holds."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, holds: Callable[[], bool], seconds: Optional[float]) -> bool:
        """Whether it holds, at the latest after so many seconds."""
        until = None if seconds is None else time.monotonic() + seconds
        while not holds():
            try:
                await _within(self._event.wait(), None if until is None else until - time.monotonic())
            except asyncio.TimeoutError:
                return holds()
        return True


class AsyncIO:
    connection = AsyncConnection
    pause = AsyncPause
    signal = AsyncSignal

    @staticmethod
    async def breathe() -> None:
        """Between the steps of long work: other tasks run."""
        await asyncio.sleep(0)

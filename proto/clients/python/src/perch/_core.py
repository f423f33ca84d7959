"""What a client does, for threads and for asyncio alike: calls with their repetitions, and the opening of streams."""

import base64
import logging
import os
import random
import secrets
import ssl
import threading
import time
import weakref
from typing import Any, Dict, List, Optional, Tuple

from . import credentials as _credentials
from ._codec import DecodeError, Message
from ._generated.reasons import RETRY
from ._http import ANSWER_BYTES_MAX, Address, Exchange, ended
from ._io import CONNECT_SECONDS, Timeout, remaining
from ._method import Method, with_app
from .errors import Closed, Code, CredentialsError, LocalReason, PerchError, TransientError, breach, late, lost
from .v1 import AppRef

log = logging.getLogger("perch")
CALL_SECONDS = 30.0
# The longest pause before a call is repeated, besides what the server asks for.
PAUSE_SECONDS_MAX = 2.0
HEARTBEAT_SECONDS = 10
SILENCE_SECONDS = 2.5 * HEARTBEAT_SECONDS
POOL_MAX = 16
# Beyond this age of its last answer a connection of the pool is not used any more.
IDLE_SECONDS = 50.0
# A call may have been executed although it was answered with one of these, or with a reason of another version.
_DOUBTFUL = {
    "CANCELLED",
    "DEADLINE",
    "STORE_FAILED",
    "INTERNAL",
    LocalReason.CONNECTION_LOST,
    LocalReason.HTTP_STATUS,
    LocalReason.PROTOCOL_BREACH,
}
# The server refuses with these before it looks for the key.
_BEFORE_KEYS = {Code.UNAUTHENTICATED, Code.PERMISSION_DENIED}


class Core:
    """The part of a client that both kinds share. Its coroutines wait by `io`."""

    def __init__(
        self,
        url: str,
        io: Any,
        *,
        credentials: "_credentials.Credentials",
        app: Optional[AppRef],
        timeout: float,
        attempts: int,
        ssl_context: Optional[ssl.SSLContext],
        client_id: bytes,
    ) -> None:
        self.address, self.io, self.app = Address.parse(url), io, app
        self.timeout, self.attempts = timeout, attempts
        self.credentials = _credentials.source(credentials)
        self.tls = (ssl_context or ssl.create_default_context()) if self.address.scheme == "https" else None
        self.headers = [("user-agent", "perch-python"), ("connect-protocol-version", "1")]
        if client_id:
            self.headers.append(("perch-client-id-bin", base64.b64encode(client_id).decode().rstrip("=")))
        self.is_closed = False
        self.pause = io.pause()
        self._begin()
        _cores.add(self)

    def _begin(self) -> None:
        self.live: "weakref.WeakSet[Any]" = weakref.WeakSet()
        self._lock = threading.RLock()
        self._pool: List[Exchange] = []

    # MARK: Calls

    async def call(self, method: Method, request: Message, timeout: Optional[float]) -> Any:
        """The answer of a unary method. A call that is safe to repeat is repeated until its deadline."""
        seconds = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        request = with_app(request, self.app)
        if method.is_keyed and not request.idempotency_key:  # type: ignore[attr-defined]
            request = request.replace(idempotency_key=secrets.token_bytes(16))
        body = request.encode()
        changes = not (method.is_safe or method.is_idempotent)
        attempt, was_sent, was_renewed = 0, False, False
        error: Optional[PerchError] = None
        while True:
            attempt += 1
            sent = [False]
            try:
                token = await _credentials.current(self.credentials)
                data = await self._attempt(method, body, token, deadline, sent, fresh=changes and not method.is_keyed)
                return self._read(method, data)
            except Timeout:
                before = f"; the attempt before: {error}" if error else ""
                error = late(f"no answer came within {seconds:g} s; allow more time, or see how the server is{before}")
                was_sent = was_sent or sent[0]
                break
            except PerchError as found:
                error = found
            is_doubtful = sent[0] and (error.reason in _DOUBTFUL or error.reason not in RETRY)
            if is_doubtful:
                was_sent = True
            elif sent[0] and method.is_keyed and not error.is_transient and error.code not in _BEFORE_KEYS:
                was_sent = False  # The server's final refusal of a call with a key is that of all its attempts.
            if isinstance(error, CredentialsError) and not was_renewed and await self._renewed(token):
                was_renewed = True
                continue
            if not isinstance(error, TransientError) or attempt >= self.attempts or self.is_closed:
                break
            if is_doubtful and changes and not method.is_keyed:
                break
            wait = (error.retry_after or 0.0) + random.uniform(
                0, min(0.2 * 2 ** min(attempt - 1, 10), PAUSE_SECONDS_MAX)
            )
            if time.monotonic() + wait >= deadline:
                break
            log.info("%s is repeated in %.1f s: %s", method.name, wait, error)
            await self.pause.wait(wait)
        if self.is_closed:
            error = closed("client")
        assert error is not None
        error.may_have_happened = was_sent and not method.is_safe
        if error.reason == "UNKNOWN_METHOD":
            await self.name_version(error)
        raise error

    async def _renewed(self, token: Optional[str]) -> bool:
        """Whether the credentials are other ones than those that were refused."""
        if self.credentials is None or not self.credentials.renews:
            return False
        try:
            return await _credentials.current(self.credentials) != token
        except PerchError:
            return False  # The refusal says more.

    async def _attempt(
        self,
        method: Method,
        body: bytes,
        token: Optional[str],
        deadline: float,
        sent: List[bool],
        fresh: bool,
    ) -> bytes:
        exchange = None if fresh else self._pooled()
        try:
            if exchange is None:
                exchange = self._exchange()
                await exchange.connect(deadline)
            left = remaining(deadline)
            assert left is not None
            # The server gives up a little earlier, so that its reason arrives.
            ms = max(int((left - min(left / 2, 0.1)) * 1_000), 1)
            headers = self.headers + [("content-type", "application/proto"), ("connect-timeout-ms", str(ms))]
            sent[0] = True
            await exchange.send(method.path, headers + _authorization(token), body, deadline)
            status, found = await exchange.head(deadline)
            if status != 200:
                error = await exchange.refusal(deadline)
                given, exchange = exchange, None  # From here on it may be another call's.
                self._give_back(given)
                raise error
            _check_type(exchange, found, "application/proto")
            if exchange.is_unmeasured:
                raise breach(f"{self.address.where} answers without a length and without chunks: it may not be whole")
            data = await exchange.body(ANSWER_BYTES_MAX, deadline)
            given, exchange = exchange, None
            self._give_back(given)
            return data
        except BaseException:
            if exchange is not None and not exchange.is_reusable:
                self._forget(exchange)
            raise

    def _read(self, method: Method, data: bytes) -> Any:
        try:
            return method.response.decode(data)
        except DecodeError as error:
            raise breach(f"the answer of {method.name} cannot be read: {error}") from None

    async def name_version(self, error: PerchError) -> None:
        """A server that lacks a method is older than this client. It may say how old, to who may ask."""
        from ._generated.calls import GET_SERVER_STATUS

        error.message += "; the server is older than this client"
        try:
            token = await _credentials.current(self.credentials)
            data = await self._attempt(GET_SERVER_STATUS, b"", token, time.monotonic() + 2, [False], fresh=False)
            version = self._read(GET_SERVER_STATUS, data).version
        except (PerchError, Timeout):
            return
        error.message += f": it is of the version {version}"
        error.details["server_version"] = version

    # MARK: Connections

    def _exchange(self) -> Exchange:
        exchange = Exchange(self.io, self.address, self.tls)
        self.enter(exchange)
        return exchange

    def enter(self, item: Any) -> None:
        """What `close` closes, too."""
        with self._lock:
            if self.is_closed:
                raise closed("client")
            self.live.add(item)

    def leave(self, item: Any) -> None:
        with self._lock:
            self.live.discard(item)

    def _pooled(self) -> Optional[Exchange]:
        """A connection of the pool on which nothing has happened since its last answer."""
        while True:
            with self._lock:
                if self.is_closed:
                    raise closed("client")
                if not self._pool:
                    return None
                exchange = self._pool.pop()
            if time.monotonic() - exchange.last_byte < IDLE_SECONDS and exchange.connection.is_fresh():
                return exchange
            self._forget(exchange)

    def _give_back(self, exchange: Exchange) -> None:
        with self._lock:
            if exchange.is_reusable and not self.is_closed and len(self._pool) < POOL_MAX:
                self._pool.append(exchange)
                return
        exchange.is_reusable = False
        self._forget(exchange)

    def _forget(self, exchange: Exchange) -> None:
        self.leave(exchange)
        exchange.close()

    # MARK: Streams

    async def open(
        self, method: Method, request: Message, token: Optional[str], groups: bool, deadline: Optional[float]
    ) -> "Link":
        """A new connection with one stream on it."""
        body = with_app(request, self.app).encode()
        headers = self.headers + [
            ("content-type", "application/connect+proto"),
            ("perch-heartbeat", str(HEARTBEAT_SECONDS)),
        ]
        if groups:
            headers.append(("perch-groups", "1"))
        exchange = self._exchange()
        try:
            # A step of a second at least, so that short waits of a consumer open a connection, too.
            until = time.monotonic() + CONNECT_SECONDS if deadline is None else max(deadline, time.monotonic() + 1)
            await exchange.connect(until)
            await exchange.send(
                method.path, headers + _authorization(token), b"\0" + len(body).to_bytes(4, "big") + body, until
            )
            return Link(self, exchange, method)
        except BaseException:
            self._forget(exchange)
            raise

    def close(self) -> None:
        with self._lock:
            self.is_closed = True
            live, self._pool = list(self.live), []
        self.pause.end()
        for each in live:
            each.close()


class Link:
    """A stream on its connection."""

    def __init__(self, core: Core, exchange: Exchange, method: Method) -> None:
        self.core, self.exchange, self.method = core, exchange, method
        self._is_answered = False

    @property
    def age(self) -> float:
        return time.monotonic() - self.exchange.made

    async def receive(self, deadline: Optional[float]) -> Any:
        """The next message. Silence beyond two and a half heartbeats is an error, as is the end of the stream."""
        while True:
            silent = max(self.exchange.last_byte + SILENCE_SECONDS, time.monotonic() + 0.05)
            until = silent if deadline is None else min(silent, deadline)
            try:
                if not self._is_answered:
                    status, headers = await self.exchange.head(until)
                    if status != 200:
                        raise await self.exchange.refusal(until)
                    _check_type(self.exchange, headers, "application/connect+proto")
                    self._is_answered = True
                flags, data = await self.exchange.envelope(until)
                break
            except Timeout:
                now = time.monotonic()
                if now >= self.exchange.last_byte + SILENCE_SECONDS:
                    raise lost(
                        f"nothing came for {SILENCE_SECONDS:.0f} s, not even a bookmark", LocalReason.CONNECTION_SILENT
                    ) from None
                if deadline is not None and now >= deadline:
                    raise
        if flags & 2:
            raise ended(data) or TransientError(
                Code.UNAVAILABLE, LocalReason.CONNECTION_LOST, "the server ended the stream without a reason"
            )
        if flags:
            raise breach(f"a message of a stream has the flags {flags}")
        try:
            return self.method.response.decode(data)
        except DecodeError as error:
            raise breach(f"a message of {self.method.name} cannot be read: {error}") from None

    def close(self) -> None:
        self.core._forget(self.exchange)


_cores: "weakref.WeakSet[Core]" = weakref.WeakSet()


def _forked() -> None:
    """Connections, and a lock that another thread had, are the parent's: this process closes none of its streams."""
    for core in list(_cores):
        core._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def closed(what: str) -> Closed:
    return Closed(Code.CANCELLED, LocalReason.CLOSED, f"the {what} was closed; make another one")


def _check_type(exchange: Exchange, headers: Dict[str, str], expected: str) -> None:
    found = headers.get("content-type", "")
    if found.split(";")[0].strip() != expected:
        raise breach(
            f"{exchange.address.where} answers with {found or 'no type'!r}, not {expected}: is it a Perch server?"
        )


def _authorization(token: Optional[str]) -> List[Tuple[str, str]]:
    return [("authorization", f"Bearer {token}")] if token is not None else []


__all__ = ["Core", "Link", "closed", "log"]

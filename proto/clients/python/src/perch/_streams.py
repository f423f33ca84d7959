"""Streams that come back by themselves: what a watch is over all its connections."""

import datetime
import random
import time
from typing import Any, Dict, Generic, List, Mapping, Optional, Set, Tuple, TypeVar

from . import credentials as _credentials
from . import v1
from ._core import Core, Link, closed, log
from ._io import Timeout
from ._method import Method, with_app
from .errors import Code, CredentialsError, FinalError, LocalReason, PerchError, TokenError, server_error

T = TypeVar("T")
STABLE_SECONDS = 10.0
BACKOFF_SECONDS_MAX = 60.0
# How soon a refused token is tried again, where the credentials have no other: at least.
SAME_TOKEN_SECONDS = 60.0


class State(Generic[T]):
    """What a watch shows: its newest value, and what is known about it."""

    __slots__ = ("_value", "info", "failure")

    def __init__(self, value: Optional[T], info: Optional[v1.ValueInfo], failure: Optional[v1.Failure] = None) -> None:
        self._value = value
        self.info = info
        """Position, cause and forecast of the value. `info.position.epoch` changes with a restore of the store."""
        self.failure = failure
        """Why the server cannot compute the value now; None where it can. The value is then the last one."""

    @property
    def value(self) -> T:
        """The newest value. A PerchError where there never was one, because the server could not compute it."""
        if self._value is None:
            assert self.failure is not None
            raise server_error(Code.UNAVAILABLE, self.failure.reason, self.failure.message, {}, None)
        return self._value

    def __repr__(self) -> str:
        failed = f", failure={self.failure!r}" if self.failure else ""
        return f"State({self._value!r}{failed})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and (self._value, self.failure) == (other._value, other.failure)

    __hash__ = None  # type: ignore[assignment]


class Returning:
    """A stream over all its connections: it opens them again, waits, and renews credentials, until a final error.

    Its subclasses say what to ask for, and what a message means.
    """

    groups = False
    awaits_credentials = False
    """Whether credentials that cannot be read are waited for from the start, and not only once it was open."""

    def __init__(self, core: Core, method: Method, fail_after: Optional[float]) -> None:
        self.core, self.method, self.fail_after = core, method, fail_after
        self.is_closed = False
        self.disconnected_since: Optional[datetime.datetime] = None
        self._away_since: Optional[float] = None
        self._link: Optional[Link] = None
        self._failures = 0
        self._next_try = 0.0
        # The token that was refused, when it is tried again, and the refusal.
        self._refused: Optional[Tuple[Optional[str], float, PerchError]] = None
        self._token: Optional[str] = None
        self._was_open = False
        self._pause = core.io.pause()
        core.enter(self)

    # What a subclass says.

    def request(self) -> Any:
        raise NotImplementedError

    def take(self, message: Any) -> Optional[Any]:
        """What the consumer gets for a message; None for nothing."""
        raise NotImplementedError

    def forget(self, error: PerchError) -> bool:
        """The server refuses the token: whether to go on without it."""
        raise NotImplementedError

    def reconnecting(self) -> None:
        """What was held back is lost: the next connection sends it again."""

    # The way of a message.

    async def next(self, timeout: Optional[float]) -> Any:
        """The next item. A `Timeout` ends nothing: the next call goes on."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                if self.is_closed or self.core.is_closed:
                    raise StopAsyncIteration
                if self._link is None:
                    await self._open(deadline)
                    continue
                message = await self._link.receive(deadline)
                if self.is_closed or self.core.is_closed:
                    continue
                self._arrived()
                item = self.take(message)
                if item is not None:
                    return item
            except PerchError as error:
                if error.reason == "UNKNOWN_METHOD":
                    await self.core.name_version(error)
                self._leave(error)
            except StopAsyncIteration:
                self.close()
                if self.core.is_closed:
                    raise closed("client") from None
                raise

    def _arrived(self) -> None:
        if self._away_since is not None:
            if self._was_open:
                log.info("%s is back after %.1f s", self.method.name, time.monotonic() - self._away_since)
            self._away_since = self.disconnected_since = None
        self._was_open = True
        self._refused = None

    async def _open(self, deadline: Optional[float]) -> None:
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        if self._refused is not None:
            await self._renewal(deadline)
            return
        if now < self._next_try:
            until = self._next_try if deadline is None else min(self._next_try, deadline)
            await self._pause.wait(max(until - now, 0.0))
            if deadline is not None and time.monotonic() >= deadline:
                raise Timeout
            return
        self.reconnecting()
        self._token = await _credentials.current(self.core.credentials)
        self._link = await self.core.open(self.method, self.request(), self._token, self.groups, deadline)
        if self.is_closed:
            self._link.close()

    async def _renewal(self, deadline: Optional[float]) -> None:
        """Waits until the credentials are other ones than those that were refused."""
        assert self._refused is not None
        refused, again, error = self._refused
        now = time.monotonic()
        if self.fail_after is not None and self._away_since is not None and now - self._away_since > self.fail_after:
            self._end(error)
        try:
            token = await _credentials.current(self.core.credentials)
        except FinalError:
            token = refused  # The file is just being replaced.
        if token != refused or now >= again:
            self._refused = None
            return
        if deadline is not None and now >= deadline:
            raise Timeout
        assert self.core.credentials is not None
        wait = self.core.credentials.check_seconds
        await self._pause.wait(wait if deadline is None else min(wait, max(deadline - now, 0.001)))

    def _leave(self, error: PerchError) -> None:
        """A connection, or an attempt to make one, has ended: decides when to come back, or raises the error."""
        link, self._link = self._link, None
        age = link.age if link is not None else 0.0
        if link is not None:
            link.close()
        if self.is_closed or self.core.is_closed:
            return
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        if self.disconnected_since is None:
            self.disconnected_since = datetime.datetime.now(datetime.timezone.utc)
        self._failures = 0 if age >= STABLE_SECONDS else self._failures + 1
        wait = 0.0
        renews = self.core.credentials is not None and self.core.credentials.renews
        if isinstance(error, TokenError) and self.forget(error):
            log.warning("%s begins without its token: %s", self.method.name, error)
            wait = 0.0 if self._failures <= 1 else self._backoff()
        elif isinstance(error, CredentialsError) and renews:
            self._refused = (self._token, now + random.uniform(1, 2) * SAME_TOKEN_SECONDS, error)
            # A function may give another token each time, and each may be refused.
            wait = 0.0 if self._failures <= 1 else self._backoff()
            log.warning("%s waits for other credentials: %s", self.method.name, error)
        elif error.reason == LocalReason.AUTHORIZATION_UNREADABLE and (self._was_open or self.awaits_credentials):
            wait = max(self._backoff(), 0.5)
            log.warning("%s waits for credentials: %s", self.method.name, error)
        elif not error.is_transient:
            self._end(error)
        else:
            wait = (error.retry_after or 0.0) + self._backoff()
            level = log.info if self._was_open and self._failures <= 1 else log.warning
            level("%s lost its server, and tries again in %.1f s: %s", self.method.name, wait, error)
        if self.fail_after is not None and now + wait - self._away_since > self.fail_after:
            self._end(error)
        self._next_try = now + wait

    def _backoff(self) -> float:
        return random.uniform(0, min(BACKOFF_SECONDS_MAX, 2.0 ** min(self._failures, 10)) / 2)

    def _end(self, error: PerchError) -> None:
        self.close()
        raise error

    def close(self) -> None:
        self.is_closed = True
        self._pause.end()
        link = self._link
        if link is not None:
            link.close()
        self.core.leave(self)


class _WatchState:
    """The token and the newest value of one stream of state."""

    def __init__(self, request: Any) -> None:
        self.request = request
        self.value: Any = None
        self.info: Optional[v1.ValueInfo] = None
        self.failure: Optional[v1.Failure] = None

    def asked(self) -> Any:
        if self.info is None:
            return self.request
        return self.request.replace(resume_token=self.info.resume_token, at_least=None)

    def forget(self) -> None:
        self.request = self.request.replace(at_least=None)
        self.info = None

    def take(self, message: Any) -> Optional[State[Any]]:
        """The state, if it is another one."""
        word = message.which("state")
        if word == "success":
            self.value, self.info, self.failure = message.success, message.info, None
        elif word == "failure":
            if self.failure == message.failure:
                return None
            self.failure = message.failure
        elif word == "unchanged" and self.failure is not None:
            self.failure = None
        else:
            return None  # Loading, an unchanged value, or a state that only a newer client knows.
        return State(self.value, self.info, self.failure)


class WatchStream(Returning):
    """A stream of state."""

    def __init__(self, core: Core, method: Method, request: Any, fail_after: Optional[float]) -> None:
        super().__init__(core, method, fail_after)
        self._state = _WatchState(request)

    def request(self) -> Any:
        return self._state.asked()

    def take(self, message: Any) -> Optional[State[Any]]:
        return self._state.take(message)

    def forget(self, error: PerchError) -> bool:
        self._state.forget()
        return True


class EventStream(Returning):
    """A stream of events: it goes on behind the last cursor, and nothing is left out."""

    def __init__(self, core: Core, method: Method, request: Any, progress: bool, fail_after: Optional[float]) -> None:
        super().__init__(core, method, fail_after)
        self._request, self._progress = request, progress
        self.cursor: bytes = request.cursor
        self._pending: Optional[bytes] = None
        # Unfinished transactions come before the first cursor, so a second connection repeats them.
        self._seen: Set[Tuple[int, int]] = set()

    async def next(self, timeout: Optional[float]) -> Any:
        if self._pending is not None:  # The consumer has handled the last event: it asks for the next.
            self.cursor, self._pending = self._pending, None
        return await super().next(timeout)

    def request(self) -> Any:
        if not self.cursor:
            return self._request
        changes = {"cursor": self.cursor}
        if "from_oldest" in self._request.__slots__:
            changes["from_oldest"] = False  # type: ignore[assignment]
        return self._request.replace(**changes)

    def forget(self, error: PerchError) -> bool:
        return False  # Events may be missing, which the consumer has to know.

    def take(self, message: Any) -> Optional[Any]:
        if message.bookmark is not None:
            return None
        if not self._is_event(message):
            if message.cursor:
                self.cursor = message.cursor
                self._seen.clear()
                return message if self._progress else None
            return None
        if message.cursor:
            self._pending = message.cursor
        elif self._is_repeated(message):
            return None
        return message

    def _is_event(self, message: Any) -> bool:
        if isinstance(message, v1.TransactionUpdatesResponse):
            return message.transaction is not None
        return bool(
            message
            != type(message)(cursor=message.cursor, position=message.position, commit_time_ms=message.commit_time_ms)
        )

    def _is_repeated(self, message: Any) -> bool:
        mark = message.transaction.transaction.id, message.revision
        if mark in self._seen:
            return True
        self._seen.add(mark)
        return False


class TogetherStream(Returning):
    """Several streams of state on one connection, whose values agree at each bookmark."""

    groups = True

    def __init__(self, core: Core, method: Method, requests: Mapping[str, Any], fail_after: Optional[float]) -> None:
        super().__init__(core, method, fail_after)
        self._names: List[str] = list(requests)
        self._states = [_WatchState(request) for request in requests.values()]
        self._fields = [_entry_field(request) for request in requests.values()]
        self._shown: Dict[str, State[Any]] = {}
        self._held: Dict[int, Any] = {}

    def request(self) -> v1.WatchRequest:
        return v1.WatchRequest(
            watches=[
                v1.WatchEntry(**{field: with_app(state.asked(), self.core.app)})
                for field, state in zip(self._fields, self._states)
            ]
        )

    def reconnecting(self) -> None:
        self._held.clear()

    def forget(self, error: PerchError) -> bool:
        try:
            self._states[int(error.details["watch"])].forget()
        except (KeyError, ValueError, IndexError):
            for state in self._states:
                state.forget()
        return True

    def take(self, message: Any) -> Optional[Dict[str, State[Any]]]:
        if message.bookmark is None:
            word = message.which("response")
            if word is not None and message.watch < len(self._states):
                self._held[message.watch] = getattr(message, word)
            return None
        changed = False
        for place, held in self._held.items():
            state = self._states[place].take(held)
            if state is not None:
                self._shown[self._names[place]] = state
                changed = True
        self._held.clear()
        return dict(self._shown) if changed and len(self._shown) == len(self._names) else None


def _entry_field(request: Any) -> str:
    for _, name, kind, _, _ in v1.WatchEntry._fields:
        if kind == type(request).__name__ and "resume_token" in request.__slots__:
            return name
    raise TypeError(f"{type(request).__name__} is not the request of a stream of state")

"""Doubles for the tests of an application: a real client whose server is a dictionary in the process.

store = perch.testing.Store({"alice": {"plus": None}})      # None: for life; a datetime: until then
client = store.client()
assert client.has("alice", "plus")
store.revoke("alice", "plus")                               # watches and copies of the client see it

copy = perch.testing.Copy({"alice": {"plus": None}})        # a copy alone, without a client and without a thread
"""

import collections
import datetime
import itertools
import time
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from . import to_ms, v1
from ._codec import Message
from ._core import Core
from ._entries import NEVER, Entries, now_ms
from ._generated import calls as _calls
from ._io import AsyncIO, BlockingIO, remaining
from ._method import Method
from .aio import AsyncClient
from .client import Client
from .errors import Code, FinalError, PerchError, late, lost

Answer = Union[Message, PerchError, Callable[[Any], Message]]
Accounts = Mapping[str, Mapping[str, Optional[datetime.datetime]]]
_BY_NAME = {name.lower(): method for name, method in vars(_calls).items() if isinstance(method, Method)}


class Store:
    """Named entitlements of accounts, and answers that a test gives.

    A store belongs to one thread or one event loop at a time; clients of it may wait on other threads.
    """

    def __init__(self, accounts: Optional[Accounts] = None) -> None:
        self._accounts: Dict[str, Dict[str, Optional[datetime.datetime]]] = {
            account: dict(held) for account, held in (accounts or {}).items()
        }
        self._names = {name for held in self._accounts.values() for name in held}
        self._answers: Dict[str, Answer] = {}
        self._links: List[_FakeLink] = []
        self._revision = 1
        self.requests: List[Tuple[str, Any]] = []
        """The name of each method that was called, such as `get_entitlements`, and its request."""

    def client(self) -> Client:
        """A `perch.Client` of this store."""
        return Client(_FakeCore(self, BlockingIO))

    def async_client(self) -> AsyncClient:
        """A `perch.aio.AsyncClient` of this store."""
        return AsyncClient(_FakeCore(self, AsyncIO))

    def grant(self, account: str, name: str, until: Optional[datetime.datetime] = None) -> None:
        """Gives an entitlement, and shows it to the watches of the account."""
        self._names.add(name)
        self._accounts.setdefault(account, {})[name] = until
        self._changed(account)

    def revoke(self, account: str, name: str) -> None:
        """Takes an entitlement away, and shows that to the watches of the account."""
        self._accounts.get(account, {}).pop(name, None)
        self._changed(account)

    def answer(self, method: str, answer: Answer) -> None:
        """What a method such as `get_products` answers: a message, a function of the request, or a PerchError."""
        if method not in _BY_NAME:
            raise ValueError(f"the contract has no method {method!r}")
        self._answers[_BY_NAME[method].path] = answer

    def push(self, method: str, message: Union[Message, PerchError]) -> None:
        """Sends a message, or a final error, on every open stream of a method such as `subscription_status_task`."""
        if method not in _BY_NAME:
            raise ValueError(f"the contract has no method {method!r}")
        for link in list(self._links):
            if link.method.path == _BY_NAME[method].path:
                link.put(message)

    @property
    def position(self) -> v1.Position:
        """After the last change: `copy.wait_for(store.position)` waits until a copy of a client has it."""
        return v1.Position(revision=self._revision, epoch=1)

    # What the fake server does.

    def _changed(self, account: str) -> None:
        self._revision += 1
        for link in list(self._links):
            if link.method is _calls.APP_ENTITLEMENTS:
                batch = entries_of({account: self._accounts.get(account, {})})
                batch.position, batch.resume_token = self.position, b"%d" % self._revision
                link.put(v1.AppEntitlementsResponse(accounts=batch))
            if link.method is _calls.ENTITLEMENTS_TASK and link.request.account == account:
                link.put(self._state(account))

    def _info(self) -> v1.ValueInfo:
        return v1.ValueInfo(position=self.position, resume_token=b"%d" % self._revision)

    def _state(self, account: str) -> v1.EntitlementsTaskResponse:
        return v1.EntitlementsTaskResponse(success=self._value(account), info=self._info())

    def _value(self, account: str) -> v1.NamedEntitlements:
        held, now = self._accounts.get(account, {}), datetime.datetime.now(datetime.timezone.utc)
        shown = []
        for name in sorted(self._names):
            until = held.get(name)
            active = name in held and (until is None or until > now)
            shown.append(
                v1.NamedEntitlement(
                    name=name,
                    active=active,
                    lifetime=active and until is None,
                    until_ms=None if until is None else to_ms(until),
                    origin=v1.EntitlementOrigin.GRANT if name in held else v1.EntitlementOrigin.UNSPECIFIED,
                    reason="granted" if active else "expired" if name in held else "never",
                )
            )
        return v1.NamedEntitlements(entitlements=shown)

    def _answered(self, method: Method, request: Any) -> Message:
        name = next(name for name, each in _BY_NAME.items() if each is method)
        self.requests.append((name, request))
        answer = self._answers.get(method.path)
        if isinstance(answer, PerchError):
            raise answer
        if answer is not None:
            return answer(request) if callable(answer) else answer
        if method is _calls.GET_ENTITLEMENTS:
            return v1.GetEntitlementsResponse(success=self._value(request.account), info=self._info())
        if method is _calls.ENTITLEMENTS_TASK:
            return self._state(request.account)
        if method is _calls.GRANT_ENTITLEMENT:
            until = request.until_ms
            self.grant(
                request.account,
                request.name,
                None if until is None else datetime.datetime.fromtimestamp(until / 1_000, datetime.timezone.utc),
            )
            return v1.GrantEntitlementResponse()
        if method is _calls.REVOKE_GRANT:
            self.revoke(request.account, request.name)
            return v1.RevokeGrantResponse()
        raise FinalError(
            Code.UNIMPLEMENTED, "UNKNOWN_METHOD", f"perch.testing.Store has no answer: give one by answer({name!r}, …)"
        )


class _FakeCore(Core):
    """A client's core without a network: the store answers."""

    def __init__(self, store: Store, io: Any) -> None:
        super().__init__(
            "http://store.invalid",
            io,
            credentials=None,
            app=None,
            timeout=30.0,
            attempts=1,
            ssl_context=None,
            client_id=b"",
        )
        self.store = store

    async def _attempt(
        self, method: Method, body: bytes, token: Any, deadline: float, sent: List[bool], fresh: bool
    ) -> bytes:
        return self.store._answered(method, method.request.decode(body)).encode()

    async def open(self, method: Method, request: Any, token: Any, groups: bool, deadline: Optional[float]) -> Any:
        link = _FakeLink(self, method, request)
        answered = method.path in self.store._answers or method is _calls.ENTITLEMENTS_TASK
        if answered:
            link.put(self.store._answered(method, request))
        elif method is _calls.APP_ENTITLEMENTS:
            for message in copy_of(self.store._accounts, self.store._names, self.store.position):
                link.put(message)
        self.store._links.append(link)
        return link

    async def name_version(self, error: PerchError) -> None:
        pass


class _FakeLink:
    """A stream of the store."""

    def __init__(self, core: _FakeCore, method: Method, request: Any) -> None:
        self.core, self.method, self.request = core, method, request
        self._items: Deque[Union[Message, PerchError]] = collections.deque()
        self._pause = core.io.pause()
        self._is_closed = False
        self._made = time.monotonic()

    @property
    def age(self) -> float:
        return time.monotonic() - self._made

    def put(self, item: Union[Message, PerchError]) -> None:
        self._items.append(item)
        self._pause.end()

    async def receive(self, deadline: Optional[float]) -> Any:
        while True:
            pause = self._pause = self.core.io.pause()
            if self._is_closed:
                raise lost("the stream was closed here")
            if self._items:
                item = self._items.popleft()
                if isinstance(item, PerchError):
                    raise item
                return self.method.response.decode(item.encode())
            left = remaining(deadline)
            await pause.wait(3_600.0 if left is None else left)

    def close(self) -> None:
        self._is_closed = True
        if self in self.core.store._links:
            self.core.store._links.remove(self)
        self._pause.end()


class Copy(Entries):
    """A copy as `perch.Client.copy` answers it, whose entries a test sets. It has no thread: a change is there at once.

    `names`: names that no account has yet. `now`: the clock, which then stands still until `advance`. `deny_after`: as
    of a real copy. `ready=False`: it is not complete before `reconnect`.
    """

    def __init__(
        self,
        accounts: Optional[Accounts] = None,
        *,
        names: Iterable[str] = (),
        now: Optional[datetime.datetime] = None,
        deny_after: Optional[float] = None,
        ready: bool = True,
    ) -> None:
        super().__init__((), None, deny_after)
        self._held: Dict[str, Dict[str, Optional[datetime.datetime]]] = {
            account: dict(held) for account, held in (accounts or {}).items()
        }
        self._revision = 1
        self._known_names = {*names, *(name for held in self._held.values() for name in held)}
        self._now = now
        self.disconnected_since: Optional[datetime.datetime] = None
        if ready:
            self.reconnect()

    def disconnect(self, age: datetime.timedelta = datetime.timedelta()) -> None:
        """The server is away, since `age`: what `age()` answers at least, and what `deny_after` compares with."""
        self.disconnected_since = datetime.datetime.now(datetime.timezone.utc) - age
        self._is_cut = True
        self._heard(now_ms() - age // datetime.timedelta(milliseconds=1))

    def reconnect(self) -> None:
        """The server is there, and the copy has everything."""
        self.disconnected_since, self._is_cut = None, False
        if self._is_whole:
            self._heard(now_ms())
            return
        for message in copy_of(self._held, self._known_names, v1.Position(revision=1, epoch=1), self._now):
            self._take(message)

    def fail(self, error: PerchError) -> None:
        """A final error ends the updates."""
        self._error = error

    def grant(self, account: str, name: str, until: Optional[datetime.datetime] = None) -> v1.Position:
        """Gives an entitlement. The callbacks of `on_change` have been called when it returns."""
        self._held.setdefault(account, {})[name] = until
        return self._changed(account)

    def revoke(self, account: str, name: str) -> v1.Position:
        """Takes an entitlement away."""
        self._held.get(account, {}).pop(name, None)
        return self._changed(account)

    def advance(self, by: datetime.timedelta) -> None:
        """Moves the clock forward."""
        ms = by // datetime.timedelta(milliseconds=1)
        clock = self._clock.replace(app_time_ms=self._app_now() + ms, frozen=not self._time[1])
        self._take(v1.AppEntitlementsResponse(accounts=v1.EntitlementsBatch(clock=clock)))

    def _changed(self, account: str) -> v1.Position:
        self._revision += 1
        batch = entries_of({account: self._held.get(account, {})}, len(self._shifted))
        batch.position = v1.Position(revision=self._revision, epoch=1)
        for change in self._take(v1.AppEntitlementsResponse(accounts=batch)):
            for callback in list(self._callbacks):
                callback(*change)
        return batch.position

    def wait_ready(self, timeout: Optional[float] = None) -> None:
        """Returns at once if the copy is complete; else raises at once."""
        if self._error is not None:
            raise self._error
        if not self._is_whole:
            raise late("the copy was not complete")

    def wait_for(self, position: v1.Position, timeout: Optional[float] = None) -> None:
        """Returns at once."""

    def close(self) -> None:
        """Nothing is to be closed."""

    def __enter__(self) -> "Copy":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def copy_of(
    accounts: Accounts, names: Iterable[str], position: v1.Position, now: Optional[datetime.datetime] = None
) -> Iterator[v1.AppEntitlementsResponse]:
    """The messages of a whole copy."""
    at = to_ms(now or datetime.datetime.now(datetime.timezone.utc))
    clock = v1.EntitlementsClock(app_time_ms=at, server_time_ms=at, frozen=now is not None)
    yield v1.AppEntitlementsResponse(begin=v1.EntitlementsBegin(names=sorted(names), clock=clock))
    yield v1.AppEntitlementsResponse(accounts=entries_of(accounts))
    yield v1.AppEntitlementsResponse(end=v1.EntitlementsEnd(position=position, resume_token=b"%d" % position.revision))


def entries_of(accounts: Accounts, grades: int = 0) -> v1.EntitlementsBatch:
    """A message with whole entries. Its own grades follow the `grades` that a copy has already."""
    names = sorted({name for held in accounts.values() for name in held})
    segments = [(names.index(name), held[name]) for held in accounts.values() for name in sorted(held)]
    keys = [account.encode() for account in accounts]
    return v1.EntitlementsBatch(
        keys=b"".join(keys),
        key_ends=list(itertools.accumulate(map(len, keys))),
        segment_ends=list(itertools.accumulate(map(len, accounts.values()))),
        grades=[grades + number for number, _ in segments],
        untils=[NEVER if until is None else to_ms(until) for _, until in segments],
        reasons=bytes([v1.EntitlementReason.GRANTED]) * len(segments),
        more_grades=[v1.EntitlementGrade(name=name) for name in names],
    )


__all__ = ["Copy", "Store"]

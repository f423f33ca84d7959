"""The entries of a copy: every account of an app with what entitles it, until when, and how a program asks.

An entry is small, because there may be millions. A segment is one integer: the number of its grade, its end and its
reason. The entry of an account with one segment is that integer, and otherwise a tuple of them.
"""

import datetime
import functools
import itertools
import re
import time
import zlib
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from . import v1
from .errors import Code, FinalError, LocalReason, PerchError, TransientError, breach

REASON_BITS, UNTIL_BITS = 3, 48
REASON_MAX = (1 << REASON_BITS) - 1
# In a word, for an end that never comes. In the contract that is the greatest number of 64 bits.
FOREVER = (1 << UNTIL_BITS) - 1
NEVER = (1 << 63) - 1
GRADE_SHIFT = REASON_BITS + UNTIL_BITS
SUBSCRIBED = int(v1.EntitlementReason.SUBSCRIBED)
AWAITED = int(v1.EntitlementReason.RENEWAL_AWAITED)
# How long a copy that is cut off waits for the renewal of a test app's subscription.
AWAITED_MS = 2_000
# How long a word of the server's clock counts at least, so that a later one that was read late does not set it back.
_WORD_COUNTS_MS = 10_000
_UUID = re.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
ACCOUNTS_A_MESSAGE = 4_096

# Nanoseconds of a clock that no one sets, and that goes on while the machine sleeps where the system has such a one.
now_ns: Callable[[], int] = time.monotonic_ns
if hasattr(time, "CLOCK_BOOTTIME"):
    now_ns = functools.partial(time.clock_gettime_ns, time.CLOCK_BOOTTIME)


def now_ms() -> int:
    return now_ns() // 1_000_000


class Entitlement(NamedTuple):
    """What an account has now, by a name."""

    tier: str
    """Which kind of it, such as `gold`; empty for none."""
    until: Optional[datetime.datetime]
    """When it ends unless it renews; None: it has no end. Where one tier follows another, the end of the last."""
    reason: v1.EntitlementReason
    """Why the account has it."""


Change = Tuple[str, Dict[str, Entitlement], Dict[str, Entitlement]]
Callback = Callable[[str, Dict[str, Entitlement], Dict[str, Entitlement]], Any]


def shard_of(account: str, count: int) -> int:
    """The shard of an account's key: which of `count` processes that share an app has the account."""
    return zlib.crc32(account.encode()) % count


class Table:
    """One copy. Threads read it while one thread writes."""

    __slots__ = ("entries", "aliases", "owned", "names")

    def __init__(self) -> None:
        self.entries: Dict[str, Any] = {}
        self.aliases: Dict[str, str] = {}
        self.owned: Dict[str, Tuple[str, ...]] = {}
        """The aliases of an account that has some."""
        self.names: Dict[str, Set[int]] = {}
        """The numbers of each name's grades. A name that is not here is an error of the caller."""


class Entries:
    """What a copy answers, from its memory: no method here uses the network. Any thread may ask."""

    def __init__(self, names: Sequence[str], shard: Optional[Tuple[int, int]], deny_after: Optional[float]) -> None:
        self._asked, self._deny_after = tuple(names), deny_after
        self._shard = shard or (0, 1)
        self._callbacks: List[Callback] = []
        self._error: Optional[PerchError] = None
        self._forget()

    def _forget(self) -> None:
        """As before the first message."""
        self._table = Table()
        self._building: Optional[Table] = None
        self._grades: List[Tuple[str, str]] = []
        self._numbers: Dict[Tuple[str, str], int] = {}
        # By the numbers of the last `begin`.
        self._shifted: List[int] = []
        self._begun = v1.EntitlementsBegin()
        self._clock = v1.EntitlementsClock()
        # What to add to `now_ms` for the clock of the app, or that clock if it stands still; if it runs; when to deny.
        self._time: Tuple[int, bool, int] = (0, True, NEVER)
        self._heard_ms: Optional[int] = None
        # The latest clock among the bookmarks since `_since_ms`, and among those of the interval before.
        self._latest = self._before = self._since_ms = 0
        self._is_whole = False
        # Whether this connection has said which history it has, and whether it has said all that the copy missed.
        self._is_joined = self._is_current = False
        self._is_cut = True
        self._position: Optional[v1.Position] = None
        self._said = 0
        self._token = b""

    # MARK: Asking

    def has(self, account: str, name: str) -> bool:
        """Whether the account has the named entitlement now. A name that the app does not have is a FinalError."""
        table = self._table
        grades, entry = table.names.get(name), table.entries.get(account)
        if grades is None or entry.__class__ is not int:
            return self._has(account, name)
        offset, runs, deny_at = self._time
        ms = now_ns() // 1_000_000
        return (
            entry >> GRADE_SHIFT in grades
            and (entry >> REASON_BITS & FOREVER) > (ms + offset if runs else offset)
            and ms < deny_at
        )

    def until(self, account: str, name: str) -> Optional[datetime.datetime]:
        """When the entitlement ends unless it renews. None: it has no end, or the account does not have it."""
        self._known(self._table, name)
        found = self.entitlements(account).get(name)
        return found.until if found is not None else None

    def entitlements(self, account: str) -> Dict[str, Entitlement]:
        """What the account has now, by its names."""
        table = self._ready()
        words = self._words(table, account)
        if now_ms() >= self._time[2]:
            return {}
        return self._current(words)

    def accounts(self) -> List[str]:
        """The keys of all accounts that the copy has. Some may have nothing any more, because time has ended it."""
        return list(self._ready().entries)

    def names(self) -> List[str]:
        """The names that `has` knows."""
        return sorted(self._ready().names)

    def age(self) -> float:
        """Seconds since the copy was as new as the server: little more than 10 at most while it is connected.

        A server that has nothing to say speaks every 10 seconds. `inf` before the copy was ever complete.
        """
        heard = self._heard_ms
        return float("inf") if heard is None else max(now_ms() - heard, 0) / 1_000

    @property
    def position(self) -> Optional[v1.Position]:
        """Where the copy is: after the newest change in it. None before there is one."""
        return self._position

    @property
    def is_ready(self) -> bool:
        """Whether there is a whole copy, from the server or from the file."""
        return self._is_whole

    @property
    def error(self) -> Optional[PerchError]:
        """The final error that has ended the updates. The copy still answers with what it has."""
        return self._error

    def on_change(self, callback: Callback) -> Callable[[], None]:
        """Calls `callback(account, before, after)` after each change of an account. Answers a function that ends that.

        `before` and `after` are as `entitlements` answers them. A change is what the server sends, and what differs in
        a new copy. An entitlement that ends by time makes no call: ask `has`, or look at `until`.
        """
        self._callbacks.append(callback)

        def remove() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return remove

    # MARK: Finding

    def _ready(self) -> Table:
        if not self._is_whole:
            raise self._error or TransientError(
                Code.UNAVAILABLE, LocalReason.COPY_NOT_READY, "the copy is not complete yet; call wait_ready first"
            )
        return self._table

    def _known(self, table: Table, name: str) -> Set[int]:
        self._ready()
        found = table.names.get(name)
        if found is None:
            raise unknown_name(name, sorted(table.names), "the copy")
        return found

    def _words(self, table: Table, account: str) -> Tuple[int, ...]:
        """The segments of an account, or of the account with that alias."""
        found = table.entries.get(account)
        if found is None:
            key = self._other_key(table, account)
            found = None if key is None else table.entries.get(key)
        return () if found is None else found if found.__class__ is tuple else (found,)

    @staticmethod
    def _named(table: Table, key: str) -> Tuple[int, ...]:
        """The segments behind a key that the server named: its own, or those of the account that it leads to by now."""
        found = table.entries.get(key)
        if found is None:
            found = table.entries.get(table.aliases.get(key, ""))
        return () if found is None else found if found.__class__ is tuple else (found,)

    def _other_key(self, table: Table, account: str) -> Optional[str]:
        """The key behind an alias, or of a UUID in other letters. An error where this copy cannot know."""
        key = table.aliases.get(account)
        if key is None and len(account) != 36 and 0 < len(account) < 64 and self._shard[1] == 1 and "\0" not in account:
            return None  # The frequent case, in short.
        checked_key(account)
        index, count = self._shard
        if key is None and not self._clock.test_app and _UUID.fullmatch(account):
            account = account.lower()
            key = account if account in table.entries else table.aliases.get(account)
        if count > 1 and key is not None and key != account:
            raise FinalError(
                Code.INVALID_ARGUMENT,
                LocalReason.ALIAS_IN_SHARD,
                f"the copy has shard {index} of {count}, so it does not know every alias: ask by the account's own key",
            )
        if count > 1 and (found := shard_of(account, count)) != index:
            raise FinalError(
                Code.INVALID_ARGUMENT,
                LocalReason.OTHER_SHARD,
                f"the account is in shard {found}, and the copy has shard {index} of {count}; see perch.shard_of",
                details={"found": str(found)},
            )
        return key

    def _app_now(self) -> int:
        return self._app_at(now_ms())

    def _app_at(self, ms: int) -> int:
        offset, runs, _ = self._time
        return ms + offset if runs else offset

    def _has(self, account: str, name: str) -> bool:
        table = self._table
        grades = table.names.get(name) if self._is_whole else None
        if grades is None:
            grades = self._known(table, name)
        words = self._words(table, account)
        if not words or now_ms() >= self._time[2]:
            return False
        now, begin = self._app_now(), 0
        for word in words:
            if word >> GRADE_SHIFT not in grades:
                continue
            until, reason = word >> REASON_BITS & FOREVER, word & REASON_MAX
            if until > now:
                return reason != 0 and not self._is_over(reason, begin, now)
            begin = until
        return False

    def _is_over(self, reason: int, begin: int, now: int) -> bool:
        """Whether a renewal was awaited for too long: the server's word cannot come."""
        return reason == AWAITED and self._is_cut and self._clock.test_app and now >= begin + AWAITED_MS

    def _current(self, words: Tuple[int, ...]) -> Dict[str, Entitlement]:
        now = self._app_now()
        found: Dict[str, Entitlement] = {}
        for name, segments in itertools.groupby(words, lambda word: self._grades[word >> GRADE_SHIFT][0]):
            begin, tier, held, end = 0, "", 0, 0
            for word in segments:
                until, reason = word >> REASON_BITS & FOREVER, word & REASON_MAX
                if held:
                    if not reason or (reason == AWAITED and until == FOREVER):
                        break
                    end = until
                elif until > now:
                    if not reason or self._is_over(reason, begin, now):
                        break
                    tier, held = self._grades[word >> GRADE_SHIFT][1], reason
                    end = begin if reason == AWAITED and until == FOREVER and begin else until
                begin = until
            if held:
                found[name] = Entitlement(tier, to_instant(end), v1.EntitlementReason(held))
        return found

    # MARK: The server's messages

    def _take(self, message: v1.AppEntitlementsResponse, ms: Optional[int] = None) -> Iterable[Change]:
        """Applies a message, and answers what it has changed. `ms`: when it came, if that is not now."""
        ms = now_ms() if ms is None else ms
        changes: Iterable[Change] = ()
        if message.bookmark is not None:
            if self._building is None:
                self._said = max(self._said, message.bookmark.revision)
                self._is_current = self._is_whole
            self._correct(message.bookmark.server_time_ms, ms)
        elif message.begin is not None:
            self._begin(message.begin, ms)
        elif message.accounts is not None:
            try:
                changes = self._add(message.accounts, ms)
            except (IndexError, UnicodeDecodeError, ValueError) as error:
                raise breach(f"a batch of entries cannot be read: {error}") from None
        elif message.end is not None:
            changes = self._end(message.end)
        if self._is_current and self._building is None:
            self._heard(ms)
        return changes

    def _heard(self, ms: int) -> None:
        """The copy is as new as the server. It was not before it had what it missed, or while a new copy is built."""
        self._heard_ms = ms
        if self._deny_after is not None:
            offset, runs, _ = self._time
            self._time = offset, runs, ms + int(self._deny_after * 1_000)

    def _set_clock(self, clock: v1.EntitlementsClock, ms: int) -> None:
        self._clock = clock
        self._latest = self._before = clock.app_time_ms - (0 if clock.frozen else ms)
        self._since_ms = ms
        self._time = self._latest, not clock.frozen, self._time[2]

    def _correct(self, server_ms: int, ms: int) -> None:
        """The latest clock of the last bookmarks counts, because one that was read late shows an earlier one.

        So the copy follows a server's clock that goes ahead at once, and one that stands still within half a minute.
        """
        _, runs, deny_at = self._time
        if runs and server_ms:
            found = self._clock.app_time_ms + server_ms - self._clock.server_time_ms - ms
            if ms - self._since_ms >= _WORD_COUNTS_MS:
                self._before, self._latest, self._since_ms = self._latest, found, ms
            self._latest = max(self._latest, found)
            self._time = max(self._before, self._latest), runs, deny_at

    def _begin(self, begin: v1.EntitlementsBegin, ms: int) -> None:
        self._building = None if begin.resumed else Table()
        if begin.resumed:
            self._is_joined, self._is_current = True, False
        self._begun = begin
        table = self._building or self._table
        for name in self._asked or begin.names:
            table.names.setdefault(name, set())
        self._shifted = [self._number(table, grade) << GRADE_SHIFT for grade in begin.grades]
        if begin.clock is not None:
            self._set_clock(begin.clock, ms)

    def _number(self, table: Table, grade: v1.EntitlementGrade) -> int:
        """The number of a grade, the same in every copy."""
        key = grade.name, grade.tier
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._grades)
            self._grades.append(key)
        if not self._asked or grade.name in self._asked:
            table.names.setdefault(grade.name, set()).add(number)
        return number

    def _add(self, batch: v1.EntitlementsBatch, ms: int) -> Iterable[Change]:
        table = self._building or self._table
        if batch.clock is not None:
            self._set_clock(batch.clock, ms)
        keys = pieces(batch.keys, batch.key_ends)
        words = self._packed(table, batch)
        count = len(keys)
        if len(batch.segment_ends) != count or (batch.segment_ends or [0])[-1] != len(words):
            raise ValueError("the columns have different lengths")
        changes: List[Change] = []
        if self._building is not None and not table.owned and not batch.alias_ends and is_simple(batch):
            table.entries.update(zip(keys, words))
        elif count:
            whole = self._whole(batch, keys, words, ms)
            is_watched = self._building is None and bool(self._callbacks)
            before = [self._current(self._named(table, key)) for key in whole] if is_watched else []
            apply(table, whole)
            if is_watched:
                after = (self._current(self._named(table, key)) for key in whole)
                changes = [each for each in zip(whole, before, after) if each[1] != each[2]]
        if batch.position is not None:
            self._move(batch.position, batch.resume_token)
        return changes

    def _packed(self, table: Table, batch: v1.EntitlementsBatch) -> List[int]:
        grades, untils, reasons = batch.grades, batch.untils, batch.reasons
        if not len(grades) == len(untils) == len(reasons):
            raise ValueError("the columns have different lengths")
        if not grades:
            return []
        shifted = self._shifted
        if batch.more_grades:
            shifted = shifted + [self._number(table, grade) << GRADE_SHIFT for grade in batch.more_grades]
        if max(untils) > FOREVER or min(untils) < 0:
            untils = [min(max(until, 0), FOREVER) for until in untils]
        if max(reasons) > REASON_MAX:
            reasons = bytes(min(reason, REASON_MAX) for reason in reasons)
        return [shifted[grade] | until << REASON_BITS | reason for grade, until, reason in zip(grades, untils, reasons)]

    def _whole(
        self, batch: v1.EntitlementsBatch, keys: List[str], words: List[int], ms: int
    ) -> Dict[str, Tuple[Any, Tuple[str, ...]]]:
        """The new entry of each account, and its aliases. The later of two counts."""
        aliases: Dict[int, List[str]] = {}
        for place, alias in zip(batch.alias_accounts, pieces(batch.aliases, batch.alias_ends)):
            aliases.setdefault(place, []).append(alias)
        found: Dict[str, Tuple[Any, Tuple[str, ...]]] = {}
        begin = 0
        for place, (key, end) in enumerate(zip(keys, batch.segment_ends)):
            if end < begin:
                raise ValueError("the segments of an account end before they begin")
            entry: Any = tuple(words[begin:end])
            if self._clock.test_app and any(word & REASON_MAX == AWAITED for word in entry):
                entry = self._with_begins(entry, self._app_at(ms))
            if len(entry) == 1 and entry[0] & REASON_MAX:
                entry = entry[0]
            found[key] = entry, tuple(aliases.get(place, ()))
            begin = end
        return found

    def _with_begins(self, words: Tuple[int, ...], now: int) -> Tuple[int, ...]:
        """Where the first segment of a name awaits a renewal, its begin is not known: it is now, behind a segment."""
        found: List[int] = []
        last = None
        for word in words:
            name = self._grades[word >> GRADE_SHIFT][0]
            if name != last and word & REASON_MAX == AWAITED:
                found.append(word >> GRADE_SHIFT << GRADE_SHIFT | max(now, 0) << REASON_BITS | SUBSCRIBED)
            found.append(word)
            last = name
        return tuple(found)

    def _end(self, end: v1.EntitlementsEnd) -> Iterable[Change]:
        if self._building is None:
            raise breach("a copy ends that has not begun")
        old, was_whole = self._table, self._is_whole
        self._table, self._building = self._building, None
        self._is_whole = self._is_joined = self._is_current = True
        self._said = 0
        self._move(end.position, end.resume_token)
        return self._differences(old) if was_whole and self._callbacks else ()

    def _differences(self, old: Table) -> Iterator[Change]:
        """What a new copy has changed."""
        new = self._table
        for key in itertools.chain(old.entries, (key for key in new.entries if key not in old.entries)):
            if old.entries.get(key) == new.entries.get(key):
                continue
            before, after = self._current(self._named(old, key)), self._current(self._named(new, key))
            if before != after:
                yield key, before, after

    def _move(self, position: Optional[v1.Position], token: bytes) -> None:
        if position is not None:
            self._position = position
        if token:
            self._token = token

    def _has_reached(self, position: v1.Position) -> bool:
        here = self._position
        if not self._is_joined or here is None or (position.epoch and here.epoch and position.epoch != here.epoch):
            return False
        return position.revision <= max(here.revision, self._said)

    # MARK: As messages again, for the file

    def _messages(self) -> Iterator[v1.AppEntitlementsResponse]:
        """The whole copy, as a server would send it."""
        table, now = self._table, self._app_now()
        clock = self._clock.replace(
            app_time_ms=now, server_time_ms=self._clock.server_time_ms + now - self._clock.app_time_ms
        )
        grades = [v1.EntitlementGrade(name=name, tier=tier) for name, tier in self._grades]
        begin = self._begun.replace(resumed=False, grades=grades, clock=clock)
        yield v1.AppEntitlementsResponse(begin=begin)
        keys = iter(table.entries.items())
        while items := list(itertools.islice(keys, ACCOUNTS_A_MESSAGE)):
            yield v1.AppEntitlementsResponse(accounts=batch_of(items, table.owned))
        yield v1.AppEntitlementsResponse(end=v1.EntitlementsEnd(position=self._position, resume_token=self._token))
        # The numbers of grades in what follows are the server's.
        yield v1.AppEntitlementsResponse(begin=self._begun.replace(resumed=True, clock=clock))


def batch_of(items: List[Tuple[str, Any]], owned: Dict[str, Tuple[str, ...]]) -> v1.EntitlementsBatch:
    """A message with these entries."""
    keys = [key.encode() for key, _ in items]
    entries = [entry if entry.__class__ is tuple else (entry,) for _, entry in items]
    words = list(itertools.chain.from_iterable(entries))
    aliases = [(place, alias.encode()) for place, (key, _) in enumerate(items) for alias in owned.get(key, ())]
    return v1.EntitlementsBatch(
        keys=b"".join(keys),
        key_ends=list(itertools.accumulate(map(len, keys))),
        segment_ends=list(itertools.accumulate(map(len, entries))),
        grades=[word >> GRADE_SHIFT for word in words],
        untils=[word >> REASON_BITS & FOREVER for word in words],
        reasons=bytes(word & REASON_MAX for word in words),
        aliases=b"".join(alias for _, alias in aliases),
        alias_ends=list(itertools.accumulate(len(alias) for _, alias in aliases)),
        alias_accounts=[place for place, _ in aliases],
    )


def apply(table: Table, whole: Dict[str, Tuple[Any, Tuple[str, ...]]]) -> None:
    """Sets entries. Other threads read meanwhile, so what is new comes before what goes: no account is without both."""
    entries, aliases, owned = table.entries, table.aliases, table.owned
    old = {key: owned[key] for key in whole if key in owned} if owned else {}
    for key, (entry, _) in whole.items():
        if entry != ():
            entries[key] = entry
    for key, (entry, others) in whole.items():
        if others and entry != ():
            owned[key] = others
            aliases.update((alias, key) for alias in others)
        elif key in old:
            del owned[key]
    for key, (entry, _) in whole.items():
        if entry == ():
            entries.pop(key, None)
    for key, others in old.items():
        kept = owned.get(key, ())
        for alias in others:
            if alias not in kept and aliases.get(alias) == key:
                del aliases[alias]


def pieces(column: bytes, ends: List[int]) -> List[str]:
    """The texts that lie one after another in a column."""
    if (ends[-1] if ends else 0) != len(column):
        raise ValueError("the columns have different lengths")
    if column.isascii():
        text = column.decode("ascii")
        return [text[begin:end] for begin, end in zip([0, *ends], ends)]
    return [column[begin:end].decode() for begin, end in zip([0, *ends], ends)]


_COUNTED = list(range(1, 4_097))


def is_simple(batch: v1.EntitlementsBatch) -> bool:
    """Whether each account has one segment, which entitles, and nothing more."""
    ends, reasons = batch.segment_ends, batch.reasons
    return ends == _COUNTED[: len(ends)] and 0 not in reasons and AWAITED not in reasons


def to_instant(ms: int) -> Optional[datetime.datetime]:
    if ms >= FOREVER:
        return None
    try:
        return _EPOCH + datetime.timedelta(milliseconds=ms)
    except OverflowError:
        return None  # Beyond the year 9999.


def checked_key(account: str) -> None:
    if not isinstance(account, str):
        raise TypeError(f"an account's key is a str, not {type(account).__name__}")
    length = len(account.encode("utf-8", "replace"))
    if not 1 <= length <= 255 or "\0" in account:
        raise FinalError(
            Code.INVALID_ARGUMENT,
            "ACCOUNT_KEY",
            f"an account's key has {length} bytes; it must have 1 to 255, and no NUL",
            details={"found": str(length), "limit": "255"},
        )


def unknown_name(name: str, names: Sequence[str], where: str) -> FinalError:
    return FinalError(
        Code.NOT_FOUND,
        LocalReason.ENTITLEMENT_UNKNOWN,
        f"{where} has no entitlement {name!r}; it has {', '.join(map(repr, names)) or 'none'}",
        details={"found": name},
    )


__all__ = ["Callback", "Change", "Entitlement", "Entries", "now_ms", "shard_of", "unknown_name"]

"""Compares everything at the end: logged answers, watched values, read values, and the file."""
import collections
import sqlite3
import time

from client import MESSAGE, STATUS
from waiting import PATIENCE_SECONDS
from watchers import ENTITLEMENTS, UPDATES, unsigned, value_of
from wire import APP, STORE, Caller
from writers import FINISH, GROUP, PURCHASE, REFUND, RENEW, is_same, one_line

PURCHASED, RENEWED, REVOKED = 2, 3, 4
BY_PURCHASE = 1
# Fields that may change after the acknowledgement. Each change is an event, and the last one is compared.
CHANGING = ("revocation", "expiration_date_ms", "is_upgraded", "signed_date_ms")


def audit(run, cycle):
    test = run.test
    caller = run.auditor(cycle.address, client_name="crash audit", heartbeat_seconds=600)
    # From here on nothing changes automatically.
    frozen = caller.get(STORE + "SetClock", app=APP, freeze={})
    watches(run, test, cycle, frozen.position)
    for writer in run.writers:
        for account in writer.accounts:
            history(run, test, caller, writer, account, frozen.position)
    for writer in run.writers:
        for request in writer.requests:
            again(test, caller, request)
    welcome = Caller(cycle.address, client_name="crash audit").welcome
    for watcher in run.watchers:
        watcher.stopping = True
    test.end_all()
    status = run.server.stop()
    test.looked("a server that is told to stop ends with 0")
    if status != 0:
        test.broken("a server that is told to stop ends with 0", f"it ended with {status}")
    file(run, test, welcome)


def watches(run, test, cycle, position):
    """The last value of each watch against a unary read on the same connection."""
    name = "every watch's last value equals a unary read"
    for watcher in run.watchers:
        if not watcher.is_back(cycle):
            test.broken(name, f"{watcher.name} did not come back")
            continue
        try:
            reads = watcher.read_all(position)
        except (TimeoutError, OSError) as error:
            test.broken(name, f"{watcher.name}: {error}")
            continue
        test.looked("reads at the end are answered")
        test.looked("no stream ends but with its server", len(watcher.streams))
        test.looked("a watcher hears a beat")
        for stream, answer in reads:
            test.looked(name)
            test.looked("positions on a watch never decrease, restarts included", stream.pushes)
            test.looked("an equal value is never pushed twice in a row, restarts included", stream.pushes)
            test.looked("a token is answered by a value or unchanged", stream.resumes)
            if answer.WhichOneof("state") != "success" or stream.value is None:
                test.broken(name, f"{stream.name}: read {one_line(answer)}, watched {one_line(stream.value)}")
            elif value_of(answer).SerializeToString(deterministic=True) != stream.value.SerializeToString(
                    deterministic=True):
                test.broken(name, f"{stream.name}: read {one_line(value_of(answer))} at "
                                  f"{one_line(answer.info.position)}, watched {one_line(stream.value)} at "
                                  f"{stream.position}")
    for client in run.watchers + run.writers:
        test.looked("no client ends early")


def history(run, test, caller, writer, account, position):
    requests = [each for each in writer.requests if each.account == account and not each.refused]
    opened = any(each.method == PURCHASE for each in requests)
    listed = caller.transactions(account, at_least=position)
    counts = collections.Counter(each.id for each in listed)
    by_id = {each.id: each for each in listed}
    streams = [stream for stream in run.event_streams() if stream.account == account]
    last = {event[2]: message.transaction.transaction for event, message in streams[0].events}

    for request in requests:
        acknowledged = request.transaction
        if acknowledged is None:
            continue
        test.looked("every acknowledged transaction is listed exactly once")
        if counts[acknowledged.id] != 1:
            test.broken("every acknowledged transaction is listed exactly once",
                        f"{account}: {counts[acknowledged.id]} times {one_line(acknowledged)}")
            continue
        test.looked("a listed transaction has the acknowledged fields")
        found, now = stable(by_id[acknowledged.id]), stable(acknowledged)
        if found != now or request.method == REFUND and by_id[acknowledged.id].revocation != acknowledged.revocation:
            test.broken("a listed transaction has the acknowledged fields",
                        f"{account}: listed {one_line(by_id[acknowledged.id])}, acknowledged {one_line(acknowledged)}")
    for transaction in listed:
        test.looked("a listed transaction has the acknowledged fields")
        if transaction.id not in last or same(last[transaction.id]) != same(transaction):
            test.broken("a listed transaction has the acknowledged fields",
                        f"{account}: listed {one_line(transaction)}, its last event {one_line(last.get(transaction.id))}")

    bought = {each.transaction.id for each in requests if each.method == PURCHASE and not each.answer.already_held}
    listed_as_bought = {each.id for each in listed if each.reason == BY_PURCHASE}
    test.looked("what is listed as bought is what was acknowledged as bought", len(bought))
    if bought != listed_as_bought or counts and max(counts.values()) > 1:
        test.broken("what is listed as bought is what was acknowledged as bought",
                    f"{account}: nobody bought {sorted(listed_as_bought - bought)[:9]}, missing are "
                    f"{sorted(bought - listed_as_bought)[:9]}, twice are "
                    f"{[number for number, count in counts.items() if count > 1][:9]}")

    finished = {each.fields["transaction_id"] for each in requests if each.method == FINISH}
    unfinished = [each.id for each in caller.transactions(account, "ListUnfinished", at_least=position)]
    test.looked("what is listed as unfinished is what nobody finished", len(counts))
    if sorted(unfinished) != sorted(set(counts) - finished):
        test.broken("what is listed as unfinished is what nobody finished",
                    f"{account}: {sorted(set(unfinished) ^ (set(counts) - finished))[:9]} differ")

    if opened:
        events(run, test, account, streams, requests, listed)


def stable(transaction):
    """The fields of a transaction that never change."""
    copy = type(transaction).FromString(transaction.SerializeToString())
    for name in CHANGING:
        copy.ClearField(name)
    return copy


def same(transaction):
    copy = type(transaction).FromString(transaction.SerializeToString())
    unsigned(copy)
    return copy


def events(run, test, account, streams, requests, listed):
    name = "the events of all connections together are those that the store has"
    for stream in streams:
        test.looked("each event comes exactly once and in order, reconnects included", len(stream.events))
        test.looked("no BEAT passes an event that is still to come", len(stream.events))
        test.looked("a cursor is answered by itself, then by what came after it", len(stream.events))
        seen = [event for event, _ in stream.events]
        test.looked(name, len(seen))
        replayed = replay(run, test, account, stream.first_cursor, len(seen))
        if replayed != seen:
            both = [index for index, pair in enumerate(zip(replayed, seen)) if pair[0] != pair[1]]
            where = both[0] if both else min(len(replayed), len(seen))
            test.broken(name, f"{account}: {len(seen)} came, {len(replayed)} come again by the first cursor; from the "
                              f"{where}th on: {seen[where:where + 4]} and {replayed[where:where + 4]}")
    seen = [event for event, _ in streams[0].events]
    made = collections.Counter(number for _, kind, number in seen if kind in (PURCHASED, RENEWED))
    wanted = collections.Counter(each.id for each in listed)
    revoked = collections.Counter(number for _, kind, number in seen if kind == REVOKED)
    refunded = collections.Counter(each.id for each in listed if each.HasField("revocation"))
    if made != wanted or revoked != refunded:
        test.broken(name, f"{account}: made and listed differ by {dict((made - wanted) + (wanted - made))}, revoked and "
                          f"listed so by {dict((revoked - refunded) + (refunded - revoked))}")

    name = "an event's revision and origin are those of the acknowledged request"
    revisions = {(kind, number): revision for revision, kind, number in seen}
    origins = {(kind, number): message.origin_client_id for (_, kind, number), message in streams[0].events}
    writer = f"writer-{requests[0].key.decode().split('-')[0]}".encode()
    for request in requests:
        kind = {PURCHASE: PURCHASED, RENEW: RENEWED}.get(request.method)
        if kind is None or request.method == PURCHASE and request.answer.already_held:
            continue
        test.looked(name)
        event = (kind, request.transaction.id)
        # Changes by a test store's operation come from outside the app. They have no origin, so every reader receives them.
        origin = writer if request.method == PURCHASE else b""
        if revisions.get(event) != request.position[0] or origins.get(event) != origin:
            test.broken(name, f"{account}: event {event} is of revision {revisions.get(event)} by {origins.get(event)}, "
                              f"acknowledged at {request.position}, and should be by {origin}")
        revisions.pop(event, None)
    for (kind, number), revision in revisions.items():
        if kind == RENEWED and origins[kind, number]:
            test.broken(name, f"{account}: renewal {number} at revision {revision} came by itself, and its origin is "
                              f"{origins[kind, number]}")


class Replay(Caller):
    """A caller that keeps unrelated frames."""

    def __init__(self, address):
        super().__init__(address)
        self.stream, self.events = None, []

    def read(self):
        frame = super().read()
        if frame and frame.stream == self.stream and frame.kind == STATUS:
            raise ConnectionError(frame.message.message)
        if frame and frame.stream == self.stream and frame.kind == MESSAGE:
            event = frame.message
            if event.HasField("transaction"):  # The first message repeats the cursor and has none.
                self.events.append((event.revision, event.kind, event.transaction.transaction.id))
        return frame


def replay(run, test, account, cursor, count):
    """All events after a cursor, read on a separate connection. Of several nodes each may lose its database for a moment."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        caller = Replay(run.server.address)
        try:
            return replay_once(caller, account, cursor, count)
        except (ConnectionError, RuntimeError):
            if not run.comes_back or time.monotonic() > end:
                raise
            time.sleep(0.05)
        finally:
            caller.close()


def replay_once(caller, account, cursor, count):
    caller.hello(client_name="crash audit", heartbeat_seconds=600)
    caller.stream = caller.call(UPDATES, app=APP, account=account, cursor=cursor)
    try:
        while len(caller.events) < count and caller.read():
            pass
        # The next page was requested earlier, so its events arrive with the first or second answer.
        for _ in range(2):
            caller.get(ENTITLEMENTS + "GetSubscriptionStatus", app=APP, account=account, group_id=GROUP)
    except TimeoutError:
        pass  # Too few events: the lists differ.
    return caller.events


def again(test, caller, request):
    """Repeats every idempotency key at the end."""
    if request.refused or not request.key:
        return
    test.looked("the same key gives the same answer")
    test.looked("every call is answered")
    test.looked("a writer is refused only what its account's state forbids")
    answer, status = caller.ask(request.path, **request.fields)
    if status.code or not is_same(answer, request.answer):
        test.broken("the same key gives the same answer",
                    f"at the end, {request.method} {request.fields}: first {one_line(request.answer)}, then "
                    f"{status.reason or one_line(answer)}")


def file(run, test, welcome):
    """Checks the closed file with another SQLite reader."""
    database = sqlite3.connect(f"file:{run.store}?mode=ro", uri=True)
    test.looked("the file is sound")
    result = [row[0] for row in database.execute("PRAGMA integrity_check")]
    if result != ["ok"]:
        test.broken("the file is sound", f"integrity_check: {result[:5]}")

    name = "the file's revisions have no hole, and each has its facts"
    commits = [row[0] for row in database.execute("SELECT revision FROM commits ORDER BY revision")]
    test.looked(name, len(commits))
    if commits != list(range(1, len(commits) + 1)):
        holes = sorted(set(range(1, commits[-1] + 1)) - set(commits))
        test.broken(name, f"{len(commits)} revisions up to {commits[-1]}, missing are {holes[:9]}")
    if commits[-1] != welcome.revision:
        test.broken(name, f"the file ends with revision {commits[-1]}, the server said {welcome.revision}")
    facts = collections.defaultdict(list)
    rows = database.execute("SELECT revision, 0 FROM commits WHERE fact IS NOT NULL "
                            "UNION ALL SELECT revision, ordinal FROM facts ORDER BY 1, 2")
    for revision, ordinal in rows:
        facts[revision].append(ordinal)
    torn = [revision for revision, ordinals in facts.items() if ordinals != list(range(len(ordinals)))]
    states = {row[0] for row in database.execute("SELECT revision FROM app_states")}
    # A backup and a reload are a line of the audit trail and nothing else.
    noted = {row[0] for row in database.execute("SELECT revision FROM commits WHERE length(blob) > 0")}
    empty = [revision for revision in commits if revision not in facts and revision not in states and revision not in noted]
    strange = sorted(set(facts) - set(commits))
    if torn or empty or strange:
        test.broken(name, f"torn {torn[:9]}, without facts {empty[:9]}, facts without a revision {strange[:9]}")

    accounts = dict(database.execute("SELECT CAST(key AS TEXT), account FROM aliases"))
    name = "the events of all connections together are those that the store has"
    for stream in run.event_streams():
        rows = database.execute("SELECT -first FROM accounts WHERE account = ? AND kind = 1 AND mark "
                                "ORDER BY first DESC, second DESC", (accounts.get(stream.account, -1),))
        stored, seen = [row[0] for row in rows], [event[0] for event, _ in stream.events]
        if stored != seen:
            differ = list((collections.Counter(stored) - collections.Counter(seen)).elements())[:9]
            test.broken(name, f"{stream.account}: the file has {len(stored)} events, {len(seen)} came; missing are those "
                              f"of revisions {differ}")
    seen = {event[0] for stream in run.event_streams() for event, _ in stream.events}
    seen |= {request.position[0] for writer in run.writers for request in writer.requests}
    unseen = len(set(commits) - seen)
    print(f"revisions: {len(commits)} in the file; {len(commits) - unseen} were seen from outside, in answers or events; "
          f"the other {unseen} are attempts that made no transaction, and changes of the app")
    database.close()

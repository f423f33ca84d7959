"""Kills a server while clients write and read the changes of its app, and compares what each reader got.

    changes.py CHANGES KILLS [--seed N]

Each account buys a subscription that lasts two seconds and switches renewal off, so that time ends it, often while there is no
server. Readers keep their cursor and come back with it. At the end a reader that starts at the very beginning is the reference.
"""
import collections
import random
import sys
import threading
import time

import trial
from client import MESSAGE, STATUS, Client
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS, until
from wire import READS, STORE, TRANSACTIONS, contract

CHANGES, PURCHASE, OPERATE = READS + "AppChanges", TRANSACTIONS + "Purchase", STORE + "Operate"
WEEKLY, LIFETIME = "com.example.weekly", "com.example.lifetime"
THE_LAST = "the-last-account"
TIME_RATE = 1005  # Every period lasts two seconds.
WRITERS, READERS, BATCH = 4, 3, 32
EXPIRED = 2  # RENEWAL_STATE_EXPIRED
CAUSE_EXPIRY = 5


class Test:
    def __init__(self, arguments):
        self.server = Server(PERCH, CATALOG, WORK / "store", WORK / "server.log", time_rate=TIME_RATE)
        self.wanted = arguments.changes
        self.lock = threading.Lock()
        self.up, self.writing, self.reading = threading.Event(), True, True
        self.committed = 0
        self.bought, self.ended = {}, {}  # account: the revision of the acknowledged purchase, and of the switch
        self.doubtful = []  # Accounts of batches that a kill cut off: what exists of them renews until it is told to end.
        self.faults = []

    def client(self):
        """A welcomed client; None while there is no server."""
        try:
            client = Client(self.server.address, contract())
            client.hello(heartbeat_seconds=10)
            return client
        except (OSError, ConnectionError):
            return None

    def fault(self, text):
        with self.lock:
            self.faults.append(text)


class Writer(threading.Thread):
    def __init__(self, test, index):
        super().__init__(daemon=True)
        self.test, self.index, self.next, self.accounts = test, index, 0, []

    def run(self):
        while self.test.writing:
            self.test.up.wait()
            if client := self.test.client():
                try:
                    while self.test.writing:
                        self.batch(client)
                except (OSError, ConnectionError):
                    with self.test.lock:
                        self.test.doubtful += self.accounts

    def batch(self, client):
        self.accounts = accounts = [f"{self.index}-{self.next + number}" for number in range(BATCH)]
        self.next += BATCH
        for account, revision in self.ask(client, PURCHASE, accounts, lambda account: {
                "account": account, "order": {"product_id": WEEKLY}}):
            self.test.bought[account] = revision
        for account, revision in self.ask(client, OPERATE, accounts, self.without_renewal):
            self.test.ended[account] = revision
        with self.test.lock:
            # Two changes, and the third comes by time.
            self.test.committed += 3 * BATCH

    def ask(self, client, path, accounts, fields, is_lenient=False):
        """Calls at once, and yields each account with the revision of its answer."""
        streams = {client.call(path, **fields(account)): account for account in accounts}
        while streams:
            frame = client.read()
            if frame is None:
                raise ConnectionError("the server has gone")
            if frame.kind == MESSAGE:
                yield streams[frame.stream], frame.message.position.revision
            if frame.kind == STATUS:
                account = streams.pop(frame.stream)
                if frame.message.code and not is_lenient:
                    self.test.fault(f"{path} of {account} was refused: {frame.message.message}")


    def end_doubtful(self):
        """Without this some hundred accounts would renew every two seconds, and no reader would ever be through."""
        client = self.test.client()
        while self.test.doubtful:
            batch, self.test.doubtful = self.test.doubtful[:BATCH], self.test.doubtful[BATCH:]
            list(self.ask(client, OPERATE, batch, self.without_renewal, is_lenient=True))

    @staticmethod
    def without_renewal(account):
        return {"account": account,
                "operation": {"set_auto_renew": {"target": {"product_id": WEEKLY}, "enabled": False}}}


class Reader(threading.Thread):
    """Reads on from its cursor over all lives of the server. A slow one reads in bursts."""

    def __init__(self, test, cursor, slow=False):
        super().__init__(daemon=True)
        self.test, self.cursor, self.slow, self.entries = test, cursor, slow, []
        self.expired = set()

    def run(self):
        while self.test.reading:
            self.test.up.wait(1)
            if client := self.test.client():
                client.socket.settimeout(10)
                try:
                    self.read(client)
                except (OSError, ConnectionError, ValueError):
                    pass

    def read(self, client):
        stream = client.call(CHANGES, cursor=self.cursor)
        while self.test.reading:
            frame = client.read()
            if frame is None:
                return
            if frame.kind == STATUS and frame.stream == stream:
                if frame.message.reason not in ("SHUTTING_DOWN", ""):
                    self.test.fault(f"a stream ended with {frame.message.reason}: {frame.message.message}")
                    time.sleep(1)
                return
            if frame.kind != MESSAGE:
                continue
            self.cursor = frame.message.cursor
            if frame.message.account or frame.message.cause:
                self.entries.append(summary(frame.message))
                if frame.message.cause == CAUSE_EXPIRY:
                    self.expired.add(frame.message.account)
                if self.slow and len(self.entries) % 512 == 0:
                    time.sleep(0.3)


    def is_through(self):
        """Whether the change that was made last has come."""
        return any(entry[1] == THE_LAST for entry in self.entries[-1_000:])

    def up_to_the_last(self):
        """The changes before the one that was made last. Those behind it may not have come yet."""
        return self.entries[:next(n for n, entry in enumerate(self.entries) if entry[1] == THE_LAST)]


def summary(message):
    """What a reader compares: all of a change, small."""
    return (message.cursor, message.account, message.cause, message.position.revision, message.position.as_of_ms,
            tuple(tuple(status.state for status in group.statuses.statuses) for group in message.groups),
            tuple((change.product_id, change.HasField("transaction")) for change in message.entitlements))


def check(test, reference, readers, names):
    positions = [(entry[3], entry[4]) for entry in reference]
    if any(later < earlier for earlier, later in zip(positions, positions[1:])):
        test.fault("a position decreases")
    if len({entry[0] for entry in reference}) != len(reference):
        test.fault("a cursor comes twice")
    for name, reader in zip(names, readers):
        if reader.entries != reference:
            place = next((n for n, pair in enumerate(zip(reader.entries, reference)) if pair[0] != pair[1]),
                         min(len(reader.entries), len(reference)))
            test.fault(f"{name} has {len(reader.entries)} changes of {len(reference)}, and differs at {place}: "
                       f"{reader.entries[place:place + 1]} for {reference[place:place + 1]}")
    of = collections.defaultdict(list)
    for entry in reference:
        of[entry[1]].append(entry)
    for account, revision in list(test.bought.items()) + list(test.ended.items()):
        if sum(entry[3] == revision and entry[2] != CAUSE_EXPIRY for entry in of[account]) != 1:
            test.fault(f"revision {revision} of {account} was acknowledged and is not there once")
    expiries = 0
    for account in test.ended:
        ends = [entry for entry in of[account] if entry[2] == CAUSE_EXPIRY]
        expiries += len(ends)
        if len(ends) != 1 or ends[0] != of[account][-1] or ends[0][5] != ((EXPIRED,),) or ends[0][6] != ((WEEKLY, False),):
            test.fault(f"{account} did not expire once, at the end: {of[account]}")
    return expiries


def main():
    parser = trial.options(__doc__)
    parser.add_argument("changes", type=int)
    parser.add_argument("kills", type=int)
    arguments = parser.parse_args()
    print(f"changes: {arguments.changes} changes, {arguments.kills} kills, --seed {arguments.seed}", flush=True)
    random.seed(arguments.seed)
    test = Test(arguments)
    test.server.start()
    first = test.client()
    first.call(CHANGES)
    while (frame := first.read()).kind != MESSAGE:
        pass
    beginning = frame.message.cursor
    test.up.set()
    readers = [Reader(test, beginning, slow=number == 0) for number in range(READERS)]
    writers = [Writer(test, number) for number in range(WRITERS)]
    for thread in readers + writers:
        thread.start()
    began = time.monotonic()
    killed = 0
    while test.committed < test.wanted or killed < arguments.kills:
        # Kills are spread over the changes, each at any moment.
        due = test.wanted * (killed + 1) / (arguments.kills + 1)
        if killed < arguments.kills and test.committed >= due:
            time.sleep(random.uniform(0, 0.3))
            test.up.clear()
            test.server.kill()
            killed += 1
            # Long enough for expiries while nobody serves.
            time.sleep(random.uniform(0, 1.0))
            test.server.start()
            test.up.set()
        if test.faults or time.monotonic() - began > 3_600:
            break
        time.sleep(0.01)
    test.writing = False
    for writer in writers:
        writer.join(PATIENCE_SECONDS)
    seconds = time.monotonic() - began
    writers[0].end_doubtful()
    # The reference: everything from the beginning, at the end.
    last = Reader(test, beginning)
    last.start()
    everyone, ended = readers + [last], set(test.ended)
    # After a kill the store's clock stands until the machine has reached its lease, so this takes some seconds.
    try:
        until(lambda: all(ended <= reader.expired for reader in everyone),
              lambda: f"readers hear {len(ended)} expiries: {[len(ended & reader.expired) for reader in everyone]}")
        list(writers[0].ask(test.client(), PURCHASE, [THE_LAST], lambda account: {
            "account": account, "order": {"product_id": LIFETIME}}))
        until(lambda: all(reader.is_through() for reader in everyone), "readers hear of the last purchase")
    except AssertionError as late:
        test.fault(str(late))
    test.reading = False
    for reader in everyone:
        if reader.is_through():
            reader.entries = reader.up_to_the_last()
    expiries = check(test, last.entries, readers, ["the slow reader"] + [f"reader {n}" for n in range(1, READERS)])
    if not expiries or len(last.entries) < test.wanted * 0.9:
        test.fault(f"only {len(last.entries)} changes, {expiries} expiries")
    status = test.server.stop()
    if status:
        test.fault(f"the server ended with {status}")
    for fault in test.faults[:10]:
        print(f"changes: {fault[:600]}", file=sys.stderr)
    print(f"changes: {len(last.entries)} changes, {expiries} of them expiries of accounts that nobody watched, over {killed} "
          f"kills in {seconds:.0f} s; {READERS} readers and the reference {'differ' if test.faults else 'agree'}", flush=True)
    sys.exit(1 if test.faults else 0)


main()

"""Clients that watch, and come back with their tokens and cursors whenever the server goes away."""
import threading
import time

from client import BEAT, MESSAGE, PING, PONG, STATUS, Client
from waiting import PATIENCE_SECONDS
from wire import APP, READS as ENTITLEMENTS, TRANSACTIONS, contract
from writers import SUBSCRIPTIONS, one_line

UPDATES = TRANSACTIONS + "TransactionUpdates"
STATUSES, ENTITLEMENT = ENTITLEMENTS + "SubscriptionStatusTask", ENTITLEMENTS + "CurrentEntitlementTask"
PRODUCTS = ENTITLEMENTS + "ProductsTask"
READS = {STATUSES: "GetSubscriptionStatus", ENTITLEMENT: "GetCurrentEntitlement", PRODUCTS: "GetProducts"}
UNFINISHED = 1
ENTITLING = (1, 4)  # RenewalState: subscribed, in grace.


def value_of(message):
    """The value of a state without what is no part of its equality: the dates of signing."""
    value = type(message.success).FromString(message.success.SerializeToString())
    if "statuses" in value.DESCRIPTOR.fields_by_name:
        for status in value.statuses:
            unsigned(status.transaction.transaction)
            if status.renewal_info.HasField("renewal_info"):
                unsigned(status.renewal_info.renewal_info)
    elif "transaction" in value.DESCRIPTOR.fields_by_name and value.HasField("transaction"):
        unsigned(value.transaction.transaction)
    return value


def unsigned(message):
    for name in ("signed_date_ms", "device_verification", "device_verification_nonce"):
        if name in message.DESCRIPTOR.fields_by_name:
            message.ClearField(name)


class Stream:
    """What is kept of one stream from connection to connection."""

    def __init__(self, method, **fields):
        self.method, self.fields = method, fields
        self.name = f"{method.split('/')[-1]} of {fields.get('account', 'the catalogue')}"
        self.open()

    def open(self):
        """What is known of the connection of the moment: whether anything came, and the last BEAT since then."""
        self.opened, self.beat = False, 0


class StateStream(Stream):
    def __init__(self, method, **fields):
        super().__init__(method, **fields)
        self.token, self.value, self.position = b"", None, (0, 0)
        self.pushes = self.resumes = self.resumed_unchanged = 0

    def request(self):
        return {"app": APP, "resume_token": self.token, **self.fields}

    def take(self, message, test):
        state = message.WhichOneof("state")
        first, self.opened = not self.opened, True
        if state == "loading":
            if self.token or not first:
                test.broken("a token is answered by a value or unchanged", f"{self.name}: loading")
            return
        if state not in ("success", "unchanged"):
            test.broken("a token is answered by a value or unchanged", f"{self.name}: {one_line(message)}")
            return
        position = (message.info.position.revision, message.info.position.as_of_ms)
        if position < self.position:
            test.broken("positions on a watch never decrease, restarts included",
                       f"{self.name}: {position} after {self.position}")
        test.saw(position[0], self.name)
        if first and self.token:
            self.resumes += 1
        if state == "unchanged":
            self.resumed_unchanged += 1
            if not first or self.value is None:
                test.broken("a token is answered by a value or unchanged", f"{self.name}: an unchanged that is not first")
        else:
            value = value_of(message)
            if self.value is not None and value == self.value:
                test.broken("an equal value is never pushed twice in a row, restarts included",
                           f"{self.name}: at {self.position} and {position}: {one_line(value)}")
            test.looked("all watches of a view have one value at one position")
            if test.value_at.setdefault((self.name, str(self.fields), position), value) != value:
                test.broken("all watches of a view have one value at one position", f"{self.name}: at {position}: {one_line(value)}")
            self.value = value
            self.pushes += 1
        self.position, self.token = position, message.info.resume_token


class EventStream(Stream):
    """The events of an account: each connection goes on where the last one ended, or reads all of them once more."""

    def __init__(self, account, reads_again=False):
        self.account, self.reads_again = account, reads_again
        self.cursor = self.first_cursor = b""
        self.events = []  # (revision, kind, transaction number), and the message
        self.seen = set()
        self.has_begun = threading.Event()
        super().__init__(UPDATES, account=account)

    def open(self):
        super().open()
        if self.reads_again:
            self.cursor, self.events, self.seen = self.first_cursor, [], set()

    def request(self):
        return {"app": APP, "cursor": self.cursor, **self.fields}

    def take(self, message, test):
        self.opened = True
        if message.kind == UNFINISHED:
            if self.cursor:
                test.broken("a cursor is answered by itself, then by what came after it", f"{self.name}: {one_line(message)}")
            return
        if not message.HasField("transaction"):
            if self.cursor and message.cursor != self.cursor:
                test.broken("a cursor is answered by itself, then by what came after it", f"{self.name}: another marker")
            self.cursor = message.cursor
            self.first_cursor = self.first_cursor or message.cursor
            self.has_begun.set()
            return
        event = (message.revision, message.kind, message.transaction.transaction.id)
        if event in self.seen:
            return test.broken("each event comes exactly once and in order, reconnects included", f"{self.name}: twice {event}")
        if self.events and message.revision < self.events[-1][0][0]:
            test.broken("each event comes exactly once and in order, reconnects included",
                       f"{self.name}: {event} after {self.events[-1][0]}")
        if message.revision <= self.beat:
            test.broken("no BEAT passes an event that is still to come",
                        f"{self.name}: {event} after a BEAT of revision {self.beat}")
        test.saw(message.revision, self.name)
        self.seen.add(event)
        self.events.append((event, message))
        self.cursor = message.cursor


def spoilt(read, watcher):
    """`read`, whose frames pass through the watcher's control. It answers frames in place of one, and none loses it."""
    waiting = []

    def next_frame():
        while not waiting:
            frame = read()
            if frame is None:
                return None
            waiting.extend(watcher.spoil(watcher, frame))
        return waiting.pop(0)
    return next_frame


class Watcher(threading.Thread):
    """A connection with some streams. Runs until it is told to stop."""

    # Whether it may lose its connection at the end too, and reads again on the next one.
    comes_back = False
    # A negative control: what becomes of a frame on its way to this client.
    spoil = None

    def __init__(self, index, streams, test):
        super().__init__(name=f"watcher {index}", daemon=True)
        self.index, self.streams, self.test = index, streams, test
        self.client, self.numbers, self.reads = None, {}, set()
        self.reading = threading.Lock()
        self.beats = self.connections = 0
        self.is_open, self.caught_up, self.stopping = threading.Event(), threading.Event(), False
        self.answers = {}

    def run(self):
        try:
            while (cycle := self.next_cycle()) is not None and not self.stopping:
                try:
                    self.connect(cycle)
                    while frame := self.client.read():
                        with self.reading:
                            self.take(frame)
                except TimeoutError:
                    if not self.stopping:
                        self.test.broken("a watcher hears a beat", self.name)
                    return
                except (ConnectionError, OSError, ValueError):
                    pass  # The server was killed, or this connection was cut: come back.
                self.is_open.clear()
                self.test.pause()
        except Exception as error:  # Whatever ends a watcher early is a finding, not a quiet stop.
            self.test.broken("no client ends early", f"{self.name}: {type(error).__name__}: {error}")

    def next_cycle(self):
        return self.test.next_cycle()

    def is_back(self, cycle):
        """A slow client may still be reading what the server before had said."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.is_alive() and time.monotonic() < end:
            if self.is_open.is_set() and self.cycle is cycle:
                return True
            time.sleep(0.02)
        return False

    def connect(self, cycle):
        self.numbers, self.reads, self.answers = {}, set(), {}
        client = Client(cycle.address, contract())
        client.socket.settimeout(PATIENCE_SECONDS)
        if self.spoil:
            client.read = spoilt(client.read, self)
        welcome = client.hello(client_name="crash", client_id=self.name.encode(), heartbeat_seconds=10)
        cycle.refuse_another()
        self.test.welcomed(welcome, self.name, cycle)
        for stream in self.streams:
            stream.open()
            self.numbers[client.call(stream.method, **stream.request())] = stream
        self.client = client
        self.cycle, self.connections = cycle, self.connections + 1
        self.is_open.set()

    def cut(self):
        """From another thread: this connection breaks, as a network does."""
        if self.client and self.is_open.is_set():
            try:
                self.client.socket.shutdown(2)
            except OSError:
                pass  # The server was quicker.

    def take(self, frame):
        if frame.kind == BEAT:
            self.beats += 1
            self.test.saw(frame.message.revision, f"a BEAT to {self.name}")
            for stream in self.streams:
                if stream.opened:  # A stream counts from its first message on this connection.
                    stream.beat = frame.message.revision
            self.agree()
        elif frame.kind == PONG:
            self.caught_up.set()
        elif frame.stream in self.numbers and frame.kind == MESSAGE:
            self.numbers[frame.stream].take(frame.message, self.test)
        elif frame.stream in self.numbers and frame.kind == STATUS:
            if self.stopping:
                return  # The server was told to stop, and tells every stream.
            self.test.broken("no stream ends but with its server",
                                  f"{self.numbers[frame.stream].name}: {one_line(frame.message)}")
        elif frame.kind == MESSAGE:
            self.answers[frame.stream] = frame.message
        elif frame.kind == STATUS:
            if frame.message.code:
                self.test.broken("reads at the end are answered", one_line(frame.message))
            self.reads.discard(frame.stream)
            if not self.reads:
                # All reads are answered at the last revision; the tick's values for watches come before the PONG.
                self.client.send(PING, 0, b"caughtup")

    def agree(self):
        """At a BEAT the entitlement of an account follows from its status, as soon as both have said their value."""
        name = "an entitlement and the status of its account agree at each BEAT"
        states = {(stream.method, stream.fields.get("account")): stream for stream in self.streams if stream.method in (STATUSES, ENTITLEMENT)
                  and stream.opened and stream.value is not None}
        for (method, account), stream in states.items():
            status = states.get((STATUSES, account))
            if method == ENTITLEMENT and status and stream.fields["product_id"] in SUBSCRIPTIONS:
                self.test.looked(name)
                due = [each.transaction for each in status.value.statuses if each.state in ENTITLING
                       and each.transaction.transaction.product_id == stream.fields["product_id"]]
                if (stream.value.transaction not in due) if stream.value.HasField("transaction") else due:
                    self.test.broken(name, f"{stream.name} at {stream.position}: {one_line(stream.value)}; "
                                           f"{status.name} at {status.position}: {one_line(status.value)}")

    def read_all(self, position):
        """From another thread, when no server is killed any more: the value of each state stream by a unary read on
        the same connection, once that has come to `position` and everything before it was said."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (answers := self.read_once(position, end)) is None:
            if not self.comes_back:
                raise ConnectionError(f"{self.name} lost its connection while it read at the end")
            time.sleep(0.05)
        return answers

    def read_once(self, position, end):
        """None: the connection was lost meanwhile, and with it the questions."""
        reads = [(ENTITLEMENTS + READS[stream.method], stream.fields, stream)
                 for stream in self.streams if isinstance(stream, StateStream)]
        reads = reads or [(TRANSACTIONS + "ListUnfinished", self.streams[0].fields, None)]
        self.is_open.wait(max(0, end - time.monotonic()))
        with self.reading:
            self.caught_up.clear()
            connection, client, answers = self.connections, self.client, self.answers
            try:
                asked = {client.call(method, app=APP, at_least=position, **fields): stream
                         for method, fields, stream in reads}
            except OSError:
                asked = {}
            self.reads = set(asked)
        while asked and self.connections == connection and self.is_open.is_set():
            if self.caught_up.wait(0.05):
                return [(stream, answers[number]) for number, stream in asked.items() if stream and number in answers]
            if time.monotonic() > end:
                break
        if time.monotonic() > end:
            raise TimeoutError(f"{self.name} did not come to revision {position.revision} within {PATIENCE_SECONDS} s")
        return None

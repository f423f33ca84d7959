"""Checks a journal, entry by entry: connections, calls, frames. The parts for values and changes stand beside it."""

from collections import deque

from change_checks import ChangeChecks
from group_checks import GroupChecks
from ledger import Ledger
from stream_checks import StreamChecks
from values import EVENTS, READ_OF_STREAM
from wire import BEAT, DRAIN, KIND_NAMES, MESSAGE, PING, PONG, STATUS, WELCOME

SILENCE_SLACK = 30.0  # A busy machine reads late; the control adds a minute.


class CallState:
    """A call from its CALL to its STATUS."""

    def __init__(self, connection, stream, note, body, at):
        self.connection, self.stream, self.note, self.body, self.at = connection, stream, note, body, at
        self.method = note["method"]
        self.is_state = self.method in READ_OF_STREAM
        self.is_stream = self.is_state or self.method == EVENTS
        self.is_cancelled = False
        self.has_message = False  # Any message has come.
        self.has_value = False  # A value has come, not only `loading`.
        self.is_settled = False  # A BEAT has come after a message.
        self.beat = 0  # The revision of the last BEAT after the first value.
        self.messages = []  # Of a call that is no stream.
        self.chain = None

    def __str__(self):
        return f"{self.method} on connection {self.connection.number} ({self.connection.peer}), stream {self.stream}"


class ConnectionState:
    def __init__(self, number, note):
        self.number, self.peer, self.client_id = number, note["peer"], note["client_id"]
        self.calls = {}
        self.beat, self.heartbeat = 0, 10
        self.heard_at = None
        self.pings = deque()
        self.dirty = set()
        self.is_final = False


class Checks:
    """`counting` is `call` where a state watch counts from its CALL, or `message`: from its first MESSAGE.

    `has_one_instant`: all values of a group are of one instant of the app's clock, also those of different accounts.
    """

    def __init__(self, contract, scratch_accounts=(), counting="call", has_one_instant=False):
        self.contract, self.counting, self.has_one_instant = contract, counting, has_one_instant
        self.scratch_accounts = set(scratch_accounts)
        self.ledger = Ledger()
        self.connections = {}
        self.revision_seen = 0
        self.revision_acknowledged = 0
        self.seen_before = 0  # The newest revision that was acknowledged or shown when this server began.
        self.groups = GroupChecks(self)
        self.streams = StreamChecks(self)
        self.changes = ChangeChecks(self)

    def feed(self, entry):
        getattr(self, "on_" + entry.what)(entry)

    def saw(self, revision):
        self.revision_seen = max(self.revision_seen, revision)

    def on_serve(self, entry):
        self.ledger.count("server starts")
        # Frames of the server before have all been read by now.
        self.seen_before = max(self.revision_seen, self.revision_acknowledged)

    def on_kill(self, entry):
        self.ledger.count({9: "kill -9", 15: "SIGTERM"}[entry.note["signal"]])

    def on_open(self, entry):
        connection = self.connections[entry.connection] = ConnectionState(entry.connection, entry.note)
        connection.seen_before = self.seen_before
        self.ledger.count("connections")

    def on_lost(self, entry):
        connection = self.connections.pop(entry.connection)
        self.check_silence(connection, entry.at)
        for call in connection.calls.values():
            if call.chain:
                self.streams.closed(call)

    def on_call(self, entry):
        connection = self.connections[entry.connection]
        call = CallState(connection, entry.stream, entry.note, entry.body, entry.at)
        connection.calls[entry.stream] = call
        if call.is_stream:
            self.streams.opened(call)
        else:
            self.changes.opened(call)

    def on_cancel(self, entry):
        call = self.connections[entry.connection].calls.get(entry.stream)
        if call:
            call.is_cancelled = True

    def on_ping(self, entry):
        self.connections[entry.connection].pings.append(entry.body)

    def on_operation(self, entry):
        self.changes.began(entry.note)

    def on_settled(self, entry):
        self.streams.compare_with_reads()
        if entry.note.get("final"):
            self.changes.compare_histories()

    def on_end(self, entry):
        pass

    def on_frame(self, entry):
        connection = self.connections[entry.connection]
        handler = {
            WELCOME: self.welcomed,
            MESSAGE: self.message,
            STATUS: self.status,
            BEAT: self.beat,
            PING: self.pinged,
            PONG: self.ponged,
            DRAIN: self.drained,
        }.get(entry.kind)
        known = self.ledger.check(
            "shape",
            handler is not None,
            lambda: f"a frame of kind {entry.kind} from the server on {entry.connection}",
        )
        if known:
            self.ledger.count(KIND_NAMES[entry.kind])
            handler(connection, entry)

    def check_silence(self, connection, at):
        if connection.heard_at is not None:
            silence = at - connection.heard_at
            self.ledger.check(
                "heartbeat",
                silence <= 2 * connection.heartbeat + SILENCE_SLACK,
                lambda: f"connection {connection.number} ({connection.peer}) had neither BEAT nor PING for "
                f"{silence:.1f} s; the heartbeat is {connection.heartbeat} s",
            )

    def welcomed(self, connection, entry):
        welcome = self.contract.Welcome.FromString(entry.body)
        connection.heartbeat = welcome.heartbeat_seconds
        connection.heard_at = entry.at
        needed = connection.seen_before
        self.ledger.check(
            "kept",
            welcome.revision >= needed,
            lambda: f"WELCOME on connection {connection.number} says revision {welcome.revision}, but revision {needed} "
            "was acknowledged or shown before",
        )

    def message(self, connection, entry):
        call = connection.calls.get(entry.stream)
        live = self.ledger.check(
            "shape",
            call is not None,
            lambda: f"MESSAGE on stream {entry.stream} of {connection.peer}, which has no call",
        )
        if not live:
            return
        call_class = self.contract.methods[call.method][2]
        message = call_class.FromString(entry.body)
        if not call.is_stream:
            call.messages.append(message)
        elif not call.is_cancelled and call.chain.call is call:
            self.streams.message(call, message)
        call.has_message = True

    def status(self, connection, entry):
        call = connection.calls.pop(entry.stream, None)
        status = self.contract.Status.FromString(entry.body)
        live = self.ledger.check(
            "shape",
            call is not None,
            lambda: f"STATUS {status.reason} on stream {entry.stream}, which has no call",
        )
        if not live:
            return
        if call.is_stream:
            self.streams.ended(call, status)
            self.groups.watch_ended(connection)
            return
        self.ledger.check(
            "shape",
            len(call.messages) == (1 if status.code == 0 else 0),
            lambda: f"{call} was answered by {len(call.messages)} MESSAGEs and STATUS {status.code} {status.reason}",
        )
        self.changes.answered(call, status, call.messages[0] if call.messages else None)

    def beat(self, connection, entry):
        beat = self.contract.Beat.FromString(entry.body)
        self.check_silence(connection, entry.at)
        connection.heard_at = entry.at
        self.ledger.check(
            "bookmarks",
            beat.revision >= connection.beat,
            lambda: f"BEAT on {connection.peer} went back from revision {connection.beat} to {beat.revision}",
        )
        self.saw(beat.revision)
        connection.beat = beat.revision
        for call in connection.calls.values():
            if call.has_message:
                call.is_settled = True
            if call.has_value:
                call.beat = beat.revision
        self.changes.check_bookmark(connection)
        self.groups.beat(connection)

    def pinged(self, connection, entry):
        self.check_silence(connection, entry.at)
        connection.heard_at = entry.at

    def ponged(self, connection, entry):
        expected = connection.pings.popleft() if connection.pings else None
        self.ledger.check(
            "shape",
            entry.body == expected,
            lambda: f"PONG {entry.body.hex()} where {expected and expected.hex()} was due",
        )

    def drained(self, connection, entry):
        drain = self.contract.Drain.FromString(entry.body)
        self.ledger.check(
            "shape",
            drain.reason == "SHUTTING_DOWN",
            lambda: f"DRAIN {drain.reason} on {connection.peer}: {drain.message}",
        )
        if drain.final:
            # A CALL may have crossed the last DRAIN on its way: only calls that had a message were surely known.
            open_calls = [call for call in connection.calls.values() if call.has_message]
            self.ledger.check(
                "shape",
                not open_calls,
                lambda: f"the last DRAIN on {connection.peer} came before the STATUS of {len(open_calls)} watches",
            )

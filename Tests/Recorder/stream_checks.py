"""Checks of one watch at a time, over all its calls: order, equality, tokens, cursors, convergence."""

from values import (
    CAUSE_CLOCK,
    CAUSE_EXPIRY,
    EVENT_UNFINISHED,
    EVENTS,
    READ_OF_STREAM,
    Value,
    describe_transaction,
)
from values import strip_value, text_of

HISTORY_SHOWN = 6
TOKENS_KNOWN = 64  # Of a chain, the newest. A watcher keeps fewer.
# Reasons that end a stream without a fault of either side.
QUIET_ENDS = {"CANCELLED", "SHUTTING_DOWN"}


class Event:
    """One transaction event."""

    __slots__ = ("revision", "number", "kind", "cursor", "result", "text", "origin")

    def __init__(self, response):
        self.result = strip_value(response.transaction)
        self.revision, self.kind, self.cursor = response.revision, response.kind, response.cursor
        self.number = self.result.transaction.id
        self.text = text_of(self.result.transaction)
        self.origin = response.origin_client_id

    @property
    def identity(self):
        return self.revision, self.number, self.kind

    def __str__(self):
        return f"revision {self.revision} kind {self.kind} {describe_transaction(self.result)}"


class ChainState:
    """What a client knows of one thing that it watches. It outlives calls: tokens and cursors join them."""

    def __init__(self, note):
        self.number, self.method, self.account = note["chain"], note["method"], note.get("account", "")
        self.product = note.get("product_id", "")
        self.is_history = note.get("history", False)
        parameters = {name: value for name, value in note.items() if name in ("product_id", "group_id")}
        self.view = (self.method, self.account, *parameters.values(), *note.get("product_ids", ()))
        self.call = None
        self.by_token = {}
        self.said = None  # The newest value.
        self.applied = None  # The newest value that was applied with its group.
        self.recent = []  # For people.
        self.events, self.applied_events = [], 0
        self.seen = set()
        self.expected = []  # Events after an older cursor that have to come again.
        self.begins_after = None  # The revision after which the events of this chain begin.
        self.begins_with = b""  # The cursor that says so.
        self.acknowledged = None  # How many acknowledged purchases of the account were looked at.

    def note_recent(self, what):
        self.recent = (self.recent + [what])[-HISTORY_SHOWN:]

    def __str__(self):
        return " ".join(str(part) for part in self.view) + f" (chain {self.number})"

    def tail(self):
        return "".join(f"\n    {each}" for each in self.recent)


class StreamChecks:
    def __init__(self, checks):
        self.checks, self.ledger = checks, checks.ledger
        self.chains = {}
        self.by_position = {}
        self.reads = {}

    def opened(self, call):
        note = call.note
        chain = self.chains.get(note["chain"])
        if chain is None:
            chain = self.chains[note["chain"]] = ChainState(note)
        call.chain, chain.call = chain, call
        token = note["token"]
        chain.note_recent(
            f"CALL on connection {call.connection.number} with {'a token' if token else 'no token'}"
        )
        if call.method == EVENTS:
            self.go_back_to_cursor(chain, token)
        else:
            call.base = chain.by_token[token] if token else None

    def go_back_to_cursor(self, chain, cursor):
        """After an older cursor, the events behind it have to come again, and the same ones."""
        if not cursor:
            return
        places = [n for n, event in enumerate(chain.events) if event.cursor == cursor]
        if not places and cursor != chain.begins_with and not chain.is_history:
            raise ValueError(f"{chain} was opened with a cursor that it never had")
        begin = places[0] + 1 if places else 0
        chain.expected = chain.events[begin:]
        chain.events = chain.events[:begin]
        chain.applied_events = min(chain.applied_events, begin)
        chain.seen = {event.identity for event in chain.events}

    def closed(self, call):
        if call.chain.call is call:
            call.chain.call = None

    def ended(self, call, status):
        self.ledger.check(
            "resumable" if call.note["token"] else "shape",
            status.reason in QUIET_ENDS,
            lambda: f"{call} of {call.chain} ended with {status.code} {status.reason}: {status.message}",
        )
        self.closed(call)

    def message(self, call, message):
        if call.method == EVENTS:
            self.event(call, message)
        else:
            self.state(call, message)

    # Streams of state.

    def state(self, call, response):
        chain, ledger = call.chain, self.ledger
        state = response.WhichOneof("state")
        has_token = bool(call.note["token"])
        ledger.check("shape", state is not None, lambda: f"{call} says nothing")
        if state == "loading":
            ledger.check(
                "shape",
                not call.has_message and not has_token and not response.HasField("info"),
                lambda: f"`loading` of {chain} is not the first message of a call without a token{chain.tail()}",
            )
            return
        ledger.check("shape", response.HasField("info"), lambda: f"{state} of {chain} has no info")
        if not call.has_message:
            ledger.check("shape", has_token, lambda: f"{chain} began without a token and without `loading`")
        ledger.count("stream events")
        value = Value(response)
        previous = chain.said if call.has_value else call.base
        chain.note_recent(value)
        if state == "unchanged":
            first = has_token and not call.has_value
            if not ledger.check(
                "resumable", first, lambda: f"`unchanged` of {chain} answers no token{chain.tail()}"
            ):
                return
            value.state, value.message, value.digest = previous.state, previous.message, previous.digest
        elif previous is not None:
            check = "unique" if call.has_value or state == "failure" else "resumable"
            different = value.digest != previous.digest
            explain = lambda: f"{chain} got an equal value again{chain.tail()}"
            ledger.check("unique", different, explain)
            if check == "resumable":
                ledger.check("resumable", different, explain)
        if previous is not None:
            ledger.check(
                "ordered",
                value.position >= previous.position,
                lambda: f"{chain} went back from position {previous.position} to {value.position}{chain.tail()}",
            )
        self.check_bookmark(call, value, previous)
        self.check_consistent(chain, value)
        self.checks.saw(value.position[0])
        chain.said = value
        chain.by_token.pop(value.token, None)
        chain.by_token[value.token] = value
        if len(chain.by_token) > TOKENS_KNOWN:
            del chain.by_token[next(iter(chain.by_token))]
        is_first, call.has_value = not call.has_value, True
        if is_first and chain.acknowledged is None:
            chain.acknowledged = self.checks.changes.acknowledged_count(chain.account)
        if is_first and "operation" in call.note:
            self.checks.changes.read_answered(call, value)
        self.checks.groups.value(call)

    def check_bookmark(self, call, value, previous):
        """A BEAT said that all up to its revision was said; a value of time alone may come later at an old revision."""
        if not call.has_value:
            return
        is_unsaid = previous.position[0] < value.position[0] <= call.beat
        is_of_time = value.cause in (CAUSE_EXPIRY, CAUSE_CLOCK) and value.position[1] > previous.position[1]
        self.ledger.check(
            "bookmarks",
            not is_unsaid or is_of_time,
            lambda: f"{call.chain} got a value of revision {value.position[0]} after BEAT {call.beat}{call.chain.tail()}",
        )

    def check_consistent(self, chain, value):
        known = self.by_position.setdefault((chain.view, value.position), value)
        self.ledger.check(
            "consistent",
            known.digest == value.digest,
            lambda: f"{chain} differs from another watch or read at the same position: here {value}\n"
            f"    there {known}{chain.tail()}",
        )

    def read(self, view, value):
        """A read that was made while nothing changed."""
        self.reads[view] = value
        self.checks.saw(value.position[0])
        self.ledger.count("reads to compare with")

    def unequal(self):
        """The watches that have not come to what the reads say."""
        chains = [each for each in self.chains.values() if each.view in self.reads]
        return [
            each
            for each in chains
            if each.call and each.said and each.said.digest != self.reads[each.view].digest
        ]

    def open_state_chains(self):
        return [each for each in self.chains.values() if each.call and each.method in READ_OF_STREAM]

    def compare_with_reads(self):
        for chain in self.open_state_chains():
            read = self.reads.get(chain.view)
            if read is not None:
                self.ledger.check(
                    "reliable",
                    chain.said is not None and chain.said.digest == read.digest,
                    lambda: f"{chain} stays at {chain.said}\n    a read says {read}{chain.tail()}",
                )
        self.reads = {}

    # Streams of events.

    def event(self, call, response):
        chain, ledger = call.chain, self.ledger
        ledger.count("stream events")
        has_token = bool(call.note["token"])
        if response.kind == EVENT_UNFINISHED:
            early = not has_token and chain.begins_after is None and not response.cursor
            ledger.check(
                "shape", early, lambda: f"an unfinished transaction comes late, or with a cursor, on {chain}"
            )
            return
        if not response.HasField("transaction"):
            first = not call.has_value and bool(response.cursor)
            if has_token:
                ledger.check(
                    "resumable",
                    first and response.cursor == call.note["token"],
                    lambda: f"a cursor is not answered by itself, or not first, on {chain}{chain.tail()}",
                )
                chain.note_recent("the cursor holds")
                call.has_value = True
                self.checks.groups.value(call)
                return
            first = first and chain.begins_after is None
            ledger.check(
                "shape",
                first,
                lambda: f"a message without transaction or cursor, or a second one, on {chain}",
            )
            chain.begins_after, chain.begins_with = response.revision, response.cursor
            chain.note_recent(f"new events begin after revision {response.revision}")
            chain.acknowledged = self.checks.changes.acknowledged_count(chain.account)
            call.has_value = True
            return
        event = Event(response)
        chain.note_recent(event)
        if has_token:
            ledger.check(
                "resumable",
                call.has_value,
                lambda: f"{event} came before the cursor was accepted on {chain}{chain.tail()}",
            )
        if chain.expected:
            due = chain.expected.pop(0)
            ledger.check(
                "resumable",
                due.identity == event.identity and due.text == event.text,
                lambda: f"{chain} was to hear {due} again after its cursor, and heard {event}{chain.tail()}",
            )
        ledger.check(
            "exactly-once",
            event.identity not in chain.seen and bool(event.cursor),
            lambda: f"{chain} heard this twice, or without a cursor: {event}{chain.tail()}",
        )
        if chain.events:
            ledger.check(
                "ordered",
                event.revision >= chain.events[-1].revision,
                lambda: f"{chain} went back from revision {chain.events[-1].revision} to {event.revision}{chain.tail()}",
            )
        ledger.check(
            "bookmarks",
            not call.has_value or event.revision > call.beat,
            lambda: f"{chain} got an event of revision {event.revision} after BEAT {call.beat}{chain.tail()}",
        )
        chain.events.append(event)
        chain.seen.add(event.identity)
        self.checks.saw(event.revision)
        call.has_value = True
        self.checks.groups.value(call)

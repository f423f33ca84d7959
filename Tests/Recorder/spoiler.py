"""What the negative controls spoil: the entries of a journal, and where in them is what."""

import random

from values import EVENT_UNFINISHED, EVENTS, READ_OF_STREAM
from wire import BEAT, MESSAGE, STATUS

CONTROLS = []


def control(check):
    """Registers a control and the check that has to find it."""

    def register(function):
        CONTROLS.append((function.__name__.replace("_", " "), check, function))
        return function

    return register


class Message:
    """A MESSAGE of the journal, with the call that it belongs to."""

    def __init__(self, place, entry, call, message, order):
        self.place, self.entry, self.call, self.message, self.order = place, entry, call, message, order
        self.method, self.note = call.note["method"], call.note

    @property
    def is_value(self):
        return self.method in READ_OF_STREAM and self.message.WhichOneof("state") != "loading"

    @property
    def is_event(self):
        return (
            self.method == EVENTS
            and self.message.HasField("transaction")
            and self.message.kind != EVENT_UNFINISHED
        )


class Spoiler:
    """The entries of a journal, and what is where in them."""

    def __init__(self, contract, entries, scratch_accounts, seed):
        self.contract, self.entries, self.scratch_accounts = contract, list(entries), scratch_accounts
        self.random = random.Random(f"controls {seed}")
        self.messages, self.open_calls = [], set()
        self.whole_beats = (
            set()
        )  # Places of those BEATs at which every state watch of the connection has answered.
        live, counts, unanswered = {}, {}, {}
        for place, entry in enumerate(self.entries):
            key = (entry.connection, entry.stream)
            if entry.what == "call":
                live[key], counts[key] = entry, 0
                if entry.note["method"] in READ_OF_STREAM:
                    unanswered.setdefault(entry.connection, set()).add(key)
            elif entry.what == "lost":
                live = {each: call for each, call in live.items() if each[0] != entry.connection}
            elif entry.what == "settled":
                self.open_calls = {id(call) for call in live.values()}
            elif entry.what == "cancel":
                live.pop(key, None)
                unanswered.get(entry.connection, set()).discard(key)
            elif entry.what == "frame" and entry.kind == MESSAGE and key in live:
                call = live[key]
                message = contract.methods[call.note["method"]][2].FromString(entry.body)
                self.messages.append(Message(place, entry, call, message, counts[key]))
                counts[key] += 1
                if self.messages[-1].is_value:
                    unanswered.get(entry.connection, set()).discard(key)
            elif entry.what == "frame" and entry.kind == BEAT and not unanswered.get(entry.connection):
                self.whole_beats.add(place)

    def is_open(self, message):
        """Whether its call is still open at the end of the run."""
        return id(message.call) in self.open_calls

    def pick(self, candidates):
        candidates = list(candidates)
        return self.random.choice(candidates) if candidates else None

    def values(self, method=None):
        """Later values of state streams, each with the value before it on the same call."""
        before = {}
        for each in self.messages:
            is_watch = each.is_value and "read" not in each.note
            if is_watch and (method is None or each.method == method):
                key = id(each.call)
                if key in before:
                    yield before[key], each
                before[key] = each

    def replace(self, message, changed):
        self.entries[message.place] = message.entry._replace(body=changed.SerializeToString())
        return True

    def next_place(self, begin, holds):
        for place in range(begin, len(self.entries)):
            if holds(self.entries[place]):
                return place
        return None

    def beat_after(self, message):
        """The place of the next BEAT on the connection, where the same call still lives."""
        connection = message.entry.connection

        def is_end(entry):
            if entry.connection != connection:
                return False
            is_beat = entry.what == "frame" and entry.kind == BEAT
            return (
                is_beat
                or entry.what in ("lost", "cancel")
                or (entry.what == "frame" and entry.kind == STATUS)
            )

        place = self.next_place(message.place + 1, is_end)
        return place if place is not None and self.entries[place].kind == BEAT else None

    def move(self, begin, after):
        entry = self.entries.pop(begin)
        self.entries.insert(after, entry)
        return True

    def bought(self):
        """The answers of those purchases that made a transaction, each with its operation."""
        operations = {entry.note["number"]: entry.note for entry in self.entries if entry.what == "operation"}
        for each in self.messages:
            each.operation = operations.get(each.note.get("operation"))
            is_buying = each.operation and each.operation["kind"] in ("purchase", "buy_outside")
            if is_buying and "read" not in each.note and each.message.HasField("transaction"):
                if not each.message.already_held:
                    yield each

    def sent_tokens(self):
        return {
            entry.note["token"] for entry in self.entries if entry.what == "call" and "token" in entry.note
        }

    def reads(self, name):
        return [each for each in self.messages if each.note.get("read") == name]

    def changed(self, message):
        copy = type(message.message)()
        copy.CopyFrom(message.message)
        return copy

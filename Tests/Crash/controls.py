"""Negative controls: in one run some clients get other frames and answers than the server gave, each in one way.

The check that a control names must be broken in a sentence about that client.
"""
from client import BEAT, MESSAGE, STATUS, WELCOME
from watchers import ENTITLEMENT, STATUSES, EventStream
from wire import Caller, contract
from writers import LATEST, LIFETIME

CONTROLS = []  # (check, what it spoils, function)
# What these checks notice only at the end. For the others a run goes on until they noticed it.
AT_THE_END = ("every watch's last value equals a unary read", "the events of all connections together are those that the store has",
              "every acknowledged transaction is listed exactly once")


def control(check, what):
    """`what`: the method of a stream of state, EventStream, or None for a connection."""
    def register(function):
        CONTROLS.append((check, what, function))
        return function
    return register


def changed(message, change):
    copy = type(message)()
    copy.CopyFrom(message)
    change(copy)
    return copy


def other(frame, change):
    return [frame._replace(message=changed(frame.message, change))]


def is_value(frame):
    return frame.message.WhichOneof("state") == "success"


# Each answers the frames that come in place of one, or None where that one is let through.

@control("an equal value is never pushed twice in a row, restarts included", STATUSES)
def a_value_comes_twice(watcher, stream, frame):
    return [frame, frame] if is_value(frame) else None


@control("every watch's last value equals a unary read", STATUSES)
def later_values_are_lost(watcher, stream, frame):
    # A slow client's first value may be the last one again: what it subscribed to, and switched off and on.
    return [] if is_value(frame) and frame.message.success.statuses else None


@control("positions on a watch never decrease, restarts included", STATUSES)
def a_position_goes_back(watcher, stream, frame):
    if is_value(frame) and stream.position[0]:
        return other(frame, lambda message: setattr(message.info.position, "revision", 0))


@control("a token is answered by a value or unchanged", STATUSES)
def unchanged_comes_late(watcher, stream, frame):
    # As the first message on a connection it could be true.
    late = is_value(frame) and stream.pushes and stream.opened
    return other(frame, lambda message: message.unchanged.SetInParent()) if late else None


@control("an entitlement and the status of its account agree at each BEAT", ENTITLEMENT)
def an_entitlement_is_invented(watcher, stream, frame):
    if is_value(frame) and not frame.message.success.HasField("transaction"):
        return other(frame, lambda message: setattr(message.success.transaction.transaction, "id", 1))


@control("no stream ends but with its server", STATUSES)
def a_stream_ends(watcher, stream, frame):
    return [frame, frame._replace(kind=STATUS)]


@control("all watches of a view have one value at one position", STATUSES)
def one_watch_has_another_value(watcher, stream, frame):
    return other(frame, lambda message: message.success.statuses.add()) if is_value(frame) else None


@control("each event comes exactly once and in order, reconnects included", EventStream)
def an_event_comes_twice(watcher, stream, frame):
    return [frame, frame] if frame.message.HasField("transaction") else None


@control("the events of all connections together are those that the store has", EventStream)
def an_event_is_lost(watcher, stream, frame):
    if frame.message.HasField("transaction") and frame.message.revision == getattr(stream, "lost", frame.message.revision):
        stream.lost = frame.message.revision
        return []


@control("a cursor is answered by itself, then by what came after it", EventStream)
def a_cursor_is_answered_by_another(watcher, stream, frame):
    if stream.cursor and not frame.message.HasField("transaction"):
        return other(frame, lambda message: setattr(message, "cursor", b"another"))


@control("no BEAT passes an event that is still to come", EventStream)
def a_beat_is_ahead(watcher, stream, frame):
    beat = contract().message("perch.wire.v1.Beat")(revision=frame.message.revision)
    return [frame._replace(kind=BEAT, stream=0, message=beat), frame] if frame.message.HasField("transaction") else None


@control("no crash takes back what anyone has seen", None)
def a_revision_is_lost(watcher, stream, frame):
    return other(frame, lambda message: setattr(message, "revision", 0)) if frame.kind == WELCOME else None


@control("the store's clock never runs backwards", None)
def the_clock_goes_back(watcher, stream, frame):
    return other(frame, lambda message: setattr(message, "server_time_ms", 1)) if frame.kind == WELCOME else None


class Forgetful(Caller):
    """What it reads, or asks for again by key, is empty; lists lack their first transaction."""

    keys = set()  # Of all its connections.

    def ask(self, path, **request):
        answer, status = super().ask(path, **request)
        key = request.get("idempotency_key")
        if answer and (path == LATEST or key in self.keys):
            answer = changed(answer, lambda message: message.Clear())
        elif answer and "ListTransactions" in path and answer.transactions:
            answer = changed(answer, lambda message: message.transactions.pop(0))
        self.keys.add(key or path)
        return answer, status


def plant(run):
    """Gives each control a client of its own. What a writer's two watchers share comes to those of the first writer."""
    whole, alone = run.watchers[1:len(run.writers)][::-1], run.watchers[len(run.writers):]
    for check, what, function in CONTROLS:
        if what is None or what is EventStream:
            watcher = alone.pop(0)
            stream = watcher.streams[0] if what else None
        else:
            watcher = run.watchers[0] if function is one_watch_has_another_value else whole.pop()
            stream = next(each for each in watcher.streams if each.method == what and each.fields.get("product_id") != LIFETIME)

        def spoil(watcher, frame, stream=stream, function=function):
            if stream is None or frame.kind == MESSAGE and watcher.numbers.get(frame.stream) is stream:
                frames = function(watcher, stream, frame)
                if frames is None:
                    return [frame]
                run.spoilt.add(function.__name__)
                return frames
            return [frame]
        watcher.spoil = spoil
        run.planted.append((check, function.__name__, stream.fields["account"] if stream else f"{watcher.name} is"))
    last = run.writers[-1]
    last.caller = run.auditor = Forgetful
    run.planted += [(check, "Forgetful", f"account-{last.index}-") for check in (
        "the same key gives the same answer", "a read at the position of a purchase shows it", "every acknowledged transaction is listed exactly once")]


def is_found(run, check, who):
    return any(who in violation for violation in run.test.violations[check])


def wait(run):
    """Whether some control still waits for its chance: which frames come, and when, is not decided here."""
    unspoilt = {function.__name__ for _, _, function in CONTROLS} - run.spoilt
    return any(name in unspoilt if check in AT_THE_END else not is_found(run, check, who) for check, name, who in run.planted)


def found(run):
    missed = 0
    for check, name, who in run.planted:
        noticed = is_found(run, check, who)
        missed += not noticed
        print(f"{'ok     found' if noticed else 'FAILED  not found'}: {name.replace('_', ' ')}: {check}")
    print(f"{len(run.planted) - missed} of {len(run.planted)} controls were found", flush=True)
    return not missed

"""The recorder's clients: watchers that hold streams and come back with tokens, callers that make unary calls."""

import itertools

from values import EVENTS, READ_OF_STREAM
from wire import CANCEL, Connection, DRAIN, MESSAGE, PING, PONG, STATUS, WELCOME

CONNECTION_NUMBERS = itertools.count(1)
CHAIN_NUMBERS = itertools.count(1)
TOKENS_KEPT = 6


class Peer:
    """A client with one connection at a time. It comes back whenever the server is up."""

    def __init__(self, world, name, random_source, reads_zlib=False):
        self.world, self.name, self.random = world, name, random_source
        self.client_id = name.encode()
        self.reads_zlib = reads_zlib
        self.connection, self.number = None, 0
        self.live = {}
        self.free, self.next_stream = [], 1
        self.connects_at = None

    @property
    def is_ready(self):
        return self.connection is not None and self.connection.is_open and self.connection.is_welcome

    def connect(self):
        if self.connection is not None or not self.world.server_is_up:
            return
        self.number = next(CONNECTION_NUMBERS)
        self.live, self.free, self.next_stream = {}, [], 1
        note = {"peer": self.name, "client_id": self.client_id}
        self.world.journal.write("open", connection=self.number, note=note)
        contract, address = self.world.contract, self.world.server.address
        self.connection = Connection(
            self.world.loop, contract, address, self, self.name, self.client_id, reads_zlib=self.reads_zlib
        )

    def drop(self):
        """Closes the connection without a word."""
        if self.connection is not None:
            self.connection.end("dropped by the recorder")

    def open_call(self, method, request, note, handler):
        if self.free and self.random.random() < 0.5:
            stream = self.free.pop(0)
        else:
            stream, self.next_stream = self.next_stream, self.next_stream + 1
        self.live[stream] = handler
        body = request.SerializeToString()
        note = dict(note, method=method)
        self.world.journal.write("call", connection=self.number, stream=stream, body=body, note=note)
        self.connection.call(stream, method, body)
        return stream

    def cancel(self, stream):
        self.world.journal.write("cancel", connection=self.number, stream=stream)
        self.connection.send(CANCEL, stream)

    def ping(self):
        if self.is_ready:
            body = self.random.randbytes(8)
            self.world.journal.write("ping", connection=self.number, body=body)
            self.connection.send(PING, 0, body)

    def on_frame(self, connection, kind, stream, body):
        self.world.journal.write("frame", connection=self.number, stream=stream, kind=kind, body=body)
        if kind == WELCOME:
            connection.is_welcome = True
            self.on_welcome()
        elif kind == MESSAGE and stream in self.live:
            self.live[stream].on_message(stream, body)
        elif kind == STATUS and stream in self.live:
            handler = self.live.pop(stream)
            self.free.append(stream)
            handler.on_status(stream, self.world.contract.Status.FromString(body))
        elif kind == PING:
            connection.send(PONG, 0, body)

    def on_end(self, connection, why):
        self.world.journal.write("lost", connection=self.number, note={"why": why})
        self.connection = None
        lost, self.live = self.live, {}
        for handler in dict.fromkeys(lost.values()):
            handler.on_lost()
        self.world.loop.later(self.random.uniform(0.0, 0.05), self.connect)

    def on_welcome(self):
        pass


class Chain:
    """One thing that a watcher looks at, over all its calls: it goes on with the token, or cursor, of what it had."""

    def __init__(self, watcher, method, account="", **parameters):
        self.watcher, self.method, self.account, self.parameters = watcher, method, account, parameters
        self.number = next(CHAIN_NUMBERS)
        self.tokens = []
        self.stream = None
        self.renews = False
        self.is_history = False

    def open(self):
        contract = self.watcher.world.contract
        token = b""
        if self.tokens:
            # Mostly the newest one; an older one asks for more.
            back = (
                1 if self.watcher.random.random() < 0.9 else self.watcher.random.randint(1, len(self.tokens))
            )
            token = self.tokens[-back]
            # A client that goes back drops its later tokens.
            self.tokens = self.tokens[: len(self.tokens) - back + 1]
        fields = dict(self.parameters)
        if self.account:
            fields["account"] = self.account
        fields["cursor" if self.method == EVENTS else "resume_token"] = token
        request = contract.methods[self.method][1](**fields)
        note = {"chain": self.number, "account": self.account, "token": token, **self.parameters}
        note["history"] = self.is_history
        self.stream = self.watcher.open_call(self.method, request, note, self)

    def on_message(self, stream, body):
        if stream != self.stream:
            return
        message = self.watcher.world.contract.methods[self.method][2].FromString(body)
        token = message.cursor if self.method == EVENTS else message.info.resume_token
        if token:
            self.tokens = (self.tokens + [token])[-TOKENS_KEPT:]
        self.watcher.world.streamed += (
            message.WhichOneof("state") != "loading" if self.method in READ_OF_STREAM else 1
        )

    def on_status(self, stream, status):
        if stream == self.stream:
            self.stream = None
            if self.renews or status.reason not in ("SHUTTING_DOWN", "CANCELLED"):
                self.begin_again()

    def on_lost(self):
        self.stream = None
        if self.renews:
            self.number, self.tokens, self.renews = next(CHAIN_NUMBERS), [], False

    def begin_again(self):
        """Goes on without a token, as a chain of its own."""
        self.number, self.tokens, self.renews = next(CHAIN_NUMBERS), [], False
        if self.watcher.is_ready:
            self.open()


class Watcher(Peer):
    """Holds watches on one connection, and opens them again after each loss: at once, or in several steps."""

    def __init__(self, world, name, random_source, reads_zlib):
        super().__init__(world, name, random_source, reads_zlib)
        self.chains = []
        self.is_draining = False

    def on_welcome(self):
        self.is_draining = False
        chains = list(self.chains)
        self.random.shuffle(chains)
        if self.random.random() < 0.5:
            for chain in chains:
                chain.open()
        else:
            self.open_slowly(self.number, chains)

    def open_slowly(self, number, chains):
        """Opens a few watches at a time, so that the server answers some before it knows of the others."""
        if self.number != number or not self.is_ready or self.is_draining:
            return
        some = self.random.randint(1, 4)
        for chain in chains[:some]:
            if chain.stream is None:
                chain.open()
        if chains[some:]:
            self.world.loop.later(
                self.random.uniform(0, 0.004), lambda: self.open_slowly(number, chains[some:])
            )

    def on_frame(self, connection, kind, stream, body):
        if kind == DRAIN:
            self.is_draining = True
        super().on_frame(connection, kind, stream, body)

    def recall(self, chain):
        """Cancels a watch and opens it again at once with its token, on another number."""
        if self.is_ready and not self.is_draining and chain.stream is not None:
            self.cancel(chain.stream)
            chain.open()

    def restart(self, chain):
        """Cancels a watch, waits for its STATUS, and begins without a token."""
        if self.is_ready and not self.is_draining and chain.stream is not None:
            chain.renews = True
            self.cancel(chain.stream)


class UnaryCall:
    def __init__(self, caller, method, then):
        self.caller, self.method, self.then, self.answer = caller, method, then, None

    def on_message(self, stream, body):
        self.answer = self.caller.world.contract.methods[self.method][2].FromString(body)

    def on_status(self, stream, status):
        self.then(status, self.answer)

    def on_lost(self):
        self.then(None, None)


class FirstValue:
    """A watch that is opened for its first value, and cancelled then."""

    def __init__(self, caller, method, then):
        self.caller, self.method, self.then, self.is_done = caller, method, then, False

    def on_message(self, stream, body):
        message = self.caller.world.contract.methods[self.method][2].FromString(body)
        if message.WhichOneof("state") != "loading" and not self.is_done:
            self.is_done = True
            self.caller.cancel(stream)

    def on_status(self, stream, status):
        self.then(status, None)

    def on_lost(self):
        self.then(None, None)


class Caller(Peer):
    """Makes calls that end by themselves. `then(status, answer)` has None for both where the connection was lost."""

    def unary(self, method, request, note, then):
        if not self.is_ready:
            self.world.loop.later(0.01, lambda: then(None, None))
            return
        self.open_call(method, request, note, UnaryCall(self, method, then))

    def first_value(self, method, request, note, then):
        if not self.is_ready:
            self.world.loop.later(0.01, lambda: then(None, None))
            return
        note = dict(note, chain=next(CHAIN_NUMBERS), token=b"")
        self.open_call(method, request, note, FirstValue(self, method, then))

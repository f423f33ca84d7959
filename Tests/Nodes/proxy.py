"""Stands between a node and PostgreSQL on a Unix socket, knows where each message ends, and can lose any of them.

With a network namespace, its own connections to PostgreSQL go over TCP from in there.

Only sessions without TLS pass: libpq never asks for it on a Unix socket.
"""
import pathlib
import selectors
import socket
import struct
import threading

TO_SERVER, TO_CLIENT = "to the server", "to the node"
CUT, SILENCE = "cut", "silence"
NAME = ".s.PGSQL.5432"


class Side:
    """One direction of a session: bytes that are not yet a whole message, and where messages go."""

    def __init__(self, source, target, direction):
        self.source, self.target, self.direction = source, target, direction
        self.held, self.is_first = b"", direction == TO_SERVER
        self.other = None

    def messages(self):
        while True:
            # The first message of a session has no type.
            head = 0 if self.is_first else 1
            if len(self.held) < head + 4:
                return
            length = head + struct.unpack_from(">I", self.held, head)[0]
            if len(self.held) < length:
                return
            message, self.held, self.is_first = self.held[:length], self.held[length:], False
            yield message


class Proxy:
    def __init__(self, directory, database, network=None):
        self.directory, self.database, self.network = pathlib.Path(directory), database, network
        self.directory.mkdir()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.directory / NAME))
        self.listener.listen(64)
        self.selector, self.lock = selectors.DefaultSelector(), threading.Lock()
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.is_cut_off = False
        self.plan = None  # (direction, messages until the blow, how)
        self.counts, self.blows, self.silent = {TO_SERVER: 0, TO_CLIENT: 0}, 0, set()
        threading.Thread(target=self.run, daemon=True).start()

    @property
    def url(self):
        return f"postgres://perch@/perch?host={self.directory}"

    def arm(self, direction, after, how=CUT):
        """The message of this number, from now on and of any session, does not arrive, and its session ends, or says nothing more."""
        with self.lock:
            self.plan = [direction, after, how]
            self.counts = {TO_SERVER: 0, TO_CLIENT: 0}

    def disarm(self):
        """Answers whether the blow has come; sessions that fell silent end."""
        with self.lock:
            came, self.plan = self.plan is None, None
            for side in self.silent:
                self.end(side)
            self.silent = set()
            return came

    def cut_off(self, is_cut_off):
        """While it is, nothing passes, and new sessions get no answer: as where a network is gone."""
        with self.lock:
            self.is_cut_off = is_cut_off

    def run(self):
        while True:
            events = self.selector.select(0.02)
            with self.lock:
                if self.is_cut_off:
                    # What has come stays where it is.
                    threading.Event().wait(0.01)
                    continue
                for key, _ in events:
                    if key.data is None:
                        self.accept()
                    elif key.fileobj.fileno() >= 0:
                        self.take(key.data)

    def accept(self):
        client, _ = self.listener.accept()
        try:
            if self.network:
                server = self.network.connect(self.database.port)
            else:
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self.database.directory / NAME))
        except OSError:
            client.close()
            return
        one, two = Side(client, server, TO_SERVER), Side(server, client, TO_CLIENT)
        one.other, two.other = two, one
        for side in (one, two):
            self.selector.register(side.source, selectors.EVENT_READ, side)

    def take(self, side):
        try:
            got = side.source.recv(65536)
        except OSError:
            got = b""
        if side in self.silent or side.other in self.silent:
            # Nothing passes any more, also no end.
            if not got:
                self.selector.unregister(side.source)
            return
        if not got:
            return self.end(side)
        side.held += got
        passed = b""
        for message in side.messages():
            self.counts[side.direction] += 1
            if self.plan and self.plan[0] == side.direction:
                if self.plan[1] == 0:
                    how, self.plan = self.plan[2], None
                    self.blows += 1
                    self.send(side, passed)
                    if how == SILENCE:
                        self.silent.add(side)
                        return
                    return self.end(side)
                self.plan[1] -= 1
            passed += message
        self.send(side, passed)

    def send(self, side, data):
        try:
            side.target.sendall(data)
        except OSError:
            self.end(side)

    def end(self, side):
        for one in (side, side.other):
            if one.source.fileno() >= 0:
                if one.source in self.selector.get_map():
                    self.selector.unregister(one.source)
                one.source.close()

"""A relay of TCP that can lose answers: the fault that makes a client ask again for what was already done."""
import socket
import threading

from waiting import free_port


class Relay:
    """Listens on `port` and connects to `target`. While `loses_answers` is set, what comes from there is counted and dropped.

    `kept` has the bytes of each connection in both directions, if it `keeps` them."""

    def __init__(self, target, keeps=False):
        self.target, self.port, self.keeps, self.kept = target, free_port(), keeps, []
        self.loses_answers, self.lost = False, 0
        self.sockets, self.lock = [], threading.Lock()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            with self.lock:
                self.sockets += [client, server]
            both = bytearray(), bytearray()
            self.kept.append(both)
            for source, sink, kept, is_answer in ((client, server, both[0], False), (server, client, both[1], True)):
                threading.Thread(target=self.pump, args=(source, sink, kept, is_answer), daemon=True).start()

    def pump(self, source, target, kept, is_answer):
        try:
            while data := source.recv(65536):
                if self.keeps:
                    kept += data
                if is_answer and self.loses_answers:
                    self.lost += len(data)
                    continue
                target.sendall(data)
        except OSError:
            pass
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """Ends all connections."""
        with self.lock:
            for each in self.sockets:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                each.close()
            self.sockets = []

    def close(self):
        self.listener.close()
        self.cut()

"""A relay of TCP that can lose answers: the fault that makes a client ask again for what was already done."""
import socket
import threading

from .ports import free_port


class Relay:
    """Listens on `port` and connects to `target`. While `loses_answers` is set, what comes from there is counted and dropped."""

    def __init__(self, target):
        self.target, self.port = target, free_port()
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
            threading.Thread(target=self.pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, True), daemon=True).start()

    def pump(self, source, target, is_answer):
        try:
            while data := source.recv(65536):
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

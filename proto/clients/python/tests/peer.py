"""A server of bytes: each connection gets the next script, a function of the connection."""

import json
import socket
import threading


class Connection:
    def __init__(self, plain):
        self.plain, self.incoming = plain, plain.makefile("rb")

    def request(self):
        """The path, the headers and the body of the next request; None at the end."""
        line = self.incoming.readline()
        if not line:
            return None
        headers = {}
        while text := self.incoming.readline().strip():
            name, _, value = text.decode().partition(":")
            headers[name.lower()] = value.strip()
        return line.decode().split()[1], headers, self.incoming.read(int(headers.get("content-length", 0)))

    def send(self, data):
        self.plain.sendall(data)

    def answer(self, message, more=""):
        body = message.encode()
        self.send(
            f"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: {len(body)}\r\n{more}\r\n".encode()
            + body
        )

    def refuse(self, status, code, reason="", retry_seconds=None, message="no"):
        body = json.dumps(refusal(code, reason, retry_seconds, message)).encode()
        self.send(
            f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )

    def begin(self):
        self.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ntransfer-encoding: chunked\r\n\r\n")

    def envelope(self, data, flags=0):
        self.chunk(bytes([flags]) + len(data).to_bytes(4, "big") + data)

    def message(self, message):
        self.envelope(message.encode())

    def chunk(self, data):
        self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def end(self, code=None, reason="", retry_seconds=None):
        self.envelope(json.dumps({"error": refusal(code, reason, retry_seconds, "no")} if code else {}).encode(), 2)
        self.send(b"0\r\n\r\n")

    def wait(self):
        """Until the client closes the connection."""
        try:
            while self.plain.recv(4_096):
                pass
        except OSError:
            pass

    def close(self):
        self.incoming.close()
        self.plain.close()


def refusal(code, reason, retry_seconds, message):
    import base64

    text = reason.encode()
    details = [
        {
            "type": "google.rpc.ErrorInfo",
            "value": base64.b64encode(b"\x0a" + bytes([len(text)]) + text).decode().rstrip("="),
        }
    ]
    if retry_seconds is not None:
        details.append(
            {
                "type": "google.rpc.RetryInfo",
                "value": base64.b64encode(b"\x0a\x02\x08" + bytes([retry_seconds])).decode().rstrip("="),
            }
        )
    return {"code": code, "message": message, "details": details if reason else details[1:]}


class Peer:
    """Listens until `close`. The scripts run one after the other, in the order of the connections."""

    def __init__(self, *scripts, tls=None):
        self.tls = tls
        self.scripts, self.failures, self.requests = list(scripts), [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.listener.getsockname()[1]}"
        self.threads = [threading.Thread(target=self.listen)]
        self.threads[0].start()

    def listen(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            if not self.scripts:
                plain.close()
                continue
            self.threads.append(threading.Thread(target=self.play, args=(plain, self.scripts.pop(0))))
            self.threads[-1].start()

    def play(self, plain, script):
        if self.tls is not None:
            try:
                plain = self.tls.wrap_socket(plain, server_side=True)
            except OSError:  # The client refuses the certificate.
                plain.close()
                return
        connection = Connection(plain)
        try:
            script(connection)
        except Exception as error:
            self.failures.append(error)
        finally:
            connection.close()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join()
        assert not self.failures, self.failures
        assert not self.scripts, f"{len(self.scripts)} connections never came"

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.close()
        except AssertionError:
            if kind is None:
                raise

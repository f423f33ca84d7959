"""A client of HTTP/2 by `h2`, with a say in every window and frame, for one server on loopback."""
import socket
import ssl
import struct
import time

import h2.config
import h2.connection
import h2.events
import h2.settings

from waiting import PATIENCE_SECONDS


class Peer:
    """One connection. Windows are given back only as a test says."""

    def __init__(self, port, window=None, tls=None, timeout=PATIENCE_SECONDS, greets=True):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        config = h2.config.H2Configuration(client_side=True, header_encoding="utf-8", validate_outbound_headers=False,
                                           normalize_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(config)
        if window is not None:
            self.h2.local_settings = h2.settings.Settings(
                client=True, initial_values={h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.head, self.trailers, self.data, self.ended, self.reset = {}, {}, {}, set(), {}
        self.goaways, self.pongs, self.returned, self.closed = [], 0, 0, False
        if greets:
            self.h2.initiate_connection()
            self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def raw(self, kind, flags, stream, body):
        """A frame as it is, behind the library's back."""
        self.flush()
        self.socket.sendall(struct.pack(">I", len(body) << 8 | kind) + struct.pack(">BI", flags, stream) + body)

    def call(self, path, message=b"", more=(), ends=True, kind="application/grpc", framed=True, without=()):
        stream = self.h2.get_next_available_stream_id()
        fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
                  ("content-type", kind), ("te", "trailers"), *more]
        self.h2.send_headers(stream, [field for field in fields if field[0] not in without])
        if message is not None:
            body = b"\0" + struct.pack(">I", len(message)) + message if framed else message
            self.send(stream, body, ends)
        self.flush()
        return stream

    def send(self, stream, body, ends=True):
        for start in range(0, max(1, len(body)), 16_000):
            part = body[start:start + 16_000]
            deadline = time.monotonic() + PATIENCE_SECONDS
            while self.h2.local_flow_control_window(stream) < len(part):
                assert time.monotonic() < deadline, "the server gives no window back"
                self.read(0.2)
            self.h2.send_data(stream, part, end_stream=ends and start + 16_000 >= len(body))
            self.flush()

    def read(self, seconds=0.2, gives=None):
        """Takes what comes within a time; `gives` bytes of window for each byte of data."""
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(65_536)
        except (TimeoutError, ssl.SSLWantReadError, socket.timeout):
            return False
        except (ConnectionError, OSError):
            data = b""
        if not data:
            self.closed = True
            return False
        for event in self.h2.receive_data(data):
            self.take(event, gives)
        try:
            self.flush()
        except OSError:
            self.closed = True
        return True

    def take(self, event, gives):
        stream = getattr(event, "stream_id", None)
        if isinstance(event, h2.events.ResponseReceived):
            self.head[stream] = dict(event.headers)
            if "grpc-status" in self.head[stream]:
                self.trailers[stream] = self.head[stream]
        elif isinstance(event, h2.events.TrailersReceived):
            self.trailers[stream] = dict(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            self.data[stream] = self.data.get(stream, b"") + event.data
            if gives:
                gives(self, event)
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.add(stream)
        elif isinstance(event, h2.events.StreamReset):
            self.reset[stream] = event.error_code
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.goaways.append((event.last_stream_id, int(event.error_code), event.additional_data or b""))
        elif isinstance(event, h2.events.WindowUpdated) and not stream:
            self.returned += event.delta
        elif isinstance(event, h2.events.PingAckReceived):
            self.pongs += 1

    def until(self, holds, seconds=PATIENCE_SECONDS, gives=None):
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, f"it never came: {self.head} {self.trailers} {self.goaways} {self.reset}"
            self.read(0.1, gives)
            if self.closed and not holds():
                raise AssertionError(f"the server closed: {self.goaways}")

    def end(self, stream, seconds=PATIENCE_SECONDS, gives=None):
        self.until(lambda: stream in self.ended or stream in self.reset, seconds, gives)
        return self.trailers.get(stream, {})

    def messages(self, stream):
        found, data = [], self.data.get(stream, b"")
        while len(data) >= 5 and len(data) >= 5 + struct.unpack(">I", data[1:5])[0]:
            length = struct.unpack(">I", data[1:5])[0]
            found.append(data[5:5 + length])
            data = data[5 + length:]
        return found

    def close(self):
        self.socket.close()

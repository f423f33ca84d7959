"""Serves the console's files from the working tree, and passes every call on to a running server.

    develop.py SERVER_PORT PORT

A change of a file is seen at the next reload, without a build. For development alone: the product has no such switch.
"""
import http.client
import http.server
import pathlib
import socketserver
import sys

FILES = pathlib.Path(__file__).resolve().parents[2] / "Sources/PerchConsole/Files"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html; charset=utf-8"}
POLICY = ("default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
          "frame-ancestors 'none'")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    target = 0

    def do_GET(self):
        path = self.path.partition("?")[0]
        if not path.startswith(("/console/", "/views/")):
            return self.forward()
        name = path.rpartition("/")[2] or "index.html"
        file = FILES / name
        if not file.is_file():
            return self.send_error(404)
        body = file.read_bytes()
        self.send_response(200)
        self.send_header("content-type", TYPES.get(file.suffix, "application/json"))
        self.send_header("content-length", str(len(body)))
        self.send_header("cache-control", "no-store")
        self.send_header("access-control-allow-origin", "*")
        self.send_header("content-security-policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.forward()

    def forward(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        connection = http.client.HTTPConnection("127.0.0.1", self.target)
        fields = {name: value for name, value in self.headers.items() if name.lower() not in ("connection", "host", "origin")}
        try:
            connection.request(self.command, self.path, body or None, fields)
            answer = connection.getresponse()
        except OSError:
            self.close_connection = True
            return None
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while part := answer.read1(65_536):
                self.wfile.write(part)
                self.wfile.flush()
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        return None

    def log_message(self, *arguments):
        pass


class Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


Handler.target = int(sys.argv[1])
Threads(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()

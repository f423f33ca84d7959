"""DNS rebinding in Chromium: a page whose foreign name leads to this machine later reads nothing from a server without credentials
on loopback, and buys nothing, whatever fields its requests have.

    rebinding.py PERCH

The page comes from an attacker's server at http://evil.example:PORT. That one goes away, and Perch listens at its port: to the
browser the page's own origin. The control is the same page at http://localhost:PORT, which reads and buys.
"""
import http.client
import http.server
import json
import pathlib
import sys
import tempfile
import threading

from browser import Browser
from checks import check, equal, summary
from server import Server
from trial import SAMPLE as CATALOG
from waiting import PATIENCE_SECONDS, free_port

PRODUCT = "app.perch.plus.monthly"
EVIL = "evil.example"
# What the page sends: all that a page may set, and what proxies and frameworks believe.
FIELDS = [
    {}, {"authorization": "Bearer x"}, {"authorization": "Basic eDp4"}, {"x-forwarded-host": "localhost"},
    {"forwarded": "host=localhost;for=127.0.0.1"}, {"x-host": "localhost", "x-original-host": "localhost", "x-real-ip": "127.0.0.1"},
    {"x-http-method-override": "GET"}, {"x-grpc-web": "1", "x-user-agent": "grpc-web-javascript/0.1"},
    {"connect-protocol-version": "1", "connect-timeout-ms": "5000"}, {"perch-client-name": "x", "perch-heartbeat": "10"},
    {"last-event-id": "x"}, {"content-encoding": "identity"}, {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
]
KINDS = ["application/json", "application/proto", "application/connect+json", "application/connect+proto", "application/grpc",
         "application/grpc-web+proto", "application/grpc-web-text", "text/plain", "application/x-www-form-urlencoded", "text/event-stream"]
SERVICE = "/perch.v1."
READ = f"{SERVICE}EntitlementService/GetSubscriptionStatus"
WATCH = f"{SERVICE}EntitlementService/SubscriptionStatusTask"
BUY = f"{SERVICE}TransactionService/Purchase"
# Resolves with all that the page could read: where, status, and the beginning of the body.
ATTACK = """
const [fields, kinds, product, done] = arguments, read = [];
const ask = async (what, path, init) => {
  try {
    const answer = await fetch(path, { ...init, signal: AbortSignal.timeout(20000) });
    if (!answer.ok) return;
    const reader = answer.body?.getReader();
    const part = await reader?.read();
    // Six streams that stay open would hold all connections of the page.
    reader?.cancel();
    read.push([what, answer.status, new TextDecoder().decode(part?.value).slice(0, 200)]);
  } catch (error) {}
};
(async () => {
  const query = '?account=victim&groupId=plus', message = { account: 'victim', groupId: 'plus' };
  const order = { account: 'victim', order: { productId: product } };
  const envelope = (text) => new Uint8Array([0, 0, 0, 0, text.length, ...new TextEncoder().encode(text)]);
  const types = (headers) => kinds.map((kind) => ({ ...headers, 'content-type': kind }));
  for (const headers of [...fields, ...types({}), ...types({ authorization: 'Bearer x' })]) {
    const kind = headers['content-type'], isFramed = /connect\\+|grpc/.test(kind);
    const body = (value) => isFramed ? envelope(JSON.stringify(value)) : JSON.stringify(value);
    const sent = kind ? headers : { ...headers, 'content-type': 'application/json' };
    await Promise.all([
      ask('POST ' + kind, READ, { method: 'POST', headers: sent, body: body(message) }),
      ask('buy ' + kind, BUY, { method: 'POST', headers: sent, body: body(order) }),
      ...(kind ? [] : [
        ask('GET', READ + query, { headers }), ask('HEAD', READ + query, { method: 'HEAD', headers }),
        ask('stream', WATCH + query, { headers: { ...headers, accept: 'text/event-stream' } })]),
    ]);
  }
  const files = ['/', '/console/', '/views/v1/perch-views.js', '/metrics', '/healthz', '/readyz', '/nothing'];
  for (const headers of fields.slice(0, 2)) await Promise.all(files.map((path) => ask('file', path, { headers })));
  await ask('no-cors', BUY, { method: 'POST', mode: 'no-cors', body: JSON.stringify(order) });
  navigator.sendBeacon(BUY, new Blob([JSON.stringify(order)], { type: 'application/json' }));
  await new Promise((next) => {
    const events = new EventSource(WATCH + query);
    events.onmessage = ({ data }) => { read.push(['EventSource', 200, data.slice(0, 200)]); events.close(); next(); };
    events.onerror = () => { events.close(); next(); };
  });
  await new Promise((next) => {
    const socket = new WebSocket('ws://' + location.host + READ + query);
    socket.onopen = () => { read.push(['WebSocket', 101, '']); socket.close(); next(); };
    socket.onerror = next;
  });
  done(read);
})();
""".replace("READ +", f"'{READ}' +").replace("WATCH +", f"'{WATCH}' +").replace("READ,", f"'{READ}',").replace("BUY,", f"'{BUY}',")


class Attacker(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>A page</title>")

    def log_message(self, *_):
        pass


def pages(browser, name, port):
    """Opens the attacker's page at a name and port, and takes its server away."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", port), Attacker)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    browser.open(f"http://{name}:{port}/")
    site.shutdown()
    site.server_close()


def ask(port, path, **request):
    """A call of this machine, at its own name."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    connection.request("POST", path, json.dumps(request), {"host": "localhost", "content-type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    equal(answer.status, 200, f"the status, with {text}")
    return json.loads(text)


def bought(port):
    return len(ask(port, READ, account="victim", groupId="plus")["success"].get("statuses", []))


def attack(perch, browser, work, what, name, *settings, http_port=None):
    """What a page at `name` reads, and how many subscriptions its victim has then."""
    server = Server(perch, CATALOG, "memory", work / "server.log", bundle="app.perch.demo", port=free_port())
    server.arguments[2:2] = settings
    pages(browser, name, http_port or server.port)
    server.start()
    try:
        read = browser.driver.execute_async_script(ATTACK, FIELDS, KINDS, PRODUCT)
        return read, bought(server.port)
    finally:
        server.kill()


def main(perch, work):
    metrics = free_port()
    browser = Browser(more=(f"--host-resolver-rules=MAP {EVIL} 127.0.0.1",))
    try:
        for what, port, settings in (
                ("on loopback", None, ()), ("with --allow-host", None, ("--allow-host", "friend.example")),
                ("at the port of --http", metrics, ("--http", f"127.0.0.1:{metrics}"))):
            with check(f"rebinding: a page at a foreign name reads and buys nothing {what}"):
                equal(attack(perch, browser, work, what, EVIL, *settings, http_port=port), ([], 0), "what it read and bought")
        with check("rebinding: a page at localhost reads and buys, so the requests are right"):
            read, count = attack(perch, browser, work, "", "localhost")
            kinds = {each[0].split()[0] for each in read}
            assert {"GET", "stream", "POST", "buy", "EventSource"} <= kinds and count == 1, (kinds, count)
    finally:
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(sys.argv[1], pathlib.Path(name))
    sys.exit(summary("rebinding"))

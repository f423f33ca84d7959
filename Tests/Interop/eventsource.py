"""`EventSource` in Chromium never dies: a page without a line of code for it shows the newest value, over a lost connection, a
restored backup, a new store, an upgrade, an end for age, and a proxy that nobody has tuned. The last line says how long it took.

    eventsource.py --within 5 --times 10  ten times, and no value may take longer than five seconds
"""
import http.server
import pathlib
import sys
import tempfile
import threading
import time

import fronts
import page
import proxy
import stubs
import trial
from browser import Browser
from checks import check, summary
from live import PRODUCT, serve
from server import Server
from trial import PERCH, SAMPLE, WORK
from waiting import PATIENCE_SECONDS

QUERY = "/perch.v1.EntitlementService/SubscriptionStatusTask?account=alice&groupId=plus"
PAGE = """<p id="status"></p>
<script>
const events = new EventSource("http://127.0.0.1:{port}{query}");
events.onmessage = ({{data}}) => {{
  const {{success}} = JSON.parse(data);
  if (success) document.getElementById("status").textContent = (success.statuses ?? []).map(({{state}}) => state).join() || "none";
}};
</script>
"""


class Earlier(http.server.BaseHTTPRequestHandler):
    """A server of another version: its identifiers mean nothing to this one."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        for name, value in (("content-type", "text/event-stream"), ("access-control-allow-origin", "*"), ("connection", "close")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b'id: djk5LW9mLWFub3RoZXItdmVyc2lvbg\ndata: {"success":{"statuses":[{"state":"EARLIER"}]}}\n\n')
        self.close_connection = True

    def log_message(self, *_):
        pass


class Trial:
    def __init__(self, within):
        self.within, self.slowest, self.work = within, 0, pathlib.Path(tempfile.mkdtemp(dir=WORK))
        (self.work / "site").mkdir()
        self.site = serve(self.work / "site")
        self.server = self.browser = None

    def serve(self, store, *settings):
        self.server = Server(PERCH, SAMPLE, store, self.work / "server.log", "--allow-origin", f"http://127.0.0.1:{self.site.server_port}",
                             *settings, port=page.PORT)
        self.server.start()

    def store(self, *arguments):
        done = self.server.run(*arguments)
        assert done.returncode == 0, done

    def open(self, port=page.PORT):
        (self.work / "site" / "page.html").write_text(PAGE.format(port=port, query=QUERY))
        self.browser = self.browser or Browser()
        self.browser.open(f"http://127.0.0.1:{self.site.server_port}/page.html")

    def shows(self, text, isFirst=False):
        began = time.monotonic()
        self.browser.until(lambda: self.browser.text("#status") == text, why=f"the page shows {text}")
        took = time.monotonic() - began
        assert isFirst or took <= self.within, f"{text} was shown after {took:.1f} s"
        self.slowest = max(self.slowest, 0 if isFirst else took)

    def run(self):
        sqlite, copy = self.work / "store", self.work / "copy.db"
        self.serve(sqlite)
        self.open()
        with check("EventSource: shows a value and a purchase"):
            self.shows("none", isFirst=True)
            self.store("store", "buy", "alice", PRODUCT)
            self.shows("RENEWAL_STATE_SUBSCRIBED")
        with check("EventSource: over kill -9, with a change meanwhile"):
            self.server.kill()
            self.server.start()
            self.store("backup", str(copy))
            self.store("store", "refund", "alice", PRODUCT)
            self.shows("RENEWAL_STATE_REVOKED")
        with check("EventSource: over a restored backup"):
            self.server.stop()
            stubs.run(PERCH, "restore", str(copy), str(sqlite), "--force")
            self.server.start()
            self.shows("RENEWAL_STATE_SUBSCRIBED")
        self.server.stop()
        with check("EventSource: over a store that begins anew"):
            self.serve("memory")
            self.shows("none")
            self.store("store", "buy", "alice", PRODUCT)
            self.shows("RENEWAL_STATE_SUBSCRIBED")
            self.server.kill()
            self.server.start()
            self.shows("none")
        self.server.stop()
        with check("EventSource: over an upgrade, with an identifier of an earlier form"):
            earlier = http.server.ThreadingHTTPServer(("127.0.0.1", page.PORT), Earlier)
            threading.Thread(target=earlier.serve_forever, daemon=True).start()
            self.shows("EARLIER")
            earlier.shutdown()
            earlier.server_close()
            self.serve("memory")
            self.shows("none")
        self.server.stop()
        with check("EventSource: over ages of streams and connections"):
            self.serve("memory", "--max-stream-age", "1s", "--max-connection-age", "1s")
            self.shows("none")
            for text in ("RENEWAL_STATE_SUBSCRIBED", "RENEWAL_STATE_REVOKED") * 2:
                self.store("store", "buy" if text.endswith("SUBSCRIBED") else "refund", "alice", PRODUCT)
                self.shows(text)
        self.server.stop()
        if proxy.is_here("nginx"):
            with check("EventSource: through nginx with proxy_pass alone"):
                self.serve("memory")
                with proxy.Proxy("nginx", page.PORT) as front:
                    fronts.Front("nginx", front.port).until_ready()
                    self.open(front.port)
                    self.shows("none", isFirst=True)
                    self.store("store", "buy", "alice", PRODUCT)
                    self.shows("RENEWAL_STATE_SUBSCRIBED")

    def end(self):
        if self.browser:
            self.browser.close()
        if self.server:
            self.server.kill()
        self.site.shutdown()


def main(within):
    trial = Trial(within)
    try:
        trial.run()
    finally:
        trial.end()
    return trial.slowest


if __name__ == "__main__":
    parser = trial.options(__doc__)
    parser.add_argument("--within", type=float, default=PATIENCE_SECONDS, help="seconds until a value must be shown")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    slowest = max(main(options.within) for _ in range(options.times))
    print(f"eventsource: the slowest value came after {slowest:.1f} s", flush=True)
    sys.exit(summary("eventsource"))

"""`EventSource` in Chromium never dies: a page without a line of code for it shows the newest value, over a lost connection, a
restored backup, a new store, an upgrade, an end for age, and a proxy that nobody has tuned. The last line says how long it took.

    eventsource.py PERCH CATALOG                        the catalogue of `make run`
    eventsource.py PERCH CATALOG --within 5 --times 10  ten times, and no value may take longer than five seconds
"""
import argparse
import http.server
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import fronts
import page
import stubs
from browser import PRODUCT, browse, serve
from checks import check, summary
from server import Server
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
    def __init__(self, perch, catalog, work, within):
        self.perch, self.work, self.within, self.slowest = perch, work, within, 0
        (work / "site").mkdir()
        self.site = serve(work / "site")
        self.catalog = catalog
        self.server = None

    def serve(self, store, *settings):
        self.server = Server(self.perch, self.catalog, store, self.work / "server.log", port=page.PORT)
        self.server.arguments[2:2] = ["--allow-origin", f"http://127.0.0.1:{self.site.server_port}", *settings]
        self.server.start()

    def store(self, *arguments):
        stubs.run(self.perch, *arguments, "--server", f"127.0.0.1:{page.PORT}")

    def open(self, port=page.PORT):
        (self.work / "site" / "page.html").write_text(PAGE.format(port=port, query=QUERY))
        self.driver = browse(f"http://127.0.0.1:{self.site.server_port}/page.html")

    def shows(self, text, isFirst=False):
        def shown(driver):
            return driver.find_element(By.ID, "status").text == text
        began, seconds = time.monotonic(), PATIENCE_SECONDS if isFirst else self.within
        try:
            WebDriverWait(self.driver, seconds, 0.05).until(shown)
            if not isFirst:
                self.slowest = max(self.slowest, time.monotonic() - began)
        except Exception as error:
            state = self.driver.execute_script("return events.readyState")
            raise AssertionError(f"{self.driver.find_element(By.ID, 'status').text!r} after {seconds} s, not {text!r}; "
                                 f"readyState {state}") from error

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
            stubs.run(self.perch, "restore", str(copy), str(sqlite), "--force")
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
        self.driver.quit()
        if fronts.is_here("nginx"):
            with check("EventSource: through nginx with proxy_pass alone"):
                self.serve("memory")
                front = fronts.free_port()
                command = [str(word) for word in fronts.nginx(self.work, front, page.PORT)]
                process = subprocess.Popen(command, cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                try:
                    fronts.Front("nginx", front).until_ready()
                    self.open(front)
                    self.shows("none", isFirst=True)
                    self.store("store", "buy", "alice", PRODUCT)
                    self.shows("RENEWAL_STATE_SUBSCRIBED")
                finally:
                    process.kill()
                    process.wait()

    def end(self):
        self.driver.quit()
        if self.server:
            self.server.kill()
        self.site.shutdown()


def main(perch, catalog, within):
    with tempfile.TemporaryDirectory() as work:
        trial = Trial(perch, catalog, pathlib.Path(work), within)
        try:
            trial.run()
        finally:
            trial.end()
    return trial.slowest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="Tests/Interop/eventsource.py")
    parser.add_argument("perch")
    parser.add_argument("catalog")
    parser.add_argument("--within", type=float, default=PATIENCE_SECONDS, help="seconds until a value must be shown")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    slowest = max(main(options.perch, options.catalog, options.within) for _ in range(options.times))
    print(f"eventsource: the slowest value came after {slowest:.1f} s", flush=True)
    sys.exit(summary("eventsource"))

"""Opens the page of proto/README.md in Chromium: it must show a live status, and resume after `kill -9` of the server."""
import functools
import http.server
import sys
import threading

import page
from browser import Browser
from checks import check, summary
from server import Server
from trial import PERCH, SAMPLE, WORK

PRODUCT = "app.perch.plus.monthly"


def serve(directory):
    """The page's own server, at another origin than Perch."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=directory))
    threading.Thread(target=site.serve_forever, daemon=True).start()
    return site


def main():
    (name, (program, _)), = [each for each in page.examples().items() if each[0].endswith(".html")]
    (WORK / "site").mkdir()
    (WORK / "site" / name).write_text(program)
    site = serve(WORK / "site")
    address, browser = f"http://127.0.0.1:{site.server_port}", Browser()
    server = Server(PERCH, SAMPLE, WORK / "store", WORK / "live.log", "--allow-origin", address, port=page.PORT)

    def shows(text):
        browser.until(lambda: browser.text("#status") == text, why=f"the page shows {text}")

    try:
        server.start()
        browser.open(f"{address}/{name}")
        with check("browser: the page shows no subscription"):
            shows("no subscription")
        with check("browser: the page shows a purchase"):
            server.run("store", "buy", "alice", PRODUCT)
            shows("RENEWAL_STATE_SUBSCRIBED")
        with check("browser: the page resumes after kill -9"):
            server.kill()
            server.start()
            server.run("store", "refund", "alice", PRODUCT)
            shows("RENEWAL_STATE_REVOKED")
        with check("browser: the page of another origin is refused"):
            server.kill()
            server.arguments[3] = "https://app.example.com"
            server.start()
            server.run("store", "buy", "alice", PRODUCT)
            browser.open(f"{address}/{name}")
            browser.until(lambda: browser.run("return events.readyState") == 2, why="the stream is closed")
            shows("no subscription")
    finally:
        browser.close()
        server.kill()
        site.shutdown()


if __name__ == "__main__":
    main()
    sys.exit(summary("browser"))

"""Opens the page of proto/README.md in Chromium: it must show a live status, and resume after `kill -9` of the server.

    browser.py PERCH CATALOG        the catalogue of `make run`
"""
import functools
import http.server
import pathlib
import sys
import tempfile
import threading

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import page
import stubs
from checks import check, summary
from server import Server

PRODUCT = "app.perch.plus.monthly"


def serve(directory):
    """The page's own server, at another origin than Perch."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=directory))
    threading.Thread(target=site.serve_forever, daemon=True).start()
    return site


def browse(url):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.get(url)
    return driver


def main(perch, catalog, work):
    (name, (program, _)), = [each for each in page.examples().items() if each[0].endswith(".html")]
    (work / "site").mkdir()
    (work / "site" / name).write_text(program)
    site = serve(work / "site")
    server = Server(perch, catalog, work / "store", work / "server.log", port=page.PORT)
    server.arguments[2:2] = ["--allow-origin", f"http://127.0.0.1:{site.server_port}"]
    server.start()
    driver = browse(f"http://127.0.0.1:{site.server_port}/{name}")

    def store(*arguments):
        stubs.run(perch, "store", *arguments, "--server", f"127.0.0.1:{page.PORT}")

    def shows(text):
        def shown(_):
            return driver.find_element(By.ID, "status").text == text
        WebDriverWait(driver, 30, 0.1).until(shown, f"{driver.find_element(By.ID, 'status').text!r}, not {text!r}")

    try:
        with check("browser: the page shows no subscription"):
            shows("no subscription")
        with check("browser: the page shows a purchase"):
            store("buy", "alice", PRODUCT)
            shows("RENEWAL_STATE_SUBSCRIBED")
        with check("browser: the page resumes after kill -9"):
            server.kill()
            server.start()
            store("refund", "alice", PRODUCT)
            shows("RENEWAL_STATE_REVOKED")
    finally:
        driver.quit()
        server.kill()
        site.shutdown()
    with check("browser: the page of another origin is refused"):
        server.arguments[3] = "https://app.example.com"
        server.start()
        store("buy", "alice", PRODUCT)
        site = serve(work / "site")
        driver = browse(f"http://127.0.0.1:{site.server_port}/{name}")
        try:
            WebDriverWait(driver, 10, 0.1).until(lambda _: driver.execute_script("return events.readyState") == 2)
            shows("no subscription")
        finally:
            driver.quit()
            server.kill()
            site.shutdown()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        main(*sys.argv[1:3], pathlib.Path(work))
    sys.exit(summary("browser"))

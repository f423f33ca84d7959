"""The model clients in Clients/, each against a real server that is killed.

    models.py [LANGUAGE…]        python, go, java, javascript; without a name all

A client watches the status and the entitlement of one account. Each line that it prints must show two values that agree. It
must survive `kill -9` of the server, miss no change, and repeat no value.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import stubs
from checks import check, equal, summary
from freezing import frozen
from server import Server
from trial import CATALOG, PERCH
from waiting import PATIENCE_SECONDS, until

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = HERE / "Clients"
GROUP, PRODUCT = "premium", "com.example.monthly"
SUBSCRIBED = {"states": ["RENEWAL_STATE_SUBSCRIBED"], "entitled": True}
REFUNDED = {"states": ["RENEWAL_STATE_REVOKED"], "entitled": False}
NEVER = {"states": [], "entitled": False}
COMMANDS = {
    "python": lambda: [sys.executable, CLIENTS / "watch.py"],
    "go": lambda: [stubs.go("watch", sorted((CLIENTS / "go").glob("*.go")))],
    "java": lambda: stubs.java("Main", sorted((CLIENTS / "java").glob("*.java"))),
    "javascript": lambda: ["node", CLIENTS / "main.mjs"],
}


class Client:
    """A model client as a process: what it showed, and how often it lost its connection."""

    def __init__(self, command, port, account):
        environment = os.environ | {"PYTHONPATH": str(stubs.PROTO / "clients" / "python" / "src")}
        self.process = subprocess.Popen([*map(str, command), f"127.0.0.1:{port}", account, GROUP, PRODUCT], text=True,
                                        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.shown, self.errors, self.changed = [], [], threading.Condition()
        for pipe, lines in ((self.process.stdout, self.shown), (self.process.stderr, self.errors)):
            threading.Thread(target=self.read, args=(pipe, lines), daemon=True).start()

    def read(self, pipe, lines):
        for line in pipe:
            with self.changed:
                lines.append(json.loads(line) if lines is self.shown else line.rstrip())
                self.changed.notify_all()

    def until(self, holds, what, seconds=PATIENCE_SECONDS):
        with self.changed:
            self.changed.wait_for(lambda: holds() or self.process.poll() is not None, seconds)
            assert holds(), f"{what} never came; it showed {self.shown[-3:]} and said {self.errors[-5:]}"

    def shows(self, wanted, what):
        self.until(lambda: self.shown and self.shown[-1] == wanted, what)

    def losses(self):
        return sum("lost" in line for line in self.errors)

    def end(self):
        self.process.kill()
        self.process.wait()


def resumed(server):
    """Watches that were called with a token since the server started, so that a test knows that a client is back."""
    metrics = server.call("GetServerStatus")[1]["metrics"]
    return sum(metric.get("value", 0) for metric in metrics if metric["name"] == "perch_watches_resumed_total")


def come_back(server, client, watches):
    """Kills the server and starts it on the same port, until the client is back."""
    losses = client.losses()
    server.kill()
    client.until(lambda: client.losses() > losses, "the loss of the connection")
    server.start()
    until(lambda: resumed(server) >= watches, lambda: f"the client comes back: {client.errors[-3:]}")


def survive(language, work):
    server = Server(PERCH, CATALOG, work / "store", work / "server.log")
    server.start()

    def store(*arguments):
        equal(server.run("store", *arguments).returncode, 0, "the exit status")

    client = Client(COMMANDS[language](), server.port, "anna")
    try:
        with check(f"{language}: the first values come together"):
            client.shows(NEVER, "the first line")
            equal(len(client.shown), 1, "the number of lines")
        with check(f"{language}: each change of both values is one line, and the line agrees"):
            for number in range(1, 9):
                store("buy", "anna", PRODUCT)
                client.shows(SUBSCRIBED, f"purchase {number}")
                store("refund", "anna", PRODUCT)
                client.shows(REFUNDED, f"refund {number}")
        with check(f"{language}: after kill -9 the client goes on, and shows nothing again before the next change"):
            before = len(client.shown)
            come_back(server, client, 2)
            store("buy", "anna", PRODUCT)
            client.shows(SUBSCRIBED, "the purchase after the restart")
            equal(len(client.shown), before + 1, "the number of lines")
        with check(f"{language}: a change while the client is away comes once"):
            before, losses = len(client.shown), client.losses()
            with frozen(client.process.pid):  # It cannot come back before the change.
                server.kill()
                server.start()
                store("refund", "anna", PRODUCT)
            client.until(lambda: client.losses() > losses, "the loss")
            client.shows(REFUNDED, "the refund")
            equal(len(client.shown), before + 1, "the number of lines")
        with check(f"{language}: a token of another store is given up"):
            server.kill()
            server.store = work / "other"
            server.start()
            client.shows(NEVER, "the value of the new store")
        with check(f"{language}: no line ever disagreed"):
            wrong = [line for line in client.shown if line["entitled"] != (line["states"] == SUBSCRIBED["states"])]
            equal(wrong, [], "the lines that disagree")
    finally:
        client.end()
        server.kill()
    with check(f"{language}: an error that a retry cannot cure ends the client"):
        server.start()
        refused = Client(COMMANDS[language](), server.port, "a" * 300)
        equal(refused.process.wait(PATIENCE_SECONDS) != 0, True, "the exit status")
        server.kill()


if __name__ == "__main__":
    for language in sys.argv[1:] or COMMANDS:
        with tempfile.TemporaryDirectory() as work:
            survive(language, pathlib.Path(work))
    sys.exit(summary("models"))

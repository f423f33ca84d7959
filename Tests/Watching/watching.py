"""Tests an operator's view of a server: pages, log, systemd. Run by Tests/Watching/run."""
import contextlib
import fcntl
import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading
import time

from prometheus_client.parser import text_string_to_metric_families

from trial import PERCH as perch, ROOT as root, SAMPLE as CATALOG, WORK as work
from waiting import PATIENCE_SECONDS, given_time, until

# Unique marks: an account key, a credential, an idempotency key.
ACCOUNT, SECRET, KEY = "marked-account-7f3a", "marked-secret-91c2", "marked-key-55d0"
checks = 0


def check(holds, what, found=None):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(f"{what}; found {found!r}")


class Manager:
    """A service manager's datagram socket, at a path or an abstract name."""

    def __init__(self, name):
        self.name, self.messages = name, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + name[1:] if name.startswith("@") else name)
        # Reads continuously like systemd, because the kernel queues only ten datagrams and drops the rest.
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            self.messages.append(self.socket.recv(4096).decode())

    def take(self):
        return self.messages

    def await_(self, text, after=0):
        return until(lambda: [m for m in self.take()[after:] if text in m.split("\n") or text in m],
                          f"the manager hears {text}")[0]


class Server:
    def __init__(self, name, *arguments, environment=None, listeners=(), catalog=CATALOG):
        self.log = work / f"{name}.log"
        # A silent peer is let stay, however long this trial takes to look.
        patience = [word for limit in ("--hello-timeout", "--first-byte-timeout") for word in (limit, f"{PATIENCE_SECONDS}s")]
        command = [perch, "serve", "--listen", "127.0.0.1:0", "--loops", "2", "--catalog", str(catalog), *patience, *arguments]
        variables = {k: v for k, v in os.environ.items() if k not in ("NOTIFY_SOCKET", "JOURNAL_STREAM", "LISTEN_PID")}
        variables |= environment or {}
        high = [fcntl.fcntl(s.fileno(), fcntl.F_DUPFD, 50) for s in listeners]
        if listeners:
            # Sets LISTEN_PID to the server's process, like systemd.
            moves = " ".join(f"{3 + index}<&{number}" for index, number in enumerate(high))
            command = ["bash", "-c", f'LISTEN_PID=$$ exec "$@" {moves}', "bash", *command]
            variables["LISTEN_FDS"] = str(len(listeners))
        with self.log.open("wb") as log:
            self.inode = os.fstat(log.fileno())
            if "JOURNAL_STREAM" in variables:
                variables["JOURNAL_STREAM"] = f"{self.inode.st_dev}:{self.inode.st_ino}"
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables,
                                            pass_fds=high, cwd=work)
        for number in high:
            os.close(number)
        self.port = int(self.line(r"perch: serving on 127\.0\.0\.1:(\d+)")[1])
        found = re.search(r"^  http: 127\.0\.0\.1:(\d+) ", self.text(), re.MULTILINE)
        self.http = int(found[1]) if found else None

    def text(self):
        return self.log.read_text()

    def line(self, pattern):
        def look():
            if self.process.poll() is not None and not re.search(pattern, self.text()):
                raise AssertionError(f"the server ended with {self.process.returncode}: {self.text()}")
            return re.search(pattern, self.text())
        return until(look, f"the server says {pattern}")

    def get(self, path, method="GET", is_stopping=False):
        """A page whose threads a busy machine let wait for a second is 503, and is asked for again."""
        def answered():
            found = self.get_once(path, method)
            return found if is_stopping or found[0].status != 503 else None
        return until(answered, f"{path} is answered")

    def get_once(self, path, method):
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer, answer.read().decode()
        finally:
            connection.close()

    def metrics(self):
        answer, body = self.get("/metrics")
        check(answer.status == 200, "/metrics is answered", body)
        return {(s.name, *sorted(s.labels.items())): s.value
                for family in text_string_to_metric_families(body) for s in family.samples}

    def command(self, *arguments, status=0):
        run = subprocess.run([perch, *arguments, "--server", f"127.0.0.1:{self.port}"], capture_output=True, text=True,
                             timeout=PATIENCE_SECONDS)
        check(status is None or run.returncode == status, f"perch {arguments} ends with {status}", run)
        return run.stdout

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE_SECONDS)
        check(status == 0, "SIGTERM ends a server well", (status, self.text()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def pages(server):
    for path, text in (("/healthz", "ok\n"), ("/readyz", "ready\n")):
        answer, body = server.get(path)
        check((answer.status, body) == (200, text), f"{path} says yes", (answer.status, body))
        answer, body = server.get(path, "HEAD")
        check((answer.status, body, answer.getheader("Content-Length")) == (200, "", str(len(text))), f"HEAD {path}", body)
    for path, method, status in (("/nosuch", "GET", 404), ("/", "GET", 200), ("/metrics", "POST", 405), ("/" + "a" * 9000, "GET", 431)):
        answer, body = server.get(path, method)
        check(answer.status == status and body.endswith("\n"), f"{method} {path[:20]} is {status}", (answer.status, body))
    # Two requests on one connection.
    connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=PATIENCE_SECONDS)
    for _ in range(2):
        connection.request("GET", "/healthz")
        check(connection.getresponse().read() == b"ok\n", "a connection is kept")
    connection.close()


def exposition(server):
    answer, body = server.get("/metrics")
    check(answer.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8", "the type of /metrics",
          answer.getheader("Content-Type"))
    families = list(text_string_to_metric_families(body))
    check(len(families) > 70, "families", len(families))
    check(len({f.name for f in families}) == len(families), "no family twice")
    for family in families:
        check(family.documentation and family.type in ("counter", "gauge", "histogram"), "help and type", family)
    values = server.metrics()
    check(values[("perch_revision",)] >= 1, "the revision", values[("perch_revision",)])
    for name in ("perch_push_seconds", "perch_store_commit_seconds", "perch_loop_turn_seconds",
                 "perch_store_batch_changes"):
        until(lambda: server.metrics()[(name + "_count",)] > 0, f"{name} has counted")
        values = server.metrics()
        check(values[(name + "_bucket", ("le", "+Inf"))] == values[(name + "_count",)], f"{name} is whole")


def status_page(server):
    def settled():
        page = json.loads(server.get("/status")[1])
        if page["unanswered"] is None and all(l["applied_revision"] == page["store"]["revision"] for l in page["loops"]):
            return page

    page = until(settled, "every loop has answered, and has applied what is committed")
    check(page["ready"], "/status", page)
    for name in ("started", "ready_since"):
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", page[name]), name, page[name])
    check(len(page["loops"]) == 2, "the loops", page)
    check(page["store"]["file_bytes"] + page["store"]["log_bytes"] > 0, "the store's size", page["store"])
    check(page["apps"][0]["catalog_loaded"], "since when the catalogue is there", page["apps"])
    check(page["allocator"] in ("jemalloc", "libc"), "whose allocator it is", page)
    check(page["bytes_per_connection"] > 0 and page["bytes_per_watch"] > 0, "what a watch costs", page)


def shop(server):
    """Uses the server with the marks, in valid and invalid calls."""
    token = work / f"{server.log.stem}.token"
    watcher = subprocess.Popen([perch, "watch", "entitlement", ACCOUNT, "app.perch.plus.monthly", "--count", "2",
                                "--server", f"127.0.0.1:{server.port}"], stdout=subprocess.PIPE, text=True)
    until(lambda: server.metrics()[("perch_values_pushed_total",)] >= 1, "the watch has its first value")
    server.command("store", "buy", ACCOUNT, "app.perch.plus.monthly", "--idempotency-key", KEY)
    told = watcher.communicate(timeout=PATIENCE_SECONDS)[0]
    check(watcher.returncode == 0 and "app.perch.plus.monthly" in told, "a watcher is told of a purchase", told)
    server.command("get", "entitlements", ACCOUNT)
    watch = ("watch", "entitlement", ACCOUNT, "app.perch.plus.monthly")
    server.command(*watch, "--count", "1", "--token-file", str(token))
    server.command(*watch, "--since", str(token), "--timeout", "500ms", status=None)
    server.command("store", "refund", ACCOUNT, "123456789", status=None)
    server.command("store", "buy", ACCOUNT, "no.such.product", status=None)
    secret = work / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    server.command("get", "status", ACCOUNT, "plus", "--credentials-file", str(secret), status=None)
    # A frame over the limit is refused, counted and logged.
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS) as peer:
        peer.sendall(b"\x01\x00\x00\x00\x00\xff\xff\xff\xff" + ACCOUNT.encode())
        while peer.recv(4096):
            pass


class Terminal:
    """A command on its own terminal, with everything that it printed."""

    def __init__(self, *arguments, columns=150, rows=20, **environment):
        self.child, self.end = pty.fork()
        if self.child == 0:
            os.execve(perch, [perch, *arguments], os.environ | {"TERM": "xterm"} | environment)
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.drawn = b""

    def take(self):
        with contextlib.suppress(OSError):
            while select.select([self.end], [], [], 0)[0]:
                self.drawn += os.read(self.end, 65536)
        return self.drawn.decode(errors="replace")

    def sees(self, *words):
        return until(lambda: all(word in self.take() for word in words), f"the terminal shows {words}")

    def press(self, keys):
        os.write(self.end, keys.encode())

    def interrupt(self):
        os.kill(self.child, signal.SIGINT)
        return self.result()

    def result(self):
        """The command's exit status, and the final content of the restored screen."""

        def ended():
            self.take()  # A full terminal would block it.
            child, status = os.waitpid(self.child, os.WNOHANG)
            return (status,) if child else None

        status = until(ended, "the command ends")[0]
        drawn = self.take()
        os.close(self.end)
        check("\x1b[?1049h" in drawn and "\x1b[?1049l" in drawn, "the screen is given back", drawn[-300:])
        return os.waitstatus_to_exitcode(status), drawn.split("\x1b[?1049l")[-1]


def a_board():
    """`perch store watch`: a table on a terminal, otherwise a line for each change."""
    product = "app.perch.plus.monthly"
    with Server("board") as server:
        address = f"127.0.0.1:{server.port}"
        server.command("store", "clock", "freeze")
        colour = Terminal("store", "watch", ACCOUNT, "--server", address)
        plain = Terminal("store", "watch", ACCOUNT, "--server", address, NO_COLOR="1")
        lines = subprocess.Popen([perch, "store", "watch", ACCOUNT, "--state", "inGracePeriod", "--count", "1",
                                  "-o", "ndjson", "--server", address], stdout=subprocess.PIPE, text=True)
        for terminal in (colour, plain):
            terminal.sees("nothing yet")
        server.command("store", "buy", ACCOUNT, product)
        for terminal in (colour, plain):
            terminal.sees("subscribed", "renews", "in 10s")
        server.command("store", "set", "grace", "on")
        server.command("store", "charges", ACCOUNT, "fail")
        server.command("store", "clock", "next", ACCOUNT)
        for terminal in (colour, plain):
            terminal.sees("grace period", "GRACE", "grace ends")
        change = json.loads(lines.communicate(timeout=PATIENCE_SECONDS)[0])
        check(lines.returncode == 0 and change["badges"][0] == "GRACE" and change["account"] == ACCOUNT
              and change["next"]["kind"] == "FORECAST_KIND_GRACE_END", "a filtered change is a line", change)
        for terminal, is_coloured in ((colour, True), (plain, False)):
            status, left = terminal.interrupt()
            check(status == 130 and "GRACE" in left, "an interrupt leaves the table", (status, left))
            check(("\x1b[33m" in left) == is_coloured, "NO_COLOR is heard", left)
        narrow = Terminal("store", "watch", "--server", address, columns=60)
        narrow.sees("GRACE", "NEXT ON THE APP'S CLOCK", "q quit")
        echo = termios.tcgetattr(narrow.end)[3] & termios.ECHO
        narrow.press("/nosuch\r")
        narrow.sees('no row has "nosuch" in it')
        narrow.press("\x1b")
        narrow.press("s")
        narrow.sees("s sort: account")
        narrow.press("q")
        status, left = narrow.result()
        check(status == 0 and "GRACE" in left and "q quit" not in left and not echo, "q quits", (status, left, echo))

        def found(seconds):
            gone = subprocess.run([perch, "store", "watch", "--timeout", f"{seconds}s", "--server", address], capture_output=True,
                                  text=True, timeout=2 * PATIENCE_SECONDS)
            check(gone.returncode == 0, "a list that ends by time ends well", gone)
            return f"{ACCOUNT}  plus  {product}  grace period  [GRACE]" in gone.stdout
        given_time(found, 1)
        server.stop()


def a_command_line():
    """What a person types at a test store: accounts first, words of JSON, moments, and answers that name things."""
    product = "app.perch.plus.monthly"
    with Server("typed") as server:
        run = server.command
        run("store", "clock", "freeze")
        told = run("get", "entitlements", "nobody")
        check(told == "", "an account without entitlements has no data", told)
        run("store", "buy", "alice", product)
        told = run("explain", "status", "alice", "plus")
        sentence, _, why = told.partition("\n\n")
        check(sentence.startswith("alice has "), "explain begins with the sentence for the customer", told)
        check(why.startswith(f"Transaction 1 of {product} entitles alice in group plus.\n"), "explain names the account", told)
        check(told.count("lasts until") == 1 and "(in 10s)" in told, "explain says a sentence once, with distances", told)
        told = run("explain", "status", "alice", "plus", "--at", "-2d")
        check("alice never subscribed" in told, "--at goes to the past", told)
        told = run("get", "status", "alice", "plus", "--at", "5s")
        check("subscribed" in told, "--at goes to the future", told)
        told = run("catalog", "show")
        check(re.search(rf"level 2  {re.escape(product)} +\$4\.99 for 1 month", told), "the catalogue has prices", told)
        run("store", "set", "askToBuy", "true")
        run("store", "buy", "alice", "app.perch.coins")
        told = run("store", "list", "alice")
        check("purchase 2  app.perch.coins  waits since" in told, "a list has purchases that wait", told)
        run("store", "set", "askToBuy", "false")
        run("store", "buy", "bert", "app.perch.coins")
        check(run("store", "list") == "alice\nbert\n", "a list has accounts")
        check(run("store", "list", "--limit", "1") == "alice\n", "and can be limited")
        check(json.loads(run("store", "list", "-o", "json")) == {"accounts": ["alice", "bert"]}, "as JSON too")
        run("store", "manage-subscriptions", "alice", product, "false")
        check("then it expires" in run("get", "status", "alice", "plus"), "a customer switches renewal off")
        run("store", "auto-renew", "alice", product, "on")
        check("then it renews" in run("get", "status", "alice", "plus"), "a product stands for its subscription")
        run("store", "refund", "bert", "1", status=3)
        run("store", "refund", "alice", "1", "--reason", "REVOCATION_REASON_DEVELOPER_ISSUE")
        told = run("store", "reverse-refund", "alice", product)
        check("transaction 1" in told and "refunded" not in told, "a refund is reversed by its product", told)
        old = subprocess.run([perch, "store", "refund", "1"], capture_output=True, text=True)
        check(old.returncode == 2 and "`perch store refund ACCOUNT 1`" in old.stderr, "the old form is explained", old)
        server.stop()


def silence(server, what):
    for name, text in what.items():
        for mark in (ACCOUNT, SECRET, KEY):
            check(mark not in text, f"{name} holds no {mark}", text)


def log_lines(server):
    lines = [line for line in server.text().splitlines() if line.startswith("{")]
    events = [json.loads(line) for line in lines]
    first, second = events[0], events[1]
    check(first["message"] == "a new store was begun, with nothing in it" and "store-" in first["path"], "the first", events)
    check(second["message"] == "serving" and second["address"] == f"127.0.0.1:{server.port}", "the second", events)
    check(all({"time", "level", "message"} <= e.keys() for e in events), "each has time, level and message", events)
    return events


def a_watched_server(name, sees_warning):
    manager = Manager(name)
    variables = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000"}
    catalog = work / "shop.storekit"
    shutil.copy(CATALOG, catalog)
    with Server(f"watched-{name.strip('@/').replace('/', '-')}", "--store", str(work / f"store-{len(name)}"), "--http",
                "127.0.0.1:0", "--drain", f"{PATIENCE_SECONDS}s", "--log-level", "debug",
                environment=variables, catalog=catalog) as server:
        check(manager.await_("READY=1").startswith("READY=1\nSTATUS=serving on 127.0.0.1:"), "READY=1", manager.messages)
        shop(server)
        pages(server)
        exposition(server)
        status_page(server)
        until(lambda: manager.take().count("WATCHDOG=1") >= 4, "four pings of the watchdog")
        check(server.metrics()[("perch_watchdog_pings_total",)] >= 4, "pings are counted")
        doctor = server.command("doctor", "--output", "json", status=None)
        subjects = {f["subject"]: f for f in json.loads(doctor)["findings"]}
        check("committed" in subjects["server: watchdog"]["message"], "the doctor knows of the watchdog", subjects)
        check(str(server.http) in subjects["server: http"]["message"], "the doctor knows of HTTP", subjects)
        check("FRAME_TOO_LONG" in subjects["server: limits"]["message"], "the doctor knows of limits", subjects)

        reloads = len(manager.take())
        catalog.write_bytes(CATALOG.read_bytes().replace(b"4.99", b"5.99"))
        server.process.send_signal(signal.SIGHUP)
        reloading = manager.await_("RELOADING=1", reloads)
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        told = int(re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=(\d+)", reloading)[1])
        check(0 <= now - told < 30_000_000, "when it began to reload", (told, now))
        manager.await_("READY=1", manager.take().index(reloading))
        spoilt(server, catalog)

        if sees_warning:
            # The log looks every ten seconds.
            warning = json.loads(server.line(r'\{[^\n]*"a limit was reached"[^\n]*\}')[0])
            check(warning["level"] == "warning" and "FRAME_TOO_LONG" in warning["series"] and warning["count"] >= 1,
                  "a limit that was reached is warned of, with a count", warning)

        # A peer that says nothing and stays makes the drain last: time to look at it.
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS):
            until(lambda: server.metrics()[("perch_handshakes",)] >= 1, "the silent peer is there")
            pages_before = {path: server.get(path)[1] for path in ("/metrics", "/status")}
            server.process.send_signal(signal.SIGTERM)
            manager.await_("STOPPING=1")
            answer, body = server.get("/readyz", is_stopping=True)
            check(answer.status == 503 and "stopping" in body, "not ready while it stops", (answer.status, body))
            answer, body = server.get("/healthz")
            check(answer.status == 200, "but alive", (answer.status, body))
            check(json.loads(server.get("/status")[1])["ready"] is False, "/status says so too")
            check(server.metrics()[("perch_draining",)] == 1, "/metrics says so too")
        check(server.process.wait(PATIENCE_SECONDS) == 0, "it ends well", server.text())
        log_lines(server)
        silence(server, {"the log": server.text(), "the doctor": doctor, "systemd": "\n".join(manager.messages),
                         **pages_before})


def spoilt(server, catalog):
    """A catalogue that cannot be used changes nothing, and is told until it is mended."""
    def in_use(count):
        until(lambda: server.metrics()[("perch_files_not_in_use",)] == count, f"{count} files are not in use")

    whole = catalog.read_bytes()
    in_use(0)
    catalog.write_bytes(whole[:40])
    server.process.send_signal(signal.SIGHUP)
    in_use(1)
    told = json.loads(server.get("/status")[1])["files_not_in_use"]
    check(len(told) == 1 and str(catalog) in told[0], "/status names it", told)
    found = {f["subject"]: f for f in json.loads(server.command("doctor", "--output", "json", status=None))["findings"]}
    check(found["server: files"]["level"] == "warning" and str(catalog) in found["server: files"]["message"],
          "the doctor warns of it", found["server: files"])
    catalog.write_bytes(whole)
    server.process.send_signal(signal.SIGHUP)
    in_use(0)


def a_stubborn_peer():
    """A stop waits three seconds longer than --drain, and then says that it cut off the rest."""
    with Server("stubborn", "--drain", "100ms", "--http", "127.0.0.1:0", "--log-format", "json") as server:
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS):
            until(lambda: server.metrics()[("perch_handshakes",)] >= 1, "the peer is there")
            began = time.monotonic()
            server.stop()
            took = time.monotonic() - began
        check(3 <= took, "it is waited for", took)
        check("some connections had not closed and were cut off" in server.text() and '"within_ms":3100' in server.text(), "the log says so",
              server.text())


def the_journal():
    with Server("journal", "--log-format", "logfmt", environment={"JOURNAL_STREAM": "here"}) as server:
        server.stop()
        lines = [line for line in server.text().splitlines() if line.startswith("<")]
        check(lines and all(re.match(r"<[3467]>time=\S+ level=\w+ message=", line) for line in lines),
              "lines for journald begin with a priority", server.text())


def activation():
    """Listeners that outlive the process: who comes between two servers waits for the next."""
    main, page = (socket.create_server(("127.0.0.1", 0), backlog=64) for _ in range(2))
    store = ("--store", str(work / "activated"))
    with main, page:
        names = {"LISTEN_FDNAMES": "perch.socket:http"}
        with Server("activated", *store, environment=names, listeners=(main, page)) as server:
            check((server.port, server.http) == (main.getsockname()[1], page.getsockname()[1]), "it serves on them",
                  server.text())
            check(server.get("/readyz")[0].status == 200, "over HTTP too")
            server.command("store", "buy", ACCOUNT, "app.perch.plus.monthly")
            server.stop()
        waiting = socket.create_connection(main.getsockname(), PATIENCE_SECONDS)
        with Server("activated-again", *store, environment=names, listeners=(main, page)) as server:
            check("app.perch.plus.monthly" in server.command("get", "entitlements", ACCOUNT), "the next one serves")
            waiting.sendall(b"\x01\x00\x00\x00\x00\xff\xff\xff\xff")
            check(waiting.recv(1)[:1] == b"\x0a", "who waited is told by the next one", None)
            waiting.close()
            server.stop()


def refusals():
    for arguments, told in (
        (["--http", "0.0.0.0:0"], "--allow-remote-http"),
        (["--http", "127.0.0.1:9", "--listen", "127.0.0.1:9"], "give each its own port"),
        (["--http", "yes"], "on, off, or ADDRESS:PORT"),
        (["--log-format", "xml"], "auto, logfmt"),
    ):
        run = subprocess.run([perch, "serve", "--catalog", str(CATALOG), *arguments], capture_output=True, text=True,
                             timeout=PATIENCE_SECONDS)
        check(run.returncode != 0 and told in run.stderr, f"{arguments} is refused", run)
    variables = os.environ | {"LISTEN_FDS": "1"}
    run = subprocess.run(["bash", "-c", 'LISTEN_PID=$$ exec "$@" 3</dev/null', "bash", perch, "serve", "--catalog",
                          str(CATALOG)], capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=variables)
    check(run.returncode != 0 and "not a listening TCP socket" in run.stderr, "a file is no listener", run)


def units():
    """What systemd itself says of the units, where it is."""
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        print("watching: left out the units, as there is no systemd-analyze")
        return
    folder = work / "units"
    folder.mkdir()
    # A path without a space, whatever the checkout's is.
    (folder / "perch").symlink_to(perch)
    for name in ("perch.service", "perch.socket", "perch-http.socket"):
        text = (root / "deploy" / name).read_text().replace("/usr/local/bin/perch", str(folder / "perch"))
        (folder / name).write_text(text)
    run = subprocess.run([analyze, "verify", "--man=no", *map(str, sorted(folder.glob("*.s*")))], capture_output=True,
                         text=True, timeout=PATIENCE_SECONDS)
    ours = [line for line in run.stderr.splitlines() if "perch" in line]
    check(not ours, "systemd finds nothing wrong with the units", run.stderr)


began = time.monotonic()
a_watched_server(str(work / "notify"), sees_warning=True)
a_watched_server(f"@perch-watching-{os.getpid()}", sees_warning=False)
a_board()
a_command_line()
the_journal()
a_stubborn_peer()
activation()
refusals()
units()
print(f"watching: {checks} checks passed in {time.monotonic() - began:.1f} s")

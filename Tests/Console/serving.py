"""The console's files by curl: addresses, caching, compression, and who is refused. Needs no browser."""
import gzip
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import curl as curls
from certificates import Authority
from checks import check, equal, summary
from server import Server
from trial import ROOT, SAMPLE as CATALOG
from waiting import PATIENCE_SECONDS, free_port, until

FILES = ROOT / "Sources/PerchConsole/Files"
READ = "/perch.v1.AdminService/ListApps"


def curl(port, path, *arguments, data=None):
    """As the harness's, without a content type of its own."""
    return curls.curl(port, path, *arguments, *(["--data-binary", data] if data is not None else []))


def files():
    with check("perch.js has at most 410 lines, and each example 200"):
        assert len((FILES / "perch.js").read_text().splitlines()) <= 410
        for name in ("birds", "songs", "movie", "destination"):
            lines = sum(len((FILES / f"{name}{kind}").read_text().splitlines()) for kind in (".html", ".js"))
            assert lines <= 200, f"{name}: {lines} lines"
    with check("no file makes markup from text, or names another site"):
        for file in FILES.iterdir():
            if file.suffix not in (".js", ".html", ".css") or file.name.endswith(".d.ts"):
                continue
            text = file.read_text()
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
                assert word not in text, f"{file.name} has {word}"
            for address in re.findall(r"https?://[\w.:-]+", text):
                assert address in ("http://www.w3.org", "http://127.0.0.1:7447"), f"{file.name} names {address}"
    with check("every file is served, and every file that a file names exists"):
        table = (ROOT / "Sources/PerchConsole/ConsoleFiles.swift").read_text()
        for file in FILES.iterdir():
            assert f'PackageResources.{re.sub("[^a-z0-9]", "_", file.name)}' in table, f"{file.name} is not served"
            if file.suffix in (".js", ".html"):
                for name in re.findall(r"(?:from |import )'\./([\w.-]+)'|/console/~/([\w.-]+)", file.read_text()):
                    assert (FILES / (name[0] or name[1])).exists() or name[1] == "NAME", f"{file.name} names {name}"


def views(port):
    with check("the views have one address that stays, with types, and at most 120 kB of modules behind it"):
        status, head, entrance = curl(port, "/views/v1/perch-views.js")
        equal((status, head["content-type"], head["cache-control"]), (200, "text/javascript; charset=utf-8", "no-cache"))
        equal(head["cross-origin-resource-policy"], "cross-origin")
        equal(curl(port, "/views/v1/perch-views.js", "--header", f"if-none-match: {head['etag']}")[0], 304, "the status of the known address")
        folder = re.fullmatch(rb"export \* from '\.\./(~[0-9a-f]{12})/perch-views\.js';\n", entrance)[1].decode()
        seen, wanted, total = set(), {"perch-views.js"}, len(entrance)
        while wanted:
            name = wanted.pop()
            status, head, module = curl(port, f"/views/{folder}/{name}")
            equal((status, head["cross-origin-resource-policy"]), (200, "cross-origin"), name)
            assert "immutable" in head["cache-control"], name
            done = subprocess.run(["node", "--check", "--input-type=module"], input=module, capture_output=True) if shutil.which("node") else None
            assert done is None or done.returncode == 0, done.stderr
            total += len(module)
            seen.add(name)
            wanted |= set(re.findall(r"(?:from|import) '\./([\w.-]+)'", module.decode())) - seen
        assert total <= 120_000, f"{total} bytes in {sorted(seen)}"
        status, _, types = curl(port, "/views/v1/perch-views.d.ts")
        equal(status, 200)
        for element in set(re.findall(r"'(perch-[a-z-]+)': ", "".join((FILES / name).read_text() for name in ("store.js", "store-subscription.js")))):
            assert f"'{element}'".encode() in types, f"{element} has no type"


def as_served(file):
    """A module as a browser gets it."""
    lines = [line for line in (each.lstrip(" ") for each in file.read_text().split("\n")) if line and not line.startswith(("//", "/**", "* ", "*/")) and line != "*"]
    return ("\n".join(lines) + "\n").encode()


def bundle(port):
    with check("the console has at most 300 kB beside the store views, as a browser gets it"):
        folder = re.search(rb'src="(/console/~[0-9a-f]{12}/)app\.js"', curl(port, "/console/")[2])[1].decode()
        total = 0
        for file in sorted(FILES.iterdir()):
            if file.name.startswith(("store", "perch-views")):
                continue
            path = {"index.html": "/console/"}.get(file.name, f"/console/examples/{file.name}") if file.suffix == ".html" else folder + file.name
            status, _, body = curl(port, path)
            equal(status, 200, path)
            total += len(body)
        print(f"        {total:,} bytes")
        assert total <= 300_000, f"{total} bytes"


def addresses(port):
    for name, version in (("HTTP/1.1", "--http1.1"), ("HTTP/2", "--http2-prior-knowledge")):
        with check(f"pages are asked for again, and files are kept for ever, over {name}"):
            status, head, page = curl(port, "/console/", version)
            equal((status, head["content-type"], head["cache-control"]), (200, "text/html; charset=utf-8", "no-cache"))
            assert "default-src 'self'" in head["content-security-policy"] and "frame-ancestors 'none'" in head["content-security-policy"]
            equal(curl(port, "/console/", version, "--header", f"if-none-match: {head['etag']}")[0], 304, "the status of a known page")
            script = re.search(rb'src="(/console/~[0-9a-f]{12}/app\.js)"', page)[1].decode()
            status, head, plain = curl(port, script, version)
            equal((status, head["content-type"]), (200, "text/javascript; charset=utf-8"))
            assert "immutable" in head["cache-control"]
            equal(plain, as_served(FILES / "app.js"), "the script")
            _, head, packed = curl(port, script, version, "--header", "accept-encoding: gzip")
            equal((head["content-encoding"], gzip.decompress(packed) == plain, len(packed) < len(plain) / 2), ("gzip", True, True))
        with check(f"HEAD has the head of GET and nothing else, over {name}"):
            for path in ("/console/", script, "/", "/console/x.js", READ):
                got, asked = curl(port, path, version), curl(port, path, version, "--head")
                for head in (got[1], asked[1]):
                    # A head without a body needs no form of it, and the clock goes on.
                    head.pop("transfer-encoding", None)
                    head.pop("date")
                equal((asked[0], asked[1], asked[2]), (got[0], got[1], b""), path)
    with check("the root leads to the console, and other paths have nothing"):
        equal(curl(port, "/")[1].get("location"), "/console/")
        equal(curl(port, "/console")[1].get("location"), "/console/")
        for path in ("/console/x.js", "/console/~000000000000/app.js", "/console/~/app.js", "/console/../etc/passwd"):
            equal(curl(port, path, "--path-as-is")[0], 404, path)


def strangers(port):
    with check("a foreign Host, a foreign Origin and a form get nothing"):
        for path in ("/console/", READ):
            equal(curl(port, path, "--header", "host: evil.example")[0], 421, f"the status of {path} under another name")
        json = ("--header", "content-type: application/json")
        equal(curl(port, READ, *json, data="{}")[0], 200, "a call")
        equal(curl(port, READ, *json, "--header", f"origin: http://127.0.0.1:{port}", data="{}")[0], 200, "a call of this page")
        equal(curl(port, READ, *json, "--header", "origin: http://evil.example", data="{}")[0], 403, "a call of another page")
        equal(curl(port, READ, *json, "--header", "origin: null", data="{}")[0], 403, "a call of a page without an origin")
        equal(curl(port, READ, *json, "--header", "host: evil.example", "--header", "origin: http://evil.example", data="{}")[0], 421, "both")
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            equal(curl(port, READ, "--header", f"content-type: {kind}", data="{}")[0], 415, kind)


def switches(perch, work):
    with check("--console off serves none, and off loopback it is off"):
        for more, there in ((["--console", "off"], 404), (["--console", "on"], 200)):
            server = Server(perch, CATALOG, "memory", work / "switch.log")
            server.arguments[2:2] = more
            server.start()
            try:
                equal(curl(server.port, "/console/")[0], there, more[1])
            finally:
                server.stop()
        refused = subprocess.run([perch, "serve", "--catalog", str(CATALOG), "--listen", "0.0.0.0:0", "--allow-plaintext",
                                  "--allow-unauthenticated", "--console", "on"], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert refused.returncode == 2 and "--console on" in refused.stderr, refused.stderr


def addressing(perch, work, server):
    """`perch console` looks for the console before it prints an address."""
    def asked(address, *arguments):
        return subprocess.run([perch, "console", "--server", address, *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    def refused(done, code, *words):
        equal((done.returncode, done.stdout), (code, ""), done.stderr)
        for word in words:
            assert word in done.stderr, done.stderr

    with check("perch console prints the address of a console that is there"):
        done = asked(f"127.0.0.1:{server.port}")
        equal((done.returncode, done.stdout, done.stderr), (0, f"http://127.0.0.1:{server.port}/console/\n", ""))
        equal(asked(f"localhost:{server.port}").returncode, 0, "by name")
    with check("perch console says the remedy where no server is"):
        refused(asked(f"127.0.0.1:{free_port()}"), 5, "Connection refused", "Start a server with `perch serve`")
        refused(asked("no-such-host.invalid:7447"), 5, "no-such-host.invalid", "perch serve")
    with check("perch console says the remedy where another program listens"), socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        refused(asked(address, "--timeout", "300ms"), 5, "did not answer within 300 ms", "--timeout")
        other.accept()[0].close()

        def answer():
            peer = other.accept()[0]
            peer.recv(4096)
            peer.sendall(b"+PONG\r\n")
            peer.close()

        speaker = threading.Thread(target=answer)
        speaker.start()
        refused(asked(address), 1, "does not answer HTTP", "--server HOST:PORT")
        speaker.join()
    with check("perch console says the remedy where the server has no console, or another name"):
        without = Server(perch, CATALOG, "memory", work / "without.log")
        without.arguments[2:2] = ["--console", "off"]
        without.start()
        try:
            refused(asked(f"127.0.0.1:{without.port}"), 1, "serves no console", "--console on")
        finally:
            without.stop()
        name = socket.gethostname()
        try:
            here = socket.gethostbyname(name)
        except OSError:
            here = ""
        if here.startswith("127."):
            refused(asked(f"{name}:{server.port}"), 1, "has another name", "127.0.0.1 or localhost")
    with check("perch console asks a server with TLS by TLS"):
        folder = work / "certificates"
        folder.mkdir()
        authority = Authority(folder)
        certificate, key = authority.sign("server", names="DNS:localhost,IP:127.0.0.1")
        secure = Server(perch, CATALOG, "memory", work / "secure.log")
        secure.arguments[2:2] = ["--console", "on", "--tls-certificate", certificate, "--tls-key", key]
        secure.start()
        try:
            address = f"localhost:{secure.port}"
            refused(asked(address), 1, "refuses plaintext", "--tls-ca")
            refused(asked(address, "--tls"), 1, "TLS: localhost", "certificate")
            done = asked(address, "--tls-ca", authority.pem("authority"))
            equal((done.returncode, done.stdout, done.stderr), (0, f"https://localhost:{secure.port}/console/\n", ""))
        finally:
            secure.stop()


def main():
    perch = sys.argv[1]
    files()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        server = Server(perch, CATALOG, "memory", work / "server.log")
        server.start()
        try:
            with check("the greeting names the console"):
                until(lambda: any(f"console: http://127.0.0.1:{server.port}/console/" in line for line in server.lines),
                      lambda: f"the greeting: {server.lines}")
            addresses(server.port)
            bundle(server.port)
            views(server.port)
            strangers(server.port)
            addressing(perch, work, server)
        finally:
            server.stop()
        switches(perch, work)
    return summary("console, serving")


if __name__ == "__main__":
    sys.exit(main())

"""TLS from outside: Python's ssl against real servers, and perch's own client against servers that it must not trust."""
import contextlib
import itertools
import os
import pathlib
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import types
import warnings

import checks
import wire
from certificates import Authority
from checks import Peer, check, equal
from client import HELLO
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS, until

perch, catalog, work, contract = PERCH, CATALOG, WORK / "secure", wire.contract()
work.mkdir()
APP = {"bundle_id": "com.example.app", "environment": 3}
STATUSES = "/perch.v1.EntitlementService/SubscriptionStatusTask"
PURCHASE = "/perch.v1.TransactionService/Purchase"
MONTHLY = "com.example.monthly"
GROUP = "premium"

authority = Authority(work)
other = Authority(work, "other-authority")
authority.sign("server", "perch", "DNS:localhost,IP:127.0.0.1")
authority.sign("renewed", "perch renewed", "DNS:localhost,IP:127.0.0.1")
authority.sign("ended", "perch", "DNS:localhost,IP:127.0.0.1", days=-1)
authority.sign("elsewhere", "elsewhere", "DNS:elsewhere.example.com")
authority.sign("alice", names="URI:spiffe://example.com/alice")
authority.sign("old-alice", "alice", days=-1)
other.sign("stranger", "alice")


class Secure(Server):
    """A server with more settings, and its metrics."""

    def __init__(self, name, *settings, certificate="server"):
        tls = ["--tls-certificate", authority.pem(certificate), "--tls-key", authority.key(certificate)] if certificate else []
        super().__init__(perch, catalog, "memory", work / f"{name}.log", *tls, "--log-level", "debug", *settings, http=True)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        equal(self.stop(), 0, "the server's exit status")

    def metric(self, series):
        found = self.metrics()
        assert series in found, f"there is no {series}"
        return found[series]

    def eventually(self, series, wanted):
        def what():
            said = [line[:200] for line in self.lines[-3:]]
            counted = " ".join(
                f"{name.removeprefix('perch_')}={value:g}" for name, value in self.metrics().items()
                if value and name.startswith("perch_") and "_bucket" not in name and "store" not in name)
            return f"{series} is {self.metric(series)}, not {wanted}; last lines {said}; it counts {counted}"

        until(lambda: self.metric(series) == wanted, what)

    def log_says(self, text):
        until(lambda: any(text in line for line in self.lines), lambda: f"the log does not say {text!r}: {self.lines[-5:]}")


def context(version=None, trusted=authority, showing=None, alpn=("perch/1",)):
    made = ssl.create_default_context(cafile=trusted.pem(trusted.name))
    if alpn:
        made.set_alpn_protocols(list(alpn))
    if version:
        made.minimum_version = made.maximum_version = version
    if showing:
        made.load_cert_chain(authority.pem(showing), authority.key(showing))
    return made


class SecurePeer(Peer):
    """The client of client.py, on a TLS socket."""

    def __init__(self, server, made=None, name="localhost", session=None):
        plain = socket.socket()
        try:
            plain.settimeout(PATIENCE_SECONDS)
            plain.connect(server.address)
            wrapped = (made or context()).wrap_socket(plain, server_hostname=name, session=session)
        except BaseException:
            plain.close()
            raise
        # Not Client's own initialiser, which connects.
        self.contract, self.answers, self.tokens, self.numbers = contract, {}, {}, itertools.count(1)
        self.socket, self.early = wrapped, []
        self.input = wrapped.makefile("rb")

    def watch(self, account="anna"):
        stream = self.call(STATUSES, app=APP, account=account, group_id=GROUP)
        while self.message_of(stream).WhichOneof("state") != "success":
            pass
        return stream


def refused(function, *errors):
    try:
        function()
    except errors as error:
        return str(error)
    raise AssertionError("it was not refused")


def versions(server):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        with check(f"{version.name}: a session over TLS, with purchase and push"):
            made = context(version)
            one, two = SecurePeer(server, made), SecurePeer(server, made, name="127.0.0.1")
            equal(one.socket.selected_alpn_protocol(), "perch/1", "the protocol")
            one.hello()
            two.hello()
            account = f"anna-{version.name}"
            stream = one.watch(account)
            two.ask(PURCHASE, app=APP, account=account, order={"product_id": MONTHLY})
            equal(one.message_of(stream).WhichOneof("state"), "success", "the push")
            one.close()
            two.close()
    with check("a client without ALPN is served"):
        one = SecurePeer(server, context(alpn=()))
        one.hello()
        equal(one.socket.selected_alpn_protocol(), None, "the protocol")
        one.close()
    with check("a client that offers other protocols only is refused by ALPN"):
        text = refused(lambda: SecurePeer(server, context(alpn=("spdy/3",))), ssl.SSLError)
        assert "no application protocol" in text.lower().replace("_", " "), text
    with check("TLS 1.1 is refused"):
        def old():
            made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
            made.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # That it is old is the point.
                made.minimum_version = made.maximum_version = ssl.TLSVersion.TLSv1_1
            SecurePeer(server, made)
        refused(old, ssl.SSLError, ValueError)
    with check("of TLS 1.2, ciphers without forward secrecy are refused"):
        made = context(ssl.TLSVersion.TLSv1_2)
        made.set_ciphers("AES128-SHA:AES256-GCM-SHA384")
        refused(lambda: SecurePeer(server, made), ssl.SSLError)


class Bytes:
    """A TLS client whose ciphertext is handed on by hand."""

    def __init__(self, server, made=None):
        self.socket = socket.create_connection(server.address, timeout=PATIENCE_SECONDS)
        self.coming, self.going = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = (made or context()).wrap_bio(self.coming, self.going, server_hostname="localhost")

    def go(self, step):
        """Does a step of TLS."""
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.send()
                data = self.socket.recv(1 << 16)
                if not data:
                    raise ConnectionError("the server closed")
                self.coming.write(data)
            finally:
                self.send()

    def send(self):
        self.socket.sendall(self.going.read())


def handshakes(server):
    with check("garbage behind the first byte of TLS is answered by an alert, and closed"):
        before = server.metric('perch_tls_handshakes_failed_total{reason="protocol"}')
        with socket.create_connection(server.address, timeout=PATIENCE_SECONDS) as plain:
            plain.sendall(b"\x16" + b"\xff" * 200)
            answer = b""
            while more := plain.recv(4096):
                answer += more
        assert answer[:1] in (b"\x15", b""), f"not an alert: {answer!r}"
        assert (server.metric('perch_tls_handshakes_failed_total{reason="protocol"}')
                + server.metric('perch_tls_handshakes_failed_total{reason="no_common_ground"}')) > before, "not counted"
    with check("a handshake that is left in the middle is counted, and leaves nothing"):
        left = Bytes(server)
        with contextlib.suppress(ssl.SSLWantReadError):
            left.tls.do_handshake()
        left.send()
        left.socket.recv(1)
        left.socket.close()
        server.eventually('perch_tls_handshakes_failed_total{reason="closed"}', 1)
    with check("a connection that is cut without a farewell in the middle of a record harms nobody"):
        cut = Bytes(server)
        cut.go(cut.tls.do_handshake)
        cut.tls.write(struct.pack(">IBI", HELLO << 24, 0, 2) + b"\x08\x01")
        cut.socket.sendall(cut.going.read()[:10])
        cut.socket.close()


def required(server):
    with check("plaintext where TLS is required is refused, and says so: TLS_REQUIRED"):
        plain = Peer(server.address, contract)
        plain.send(HELLO, 0, contract.message("perch.wire.v1.Hello")(protocol_version=1))
        drain = plain.drained("TLS_REQUIRED")
        equal(drain.reconnect_after_ms, 60_000, "how long a client stays away that does not know the reason")
        equal(server.metric('perch_refusals_total{reason="TLS_REQUIRED"}'), 1, "the counter")


def allowed():
    with Secure("allowed", "--tls", "allowed") as server:
        with check("plaintext and TLS share a port where both are allowed"):
            plain, secure = Peer(server.address, contract), SecurePeer(server)
            plain.hello()
            secure.hello()
            stream = secure.watch()
            plain.ask(PURCHASE, app=APP, account="anna", order={"product_id": MONTHLY})
            equal(secure.message_of(stream).WhichOneof("state"), "success", "the push")
            equal(server.metric("perch_tls_connections"), 1, "TLS connections")
            equal(server.metric("perch_connections"), 2, "connections")
            plain.close()
            secure.close()
            server.eventually("perch_tls_connections", 0)


def off():
    with Secure("off", certificate=None) as server:
        with check("TLS where there is none is refused by an alert"):
            assert "HANDSHAKE_FAILURE" in refused(lambda: SecurePeer(server), ssl.SSLError), "another alert"
            server.eventually('perch_tls_handshakes_failed_total{reason="off"}', 1)
        with check("perch's client says so"):
            assert "TLS_FAILED" in client(server, 5), "another reason"


def client(server, status, *settings, trusted=authority):
    """Runs perch's own client; what it says."""
    done = subprocess.run(
        [perch, "get", "apps", "--server", f"127.0.0.1:{server.port}", "--tls-ca", trusted.pem(trusted.name), *settings],
        capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    equal(done.returncode, status, f"the exit status ({done.stderr})")
    return done.stdout + done.stderr


@contextlib.contextmanager
def answering(answer, secure=None):
    """A port that reads something of each client, then answers these bytes and closes; with TLS by the context `secure`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            while True:
                try:
                    one, _ = listener.accept()
                except OSError:
                    return
                with one, contextlib.suppress(OSError):
                    if secure:
                        secure.wrap_socket(one, server_side=True).close()
                        continue
                    one.recv(65_536)
                    one.sendall(answer)
                    one.shutdown(socket.SHUT_WR)
                    while one.recv(65_536):
                        pass
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def own_client(server):
    with check("perch's client speaks TLS"):
        assert "com.example.app" in client(server, 0), "no app"
    with check("perch's client does not trust another authority's server: TLS_UNTRUSTED, and the server hears why"):
        alerts = 'perch_tls_handshakes_failed_total{reason="refused"}'
        before = server.metric(alerts)
        assert "TLS_UNTRUSTED" in client(server, 4, trusted=other), "another reason"
        server.eventually(alerts, before + 1)
        assert "--tls-ca" in client(server, 4, trusted=other), "another next step"
    with check("perch's client does not take a server by another name: TLS_WRONG_NAME"):
        said = client(server, 4, "--tls-server-name", "elsewhere.example.com")
        assert "TLS_WRONG_NAME" in said and "--tls-server-name" in said and "--tls-ca" not in said, said
    with check("perch's client tells a certificate that has ended from one that it does not trust: TLS_EXPIRED"):
        # A server of Perch would not start with it.
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        old.load_cert_chain(authority.pem("ended"), authority.key("ended"))
        with answering(b"", old) as port:
            said = client(types.SimpleNamespace(port=port), 4)
            assert "TLS_EXPIRED" in said and "Renew" in said and "--tls-ca" not in said, said
    with check("perch's client without TLS is told of TLS by this server, and by others that answer with an alert"):
        def plaintext(port):
            done = subprocess.run([perch, "get", "apps", "--server", f"127.0.0.1:{port}"], capture_output=True, text=True,
                                  timeout=PATIENCE_SECONDS)
            equal(done.returncode, 2, f"the exit status ({done.stderr})")
            assert "TLS_REQUIRED" in done.stderr and "--tls-ca" in done.stderr, done.stderr
        plaintext(server.port)
        with answering(b"\x15\x03\x01\x00\x02\x02\x46") as port:
            plaintext(port)
    with check("perch's client tells an old TLS from none: TLS_INCOMPATIBLE"):
        with answering(b"\x15\x03\x01\x00\x02\x02\x46") as port:
            said = client(types.SimpleNamespace(port=port), 5)
            assert "TLS_INCOMPATIBLE" in said and "Leave the --tls" not in said, said
    with check("perch's client trusts what the system trusts with --tls, which this server is not of"):
        done = subprocess.run([perch, "get", "apps", "--server", f"127.0.0.1:{server.port}", "--tls"],
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        equal(done.returncode, 4, "the exit status")
    with check("a scenario is played over TLS"):
        scenario = catalog.parents[2] / "proto/scenario/grace.scenario"
        done = subprocess.run([perch, "scenario", "run", str(scenario), "--server", f"127.0.0.1:{server.port}",
                               "--tls-ca", authority.pem("authority")], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        equal(done.returncode, 0, f"the exit status ({done.stdout}{done.stderr})")
    with check("a scenario of a server that is not trusted, or is not there, ends as every command does"):
        there, trusted = f"127.0.0.1:{server.port}", authority.pem(authority.name)
        for address, trust, status in ((there, other.pem(other.name), 4), ("127.0.0.1:1", trusted, 5)):
            done = subprocess.run([perch, "scenario", "run", str(scenario), "--server", address, "--tls-ca", trust],
                                  capture_output=True, text=True, timeout=PATIENCE_SECONDS)
            equal(done.returncode, status, f"the exit status ({done.stdout}{done.stderr})")
    with check("perch's client without TLS is told to use it: TLS_REQUIRED"):
        done = subprocess.run([perch, "get", "apps", "--server", f"127.0.0.1:{server.port}"], capture_output=True,
                              text=True, timeout=PATIENCE_SECONDS)
        equal((done.returncode, "TLS_REQUIRED" in done.stderr), (2, True), done.stderr)
    with Secure("elsewhere", certificate="elsewhere") as elsewhere:
        with check("perch's client takes the server of a name that it was given"):
            client(elsewhere, 0, "--tls-server-name", "elsewhere.example.com")
            client(elsewhere, 4)


def mutual():
    settings = ["--tls-client-ca", authority.pem(authority.name), "--tls-client-certificates"]
    with Secure("mutual", *settings, "required") as server:
        with check("a client with a certificate is let in where one is required"):
            one = SecurePeer(server, context(showing="alice"))
            one.hello()
            one.close()
            client(server, 0, "--tls-certificate", authority.pem("alice"), "--tls-key", authority.key("alice"))
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with check(f"{version.name}: a client without, with one that has ended, or with another's is refused"):
                for showing in (None, "old-alice"):
                    def enter():
                        peer = SecurePeer(server, context(version, showing=showing))
                        peer.hello()  # With TLS 1.3 the client hears of it only now.
                    refused(enter, ssl.SSLError, ConnectionError)

                def enter_as_stranger():
                    made = context(version)
                    made.load_cert_chain(other.pem("stranger"), other.key("stranger"))
                    SecurePeer(server, made).hello()
                refused(enter_as_stranger, ssl.SSLError, ConnectionError)
        with check("and counted by reason"):
            equal(server.metric('perch_tls_handshakes_failed_total{reason="no_certificate"}'), 2, "without")
            equal(server.metric('perch_tls_handshakes_failed_total{reason="certificate"}'), 2, "that do not hold")
            equal(server.metric('perch_tls_handshakes_failed_total{reason="expired"}'), 2, "that have ended")
        with check("perch's client hears why it is refused: TLS_REFUSED"):
            said = client(server, 4)
            assert "TLS_REFUSED" in said and "certificate required" in said, said
    with Secure("optional", *settings, "optional") as server:
        with check("a client may leave its certificate out where it is optional, and may not show a bad one"):
            for showing in (None, "alice"):
                one = SecurePeer(server, context(showing=showing))
                one.hello()
                one.close()
            refused(lambda: SecurePeer(server, context(ssl.TLSVersion.TLSv1_2, showing="old-alice")), ssl.SSLError,
                    ConnectionError)


def refusing_to_start():
    def says(*settings, status=1):
        done = subprocess.run([perch, "serve", "--catalog", catalog, *settings], capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS)
        equal(done.returncode, status, f"the exit status ({done.stderr})")
        return done.stderr

    pem, key = authority.pem("server"), authority.key("server")
    with check("a server does not start with files that cannot be used, and names them"):
        assert "does not belong to the certificate" in says("--tls-certificate", pem, "--tls-key", authority.key("alice"))
        assert "has ended at 2020-01-02" in says(
            "--tls-certificate", authority.pem("ended"), "--tls-key", authority.key("ended"))
        assert "no-such-file" in says("--tls-certificate", pem, "--tls-key", "no-such-file")
        loose = work / "loose.key"
        loose.write_bytes(pathlib.Path(key).read_bytes())
        os.chmod(loose, 0o640)
        assert "chmod 600" in says("--tls-certificate", pem, "--tls-key", str(loose))
        assert "--tls-client-ca" in says("--tls-certificate", pem, "--tls-key", key, "--tls-client-certificates",
                                         "required", status=2)
        assert "--tls-client-certificates" in says("--certificate-identities", catalog, status=2)
        assert "--token-keys" in says("--token-issuer", "https://login.example.com", status=2)
    with check("off loopback it starts only with TLS and an authenticator, or where they are written off"):
        secure = ["--listen", "0.0.0.0:0", "--tls-certificate", pem, "--tls-key", key]
        assert "--allow-plaintext" in says("--listen", "0.0.0.0:0", "--allow-unauthenticated", status=2)
        assert "--allow-plaintext" in says(*secure, "--tls", "allowed", "--allow-unauthenticated", status=2)
        assert "--allow-unauthenticated" in says(*secure, status=2)
        assert "--allow-unauthenticated" in says("--listen", "0.0.0.0:0", "--allow-plaintext", status=2)


def reload():
    pem, key = work / "live.pem", work / "live.key"

    def put(name):
        pem.write_bytes(pathlib.Path(authority.pem(name)).read_bytes())
        key.write_bytes(pathlib.Path(authority.key(name)).read_bytes())
        os.chmod(key, 0o600)

    def shown(server):
        one = SecurePeer(server)
        one.hello()
        subject = dict(part[0] for part in one.socket.getpeercert()["subject"])["commonName"]
        one.close()
        return subject

    put("server")
    server = Secure("reload", "--tls-certificate", str(pem), "--tls-key", str(key), certificate=None)
    with server:
        old = SecurePeer(server)
        old.hello()
        stream = old.watch()
        buyer = SecurePeer(server)
        buyer.hello()

        def push():
            buyer.ask(PURCHASE, app=APP, account="anna", order={"product_id": MONTHLY})
            equal(old.message_of(stream).WhichOneof("state"), "success", "the push")

        with check("a new certificate is shown to new connections, and open streams go on"):
            equal(shown(server), "perch", "the certificate")
            put("renewed")
            os.kill(server.pid, signal.SIGHUP)
            until(lambda: shown(server) == "perch renewed", "the new certificate is shown")
            push()
        for what, spoil in [
            ("half of one", lambda: pem.write_bytes(pem.read_bytes()[:300])),
            ("one that has ended", lambda: put("ended")),
            ("a key that others can read", lambda: (put("server"), os.chmod(key, 0o644))),
            ("another's key", lambda: key.write_bytes(pathlib.Path(authority.key("alice")).read_bytes())),
        ]:
            with check(f"{what} changes nothing, and is an error in the log"):
                put("server")
                spoil()
                del server.lines[:]
                os.kill(server.pid, signal.SIGHUP)
                server.log_says("the certificate stays as it was")
                equal(shown(server), "perch renewed", "the certificate")
                told = subprocess.run(
                    [perch, "doctor", "--server", f"127.0.0.1:{server.port}", "--tls-ca", authority.pem("authority")],
                    capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout
                assert any("server: tls" in line and line.startswith("warning") for line in told.splitlines()), told
        old.close()
        buyer.close()


def resumption():
    secret = work / "secret"
    secret.write_bytes(os.urandom(64))
    os.chmod(secret, 0o600)
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        made = context(version)
        with Secure("resumed", "--tls-ticket-secret", str(secret)) as server:
            one = SecurePeer(server, made)
            one.hello()
            session = one.socket.session
            with check(f"{version.name}: a session is resumed"):
                two = SecurePeer(server, made, session=session)
                two.hello()
                assert two.socket.session_reused, "it was not"
                session = two.socket.session
                equal(server.metric("perch_tls_handshakes_resumed_total"), 1, "the counter")
                two.close()
            one.close()
        with Secure("resumed-later", "--tls-ticket-secret", str(secret)) as server:
            with check(f"{version.name}: and after a restart with the same secret"):
                one = SecurePeer(server, made, session=session)
                one.hello()
                assert one.socket.session_reused, "it was not"
                one.close()
        with Secure("resumed-elsewhere") as server:
            with check(f"{version.name}: and not by a server with other keys, which begins anew"):
                one = SecurePeer(server, made, session=session)
                one.hello()
                assert not one.socket.session_reused, "it was"
                one.close()
    with Secure("comes-back", "--tls-ticket-secret", str(secret)) as server:
        with check("perch's client resumes its session when the server restarts"):
            watch = subprocess.Popen(
                [perch, "watch", "status", "anna", GROUP, "--server", f"127.0.0.1:{server.port}", "--tls-ca",
                 authority.pem("authority")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                assert "loading" in watch.stdout.readline(), "no loading"
                watch.stdout.readline()
                equal(server.stop(), 0, "the exit status")
                server.start()
                server.eventually("perch_tls_handshakes_resumed_total", 1)
            finally:
                watch.kill()
                watch.wait()
                watch.stdout.close()


def main():
    with Secure("required") as server:
        versions(server)
        handshakes(server)
        required(server)
        own_client(server)
    allowed()
    off()
    mutual()
    refusing_to_start()
    reload()
    resumption()
    return checks.summary("interop, TLS")


if __name__ == "__main__":
    sys.exit(main())

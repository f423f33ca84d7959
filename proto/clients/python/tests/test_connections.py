"""Connections: TLS with a certificate of the test's own, deadlines, and what ends an attempt to connect."""

import asyncio
import pathlib
import ssl
import sys
import tempfile
import threading
import unittest
from unittest import mock

import perch
import perch.aio
from perch import _io, v1

from .peer import Peer
from .test_streams import asked, names, value

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Tests" / "Harness"))

from certificates import Authority  # noqa: E402


class Certificates(unittest.TestCase):
    """An authority, what it signed, and another authority."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        authority = Authority(folder.name)
        cls.trusting = ssl.create_default_context(cafile=authority.pem("authority"))
        cls.trusting_another = ssl.create_default_context(cafile=Authority(folder.name, "another").pem("another"))
        for each in (cls.trusting, cls.trusting_another):  # That of the harness names no usage of its key.
            each.verify_flags &= ~ssl.VERIFY_X509_STRICT
        cls.server = cls.context(*authority.sign("server", names="IP:127.0.0.1"))
        cls.elsewhere = cls.context(*authority.sign("elsewhere", names="DNS:elsewhere.test"))

    @staticmethod
    def context(certificate, key):
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found.load_cert_chain(certificate, key)
        return found


def call(connection):
    for _ in range(2):
        connection.request()
        connection.answer(v1.GetClockResponse())


def watch(connection):
    asked(connection)
    connection.message(value("a", b"1"))
    connection.wait()


def refused(connection):
    """In TLS 1.3 the server may learn of the refusal when it reads."""
    try:
        connection.request()
    except OSError:
        pass


class Threads(Certificates):
    def test_calls_and_watches_over_tls(self):
        with Peer(call, watch, tls=self.server) as peer, perch.connect(peer.url, ssl_context=self.trusting) as client:
            for _ in range(2):
                client.call.get_clock()
            with client.watch.entitlements("alice") as stream:
                self.assertEqual(names(next(stream)), ["a"])

    def test_a_wrong_name_and_an_untrusted_authority_are_refused(self):
        for server, trust in ((self.elsewhere, self.trusting), (self.server, self.trusting_another)):
            with Peer(refused, tls=server) as peer, perch.connect(peer.url, ssl_context=trust) as client:
                with self.assertRaises(perch.FinalError) as caught:
                    client.call.purchase(account="alice")
                self.assertEqual((caught.exception.reason, caught.exception.may_have_happened), ("TLS_FAILED", False))

    def test_a_connection_that_ends_within_the_handshake_is_made_again(self):
        def ends(connection):
            connection.plain.recv(65_536)

        with Peer(ends) as peer:
            url = peer.url.replace("http", "https")
            with perch.connect(url, ssl_context=self.trusting, attempts=1) as client:
                with self.assertRaises(perch.TransientError) as caught:
                    client.call.get_clock()
        self.assertEqual(caught.exception.reason, "CONNECT_FAILED")

    def test_close_ends_a_handshake(self):
        begun, ended = threading.Event(), []

        def silent(connection):
            connection.plain.recv(1)
            begun.set()
            connection.wait()

        def use():
            try:
                client.call.get_clock(timeout=3_600)
            except perch.PerchError as error:
                ended.append(error.reason)

        with mock.patch.object(_io, "CONNECT_SECONDS", 3_600), Peer(silent) as peer:
            client = perch.connect(peer.url.replace("http", "https"), ssl_context=self.trusting)
            thread = threading.Thread(target=use)
            thread.start()
            begun.wait()
            client.close()
            thread.join()
        self.assertEqual(ended, ["CLOSED"])

    def test_all_addresses_share_one_deadline(self):
        clock, steps = mock.Mock(return_value=1_000.0), []

        def join(connection, found, address, seconds):
            steps.append((address, seconds))
            clock.return_value += seconds
            raise OSError("unreachable")

        places = [(_io.socket.AF_INET, _io.socket.SOCK_STREAM, 0, "", (name, 1)) for name in "abc"]
        connection = _io.BlockingConnection("name", 1)
        with (
            mock.patch.object(_io.time, "monotonic", clock),
            mock.patch.object(_io.socket, "getaddrinfo", return_value=places),
            mock.patch.object(_io.BlockingConnection, "_join", join),
        ):
            with self.assertRaises(perch.TransientError) as caught:
                _io.run(connection.connect(None, 1_009.0))
        self.assertEqual(caught.exception.reason, "CONNECT_FAILED")
        self.assertEqual(steps, [(("a", 1), 3.0), (("b", 1), 3.0), (("c", 1), 3.0)])


class Asyncio(Certificates, unittest.IsolatedAsyncioTestCase):
    async def test_calls_and_watches_over_tls(self):
        with Peer(call, watch, tls=self.server) as peer:
            async with perch.aio.connect(peer.url, ssl_context=self.trusting) as client:
                for _ in range(2):
                    await client.call.get_clock()
                async with client.watch.entitlements("alice") as stream:
                    self.assertEqual(names(await stream.next()), ["a"])
                await asyncio.sleep(0)

    async def test_a_wrong_name_and_an_untrusted_authority_are_refused(self):
        for server, trust in ((self.elsewhere, self.trusting), (self.server, self.trusting_another)):
            with Peer(refused, tls=server) as peer:
                async with perch.aio.connect(peer.url, ssl_context=trust) as client:
                    with self.assertRaises(perch.FinalError) as caught:
                        await client.call.purchase(account="alice")
            self.assertEqual((caught.exception.reason, caught.exception.may_have_happened), ("TLS_FAILED", False))


if __name__ == "__main__":
    unittest.main()

"""Calls: their bytes, their errors, and when they are repeated."""

import os
import ssl
import tempfile
import time
import unittest

import perch
from perch import v1

from .peer import Peer

POSITION = v1.Position(revision=7)


def answers(*messages):
    """Answers one request after the other on one connection."""

    def script(connection):
        for message in messages:
            connection.request()
            connection.answer(message)

    return script


class Calls(unittest.TestCase):
    def test_a_call_sends_its_request_and_reads_its_answer(self):
        seen = []

        def script(connection):
            seen.append(connection.request())
            connection.answer(v1.FinishResponse(position=POSITION))

        with (
            Peer(script) as peer,
            perch.connect(peer.url + "/behind/", credentials="abc", app="com.example.app") as client,
        ):
            answer = client.call.finish(account="alice", transaction_id=9)
        self.assertEqual(answer, v1.FinishResponse(position=POSITION))
        path, headers, body = seen[0]
        self.assertEqual(path, "/behind/perch.v1.TransactionService/Finish")
        self.assertEqual(headers["content-type"], "application/proto")
        self.assertEqual(headers["authorization"], "Bearer abc")
        self.assertLessEqual(int(headers["connect-timeout-ms"]), 30_000)
        request = v1.FinishRequest.decode(body)
        self.assertEqual(
            (request.account, request.transaction_id, request.app), ("alice", 9, v1.AppRef(bundle_id="com.example.app"))
        )
        self.assertEqual(len(request.idempotency_key), 16)

    def test_a_connection_is_used_again(self):
        with Peer(answers(*[v1.GetClockResponse()] * 3)) as peer, perch.connect(peer.url) as client:
            for _ in range(3):
                client.call.get_clock()

    def test_chunks_of_one_byte_are_read(self):
        message = v1.FinishResponse(position=POSITION).encode()

        def script(connection):
            connection.request()
            connection.send(
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/proto; x=y\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n"
            )
            for byte in message:
                for piece in b"1;a=b\r\n" + bytes([byte]) + b"\r\n":
                    connection.send(bytes([piece]))
            connection.send(b"0\r\ntrailer: 1\r\n\r\n")

        with Peer(script) as peer, perch.connect(peer.url) as client:
            self.assertEqual(client.call.finish(account="alice").position, POSITION)

    def test_errors_have_their_kind_reason_and_details(self):
        for status, code, reason, kind in (
            (400, "invalid_argument", "ACCOUNT_KEY", perch.FinalError),
            (401, "unauthenticated", "CREDENTIALS_REVOKED", perch.CredentialsError),
            (400, "failed_precondition", "TOKEN_OTHER_STORE", perch.TokenError),
            (400, "invalid_argument", "OF_A_LATER_VERSION", perch.FinalError),
        ):
            with (
                self.subTest(reason=reason),
                Peer(lambda c: (c.request(), c.refuse(status, code, reason))) as peer,
                perch.connect(peer.url, credentials="t") as client,
            ):
                with self.assertRaises(kind) as caught:
                    client.call.get_clock()
                self.assertEqual((type(caught.exception), caught.exception.reason), (kind, reason))
                self.assertFalse(caught.exception.is_transient or caught.exception.may_have_happened)

    def test_a_transient_error_is_repeated_after_the_time_that_it_names(self):
        def script(connection):
            connection.request()
            connection.refuse(503, "unavailable", "SHUTTING_DOWN", retry_seconds=1)
            connection.request()
            connection.answer(v1.FinishResponse(position=POSITION))

        began = time.monotonic()
        with Peer(script) as peer, perch.connect(peer.url) as client:
            self.assertEqual(client.call.finish(account="a").position, POSITION)
        self.assertGreaterEqual(time.monotonic() - began, 1)

    def test_a_lost_answer_is_asked_for_again_with_the_same_key(self):
        keys = []

        def first(connection):
            keys.append(v1.PurchaseRequest.decode(connection.request()[2]).idempotency_key)

        def second(connection):
            keys.append(v1.PurchaseRequest.decode(connection.request()[2]).idempotency_key)
            connection.answer(v1.PurchaseResponse())

        with Peer(first, second) as peer, perch.connect(peer.url) as client:
            client.call.purchase(account="a")
        self.assertEqual(keys[0], keys[1])

    def test_a_change_without_a_key_is_sent_once(self):
        with Peer(lambda c: c.request()) as peer, perch.connect(peer.url) as client:
            with self.assertRaises(perch.TransientError) as caught:
                client.call.set_clock()
            self.assertTrue(caught.exception.may_have_happened)
            self.assertIn("may have happened", str(caught.exception))

    def test_a_change_without_a_key_is_not_repeated_after_an_unknown_reason(self):
        for code in ("unavailable", "unknown", "internal"):
            for reason in ("", "OF_A_LATER_VERSION"):
                with (
                    self.subTest(code=code, reason=reason),
                    Peer(lambda c: (c.request(), c.refuse(500, code, reason))) as peer,
                    perch.connect(peer.url) as client,
                ):
                    with self.assertRaises(perch.TransientError) as caught:
                        client.call.set_clock()
                    self.assertEqual((caught.exception.reason, caught.exception.may_have_happened), (reason, True))

    def test_a_lost_purchase_may_have_happened_whatever_ends_its_repetition(self):
        def refused(code, reason):
            return lambda c: (c.request(), c.refuse(400, code, reason))

        for second, reason, doubt in (
            (lambda c: c.send(b"no TLS"), "TLS_FAILED", True),
            (refused("unauthenticated", "CREDENTIALS_EXPIRED"), "CREDENTIALS_EXPIRED", True),
            (refused("permission_denied", "PERMISSION_DENIED"), "PERMISSION_DENIED", True),
            (refused("invalid_argument", "ACCOUNT_KEY"), "ACCOUNT_KEY", False),
        ):
            with self.subTest(reason=reason), Peer(lambda c: c.request(), second) as peer:
                with perch.connect(peer.url, credentials="t") as client:
                    if reason == "TLS_FAILED":  # The repetition finds another peer.
                        attempt = client._core._attempt

                        async def attempts(*arguments, **options):
                            try:
                                return await attempt(*arguments, **options)
                            finally:
                                client._core.tls = ssl.create_default_context()

                        client._core._attempt = attempts
                    with self.assertRaises(perch.FinalError) as caught:
                        client.call.purchase(account="a")
                self.assertEqual((caught.exception.reason, caught.exception.may_have_happened), (reason, doubt))

    def test_a_lost_purchase_may_have_happened_though_credentials_or_the_client_end(self):
        def token():
            if not tokens:
                raise perch.FinalError(perch.Code.UNAUTHENTICATED, "AUTHORIZATION_UNREADABLE", "none")
            return tokens.pop()

        tokens = ["t"]
        with Peer(lambda c: c.request()) as peer, perch.connect(peer.url, credentials=token) as client:
            with self.assertRaises(perch.FinalError) as caught:
                client.call.purchase(account="a")
        self.assertEqual(caught.exception.reason, "AUTHORIZATION_UNREADABLE")
        self.assertTrue(caught.exception.may_have_happened)

        tokens = ["t", "t"]
        second = lambda c: (c.request(), c.refuse(401, "unauthenticated", "CREDENTIALS_EXPIRED"))  # noqa: E731
        with Peer(lambda c: c.request(), second) as peer, perch.connect(peer.url, credentials=token) as client:
            with self.assertRaises(perch.CredentialsError) as caught:
                client.call.purchase(account="a")
        self.assertTrue(caught.exception.may_have_happened)

        with Peer(lambda c: (c.request(), client.close())) as peer:
            client = perch.connect(peer.url)
            with self.assertRaises(perch.Closed) as caught:
                client.call.purchase(account="a")
        self.assertTrue(caught.exception.may_have_happened)

    def test_a_refusal_leaves_a_connection_that_was_given_back_alone(self):
        def script(connection):
            connection.request()
            connection.refuse(400, "invalid_argument", "ACCOUNT_KEY")
            connection.request()
            connection.answer(v1.GetClockResponse())

        with Peer(script) as peer, perch.connect(peer.url) as client:
            give_back, given = client._core._give_back, []

            def give_back_and_use(exchange):
                give_back(exchange)
                given.append(client._core._pooled())  # Another thread is at once.
                exchange.is_reusable = False

            client._core._give_back = give_back_and_use
            with self.assertRaises(perch.FinalError):
                client.call.get_clock()
            client._core._give_back = give_back
            given[0].is_reusable = True
            client._core._give_back(given[0])
            client.call.get_clock()

    def test_nothing_has_happened_where_nobody_listens(self):
        with Peer() as peer:
            url = peer.url
        with perch.connect(url, attempts=2) as client:
            with self.assertRaises(perch.TransientError) as caught:
                client.call.set_clock()
            self.assertEqual((caught.exception.reason, caught.exception.may_have_happened), ("CONNECT_FAILED", False))

    def test_a_deadline_is_a_timeout_error(self):
        mute = [lambda connection: (connection.request(), connection.wait())] * 12
        with Peer(*mute) as peer, perch.connect(peer.url) as client:
            # On a machine that others use, time may end before the request was sent.
            seconds, is_sent = 0.2, False
            while not is_sent and seconds < 300:
                with self.assertRaises(TimeoutError) as caught:
                    client.call.purchase(account="a", timeout=seconds)
                self.assertEqual(caught.exception.reason, "DEADLINE")
                seconds, is_sent = 2 * seconds, caught.exception.may_have_happened
            self.assertTrue(is_sent)
            peer.scripts.clear()

    def test_a_token_file_that_was_renewed_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            with open(path, "w") as file:
                file.write("old\n")
            seen = []

            def script(connection):
                seen.append(connection.request()[1]["authorization"])
                with open(path + ".new", "w") as file:
                    file.write("newer\n")
                os.replace(path + ".new", path)
                connection.refuse(401, "unauthenticated", "CREDENTIALS_EXPIRED")
                seen.append(connection.request()[1]["authorization"])
                connection.answer(v1.GetClockResponse())

            with Peer(script) as peer, perch.connect(peer.url, credentials=perch.TokenFile(path)) as client:
                client.call.get_clock()
        self.assertEqual(seen, ["Bearer old", "Bearer newer"])

    def test_a_stranger_is_named(self):
        for said, reason, kind in (
            (b"SSH-2.0-OpenSSH_9.2\r\n", "PROTOCOL_BREACH", perch.FinalError),
            (
                b"HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nno",
                "HTTP_STATUS",
                perch.FinalError,
            ),
            (
                b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi",
                "PROTOCOL_BREACH",
                perch.FinalError,
            ),
            (b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", "PROTOCOL_BREACH", perch.FinalError),
            *(
                (
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\n%s\r\n" % wrong,
                    "PROTOCOL_BREACH",
                    perch.FinalError,
                )
                for wrong in (
                    b"",  # The connection's end would be that of the answer.
                    b"content-length: -1\r\n",
                    b"content-length: +2\r\n",
                    b"content-length: 1_0\r\n",
                    b"content-length:\r\n",
                    b"content-length: \xb2\r\n",
                    b"transfer-encoding: chunked\r\n\r\n-1\r\n",
                    b"transfer-encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
                    b"transfer-encoding: chunked\r\n\r\n\r\n",
                )
            ),
            (b"HTTP/1.1 \xb200 OK\r\ncontent-length: 0\r\n\r\n", "PROTOCOL_BREACH", perch.FinalError),
            (b"HTTP/1.1 502 Bad\r\ncontent-length: 0\r\nretry-after: 120\r\n\r\n", "HTTP_STATUS", perch.TransientError),
            (b"\x0a\0\0\0\0\0\0\0\x0e\x0a\x0cTLS_REQUIRED", "TLS_REQUIRED", perch.FinalError),
        ):
            with (
                self.subTest(said=said),
                Peer(lambda c: (c.request(), c.send(said))) as peer,
                perch.connect(peer.url) as client,
            ):
                with self.assertRaises(kind) as caught:
                    client.call.get_clock()
                self.assertEqual(caught.exception.reason, reason)

    def test_an_older_server_is_named_with_its_version(self):
        def script(connection):
            connection.request()
            connection.refuse(501, "unimplemented", "UNKNOWN_METHOD")
            connection.request()
            connection.answer(v1.GetServerStatusResponse(version="0.0.9"))

        with Peer(script) as peer, perch.connect(peer.url) as client:
            with self.assertRaisesRegex(perch.FinalError, "older than this client: it is of the version 0.0.9"):
                client.call.get_pass(account="a")

    def test_a_closed_client_says_so(self):
        client = perch.connect("http://127.0.0.1:1")
        client.close()
        with self.assertRaises(perch.Closed):
            client.call.get_clock()
        with self.assertRaises(perch.Closed):
            client.watch.entitlements("a")

    def test_addresses_and_credentials_are_checked_at_once(self):
        for url in ("127.0.0.1:7447", "ftp://x", "http://", "http://x:99999", "http://u:p@x", "http://x?y"):
            with self.subTest(url=url), self.assertRaises(ValueError):
                perch.connect(url)
        with self.assertRaises(perch.FinalError):
            perch.connect("http://x", credentials="Bearer abc")
        with self.assertRaises(TypeError):
            perch.connect("http://x", credentials=7)

    def test_has_refuses_a_name_that_the_app_does_not_have(self):
        answer = v1.GetEntitlementsResponse(
            success=v1.NamedEntitlements(entitlements=[v1.NamedEntitlement(name="plus", active=True)])
        )
        with (
            Peer(answers(answer, answer, v1.GetEntitlementsResponse(failure=v1.Failure(reason="LOAD_FAILED")))) as peer,
            perch.connect(peer.url) as client,
        ):
            self.assertTrue(client.has("alice", "plus"))
            with self.assertRaisesRegex(perch.FinalError, "no entitlement 'plsu'; it has 'plus'"):
                client.has("alice", "plsu")
            with self.assertRaisesRegex(perch.TransientError, "LOAD_FAILED"):
                client.has("alice", "plus")


if __name__ == "__main__":
    unittest.main()

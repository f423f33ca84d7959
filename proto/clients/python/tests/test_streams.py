"""Watches and streams of events: when they come back, and what they show."""

import asyncio
import itertools
import os
import socket
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import perch
import perch.aio
from perch import _core, _io, _streams, v1
from perch._generated import calls

from .peer import Peer

FAST = mock.patch.object(_streams, "BACKOFF_SECONDS_MAX", 0.01)


def value(name, token):
    return v1.EntitlementsTaskResponse(
        success=v1.NamedEntitlements(entitlements=[v1.NamedEntitlement(name=name, active=True)]),
        info=v1.ValueInfo(resume_token=token, position=v1.Position(revision=1)),
    )


def names(state):
    return [each.name for each in state.value.entitlements]


def bookmark(kind, revision=1):
    return kind(bookmark=v1.Bookmark(revision=revision))


WATCH_ENTITLEMENTS = next(each for each in calls.METHODS if each.response is v1.EntitlementsTaskResponse)
UNCHANGED = v1.EntitlementsTaskResponse(unchanged=v1.Unchanged(), info=v1.ValueInfo())
LOADING = v1.EntitlementsTaskResponse(loading=v1.Loading())


def asked(connection, kind=v1.EntitlementsTaskRequest):
    """The request of a stream, whose head is answered."""
    path, headers, body = connection.request()
    assert headers["content-type"] == "application/connect+proto" and headers["perch-heartbeat"] == "10", headers
    assert body[0] == 0 and int.from_bytes(body[1:5], "big") == len(body) - 5
    connection.begin()
    return kind.decode(body[5:])


@FAST
class Watches(unittest.TestCase):
    def test_values_come_once_over_lost_connections(self):
        tokens = []

        def first(connection):
            tokens.append(asked(connection).resume_token)
            for message in (LOADING, value("a", b"1"), bookmark(v1.EntitlementsTaskResponse), value("b", b"2")):
                connection.message(message)

        def second(connection):
            tokens.append(asked(connection).resume_token)
            connection.message(UNCHANGED)
            connection.end("unavailable", "AGE_LIMIT")

        def third(connection):
            tokens.append(asked(connection).resume_token)
            connection.message(value("c", b"3"))
            connection.wait()

        with (
            Peer(first, second, third) as peer,
            perch.connect(peer.url) as client,
            client.watch.entitlements("alice") as watch,
        ):
            self.assertEqual([names(next(watch)) for _ in range(3)], [["a"], ["b"], ["c"]])
            self.assertIsNone(watch.disconnected_since)
        self.assertEqual(tokens, [b"", b"2", b"2"])

    def test_a_refused_token_is_dropped(self):
        seen = []

        def first(connection):
            asked(connection)
            connection.message(value("a", b"1"))

        def second(connection):
            seen.append(asked(connection))
            connection.end("failed_precondition", "TOKEN_OTHER_STORE")

        def third(connection):
            seen.append(asked(connection))
            connection.message(value("new", b"9"))
            connection.wait()

        with (
            Peer(first, second, third) as peer,
            perch.connect(peer.url) as client,
            client.watch.entitlements("alice", at_least=v1.Position(revision=3)) as watch,
        ):
            self.assertEqual([names(next(watch)) for _ in range(2)], [["a"], ["new"]])
        self.assertEqual([(each.resume_token, each.at_least) for each in seen], [(b"1", None), (b"", None)])

    def test_a_failure_is_a_state_with_the_last_value(self):
        def script(connection):
            asked(connection)
            connection.message(v1.EntitlementsTaskResponse(failure=v1.Failure(reason="LOAD_FAILED")))
            connection.message(value("a", b"1"))
            connection.message(v1.EntitlementsTaskResponse(failure=v1.Failure(reason="STORE_FAILED")))
            connection.message(v1.EntitlementsTaskResponse())  # A state of a later version.
            connection.message(UNCHANGED)
            connection.wait()

        with Peer(script) as peer, perch.connect(peer.url) as client, client.watch.entitlements("alice") as watch:
            first = next(watch)
            self.assertEqual(first.failure.reason, "LOAD_FAILED")
            with self.assertRaises(perch.TransientError):
                first.value
            self.assertEqual(names(next(watch)), ["a"])
            failed = next(watch)
            self.assertEqual((failed.failure.reason, names(failed)), ("STORE_FAILED", ["a"]))
            again = next(watch)
            self.assertEqual((again.failure, names(again)), (None, ["a"]))

    def test_a_final_error_ends_the_watch(self):
        for end in (
            lambda c: (asked(c), c.end("permission_denied", "PERMISSION_DENIED")),
            lambda c: (c.request(), c.refuse(403, "permission_denied", "PERMISSION_DENIED")),
        ):
            with Peer(end) as peer, perch.connect(peer.url) as client, client.watch.entitlements("alice") as watch:
                with self.assertRaises(perch.FinalError) as caught:
                    next(watch)
                self.assertEqual(caught.exception.reason, "PERMISSION_DENIED")
                self.assertEqual(list(watch), [])

    def test_a_silent_connection_is_left(self):
        def silent(connection):
            asked(connection)
            connection.message(value("a", b"1"))
            connection.wait()

        def second(connection):
            asked(connection)
            connection.message(value("b", b"2"))
            connection.wait()

        with (
            mock.patch.object(_core, "SILENCE_SECONDS", 0.3),
            Peer(silent, second) as peer,
            perch.connect(peer.url) as client,
            client.watch.entitlements("alice") as watch,
            self.assertLogs("perch", "INFO") as logged,
        ):
            self.assertEqual([names(next(watch)) for _ in range(2)], [["a"], ["b"]])
        self.assertIn("CONNECTION_SILENT", logged.output[0])

    def test_a_silent_connection_is_noticed_by_short_waits(self):
        def silent(connection):
            asked(connection)
            connection.message(value("a", b"1"))
            connection.wait()

        with (
            mock.patch.object(_core, "SILENCE_SECONDS", 0.5),
            Peer(silent, silent) as peer,
            perch.connect(peer.url) as client,
            client.watch.entitlements("alice") as watch,
        ):
            next(watch)
            while watch.disconnected_since is None:
                with self.assertRaises(TimeoutError):
                    watch.next(timeout=0.05)
            self.assertEqual(names(watch.next()), ["a"])

    def test_bytes_without_a_whole_message_are_no_silence(self):
        """A large message over a slow line: the first steps end without it, and each brought bytes."""
        clock = mock.Mock(return_value=1_000.0)
        steps = []

        async def envelope(until):
            steps.append(until)
            clock.return_value = until
            if len(steps) < 3:
                exchange.last_byte = until - 1
                raise _io.Timeout
            return 0, value("a", b"1").encode()

        exchange = mock.Mock(last_byte=1_000.0, envelope=envelope)
        link = _core.Link(mock.Mock(), exchange, WATCH_ENTITLEMENTS)
        link._is_answered = True
        with mock.patch.object(_core.time, "monotonic", clock):
            self.assertEqual(_io.run(link.receive(None)), value("a", b"1"))
            self.assertEqual(steps, [1_025, 1_049, 1_073])
            exchange.last_byte = clock()
            steps.clear()
            with self.assertRaises(_io.Timeout):
                _io.run(link.receive(clock() + 30))
            self.assertEqual(steps, [1_098, 1_103])

    def test_a_watch_fails_after_the_time_that_was_asked_for(self):
        with Peer() as peer:
            url = peer.url
        with perch.connect(url) as client, client.watch.entitlements("alice", fail_after=0.1) as watch:
            with self.assertRaises(perch.TransientError) as caught:
                next(watch)
            self.assertEqual(caught.exception.reason, "CONNECT_FAILED")

    def test_a_watch_waits_for_other_credentials(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")

            def put(token):
                with open(path + ".new", "w") as file:
                    file.write(token)
                os.replace(path + ".new", path)

            put("first")
            seen = []

            def one(connection):
                seen.append(connection.request()[1]["authorization"])
                connection.begin()
                connection.message(value("a", b"1"))
                connection.end("unauthenticated", "CREDENTIALS_REVOKED")

            def two(connection):
                seen.append(connection.request()[1]["authorization"])
                connection.begin()
                connection.message(value("b", b"2"))
                connection.wait()

            with (
                Peer(one, two) as peer,
                perch.connect(peer.url, credentials=perch.TokenFile(path)) as client,
                client.watch.entitlements("alice") as watch,
            ):
                next(watch)
                with self.assertRaises(TimeoutError):
                    watch.next(timeout=0.2)
                put("second")
                self.assertEqual(names(next(watch)), ["b"])
            self.assertEqual(seen, ["Bearer first", "Bearer second"])
            with Peer(one) as peer, perch.connect(peer.url, credentials="fixed") as client:
                with self.assertRaises(perch.CredentialsError):
                    list(client.watch.entitlements("alice"))

    def test_new_tokens_that_are_refused_too_are_tried_with_pauses(self):
        tokens, waits = map(str, itertools.count()), []

        def refused(connection):
            connection.request()
            connection.refuse(401, "unauthenticated", "CREDENTIALS_EXPIRED")

        def script(connection):
            asked(connection)
            connection.message(value("a", b"1"))
            connection.wait()

        def backoff(stream):
            waits.append(stream._failures)
            return 0.0

        with (
            mock.patch.object(_streams.Returning, "_backoff", backoff),
            Peer(refused, refused, refused, script) as peer,
            perch.connect(peer.url, credentials=lambda: next(tokens)) as client,
            client.watch.entitlements("alice") as watch,
        ):
            self.assertEqual(names(next(watch)), ["a"])
        self.assertEqual(waits, [2, 3])

    def test_a_function_for_credentials_that_fails_for_a_moment_ends_no_watch(self):
        def token():
            said = tokens.pop(0)
            if isinstance(said, Exception):
                raise said
            return said

        def script(connection):
            asked(connection)
            connection.message(value("a", b"1"))
            connection.end("unavailable", "AGE_LIMIT")

        def last(connection):
            asked(connection)
            connection.message(value("b", b"2"))
            connection.wait()

        tokens = ["a", ValueError("secret"), "b"]
        with Peer(script, last) as peer, perch.connect(peer.url, credentials=token) as client:
            with client.watch.entitlements("alice") as watch, self.assertLogs("perch", "WARNING") as logged:
                next(watch)
                next(watch)
            self.assertIn("AUTHORIZATION_UNREADABLE", logged.output[0])

            tokens = [ValueError("secret")]
            errors, ended = [], threading.Event()
            with client.watch.entitlements("alice").listen(print, lambda error: (errors.append(error), ended.set())):
                ended.wait()
        self.assertEqual(errors[0].reason, "AUTHORIZATION_UNREADABLE")
        self.assertIsInstance(errors[0].__cause__, ValueError)
        self.assertNotIn("secret", str(errors[0]))

    def test_close_ends_the_loop_of_another_thread(self):
        def script(connection):
            asked(connection)
            connection.message(value("a", b"1"))
            connection.wait()

        for ends_client in (False, True):
            with Peer(script) as peer, perch.connect(peer.url) as client:
                watch = client.watch.entitlements("alice")
                next(watch)
                ended = []

                def loop():
                    try:
                        ended.append(list(watch))
                    except perch.Closed as error:
                        ended.append(error.reason)

                thread = threading.Thread(target=loop)
                thread.start()
                (client if ends_client else watch).close()
                thread.join()
                self.assertEqual(ended, ["CLOSED"] if ends_client else [[]])

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_a_forked_process_closes_its_own_client_only(self):
        go = threading.Event()

        def script(connection):
            asked(connection)
            connection.message(value("a", b"1"))
            go.wait()
            connection.message(value("b", b"2"))
            connection.wait()

        def call(connection):
            connection.request()
            connection.answer(v1.GetClockResponse())

        with Peer(script, call) as peer, perch.connect(peer.url) as client, client.watch.entitlements("alice") as watch:
            next(watch)
            connection = watch._stream._link.exchange.connection
            # As in the middle of a read and of a call of other threads.
            with connection._used(None), client._core._lock, warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # A fork beside threads, which this is about.
                child = os.fork()
                if child == 0:
                    try:
                        held = threading.Thread(
                            target=lambda: (client.call.get_clock(), client.close(), done.append(1))
                        )
                        done = []
                        held.start()
                        held.join(60)
                    finally:
                        os._exit(0 if done else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            go.set()
            self.assertEqual(names(next(watch)), ["b"])

    def test_close_ends_a_pause(self):
        with Peer() as peer:
            url = peer.url
        with (
            mock.patch.object(_streams, "BACKOFF_SECONDS_MAX", 3_600),
            mock.patch("random.uniform", lambda low, high: high),
            perch.connect(url) as client,
        ):
            watch = client.watch.entitlements("alice")
            threading.Timer(0.2, watch.close).start()
            self.assertEqual(list(watch), [])

    def test_a_listener_calls_nothing_after_its_close(self):
        go = threading.Event()

        def script(connection):
            asked(connection)
            connection.message(value("a", b"1"))
            go.wait()
            for number in range(100):
                try:
                    connection.message(value("b", b"%d" % number))
                except OSError:
                    return

        before = threading.active_count()
        with Peer(script) as peer, perch.connect(peer.url) as client:
            shown, first = [], threading.Event()

            def show(state):
                shown.append(names(state))
                first.set()
                raise ValueError("a mistake of the application")

            with self.assertLogs("perch", "ERROR"):
                listener = client.watch.entitlements("alice").listen(show)
                first.wait()
                go.set()
                listener.close()
                count = len(shown)
            client.close()
        self.assertEqual(len(shown), count)
        self.assertEqual(threading.active_count(), before)

    def test_a_listener_hears_of_the_end(self):
        with Peer(lambda c: (asked(c), c.end("not_found", "APP_UNKNOWN"))) as peer, perch.connect(peer.url) as client:
            errors, told = [], threading.Event()
            with client.watch.entitlements("alice").listen(
                print, lambda error: (errors.append(error.reason), told.set())
            ):
                told.wait()
        self.assertEqual(errors, ["APP_UNKNOWN"])


@FAST
class Groups(unittest.TestCase):
    def test_values_are_shown_together_at_a_bookmark(self):
        requests = []

        def held(place, token, entitled):
            if place == 0:
                return v1.WatchResponse(
                    subscription_status_task=v1.SubscriptionStatusTaskResponse(
                        success=v1.SubscriptionStatuses(), info=v1.ValueInfo(resume_token=token)
                    )
                )
            return v1.WatchResponse(
                watch=1,
                current_entitlement_task=v1.CurrentEntitlementTaskResponse(
                    success=v1.CurrentEntitlement(transaction=v1.TransactionResult() if entitled else None),
                    info=v1.ValueInfo(resume_token=token),
                ),
            )

        def first(connection):
            requests.append(asked(connection, v1.WatchRequest))
            for message in (
                held(0, b"1", False),
                held(1, b"2", False),
                bookmark(v1.WatchResponse),
                bookmark(v1.WatchResponse),
                held(1, b"3", True),
            ):
                connection.message(message)  # The last one has no bookmark, so it is not shown.

        def second(connection):
            requests.append(asked(connection, v1.WatchRequest))
            for message in (held(1, b"4", True), held(0, b"5", False), bookmark(v1.WatchResponse)):
                connection.message(message)
            connection.end("failed_precondition", "TOKEN_OTHER_STORE")

        def third(connection):
            requests.append(asked(connection, v1.WatchRequest))
            connection.wait()

        with Peer(first, second, third) as peer, perch.connect(peer.url, app="com.example.app") as client:
            watch = client.watch.together(
                {
                    "status": v1.SubscriptionStatusTaskRequest(account="alice", group_id="g"),
                    "product": v1.CurrentEntitlementTaskRequest(account="alice", product_id="p"),
                }
            )
            self.assertIsNone(next(watch)["product"].value.transaction)
            self.assertIsNotNone(next(watch)["product"].value.transaction)
            while len(requests) < 3:
                with self.assertRaises(TimeoutError):
                    watch.next(timeout=0.05)
        tokens = [
            [status.subscription_status_task.resume_token, product.current_entitlement_task.resume_token]
            for status, product in (request.watches for request in requests)
        ]
        self.assertEqual(tokens, [[b"", b""], [b"1", b"2"], [b"", b""]])
        self.assertEqual(requests[0].watches[0].subscription_status_task.app.bundle_id, "com.example.app")

    def test_only_streams_of_state_go_together(self):
        with perch.connect("http://127.0.0.1:1") as client, self.assertRaises(TypeError):
            client.watch.together({"x": v1.AppChangesRequest()})


@FAST
class Events(unittest.TestCase):
    def test_changes_go_on_behind_the_last_cursor(self):
        cursors = []

        def first(connection):
            cursors.append(asked(connection, v1.AppChangesRequest))
            connection.message(v1.AppChangesResponse(cursor=b"0"))
            connection.message(v1.AppChangesResponse(account="alice", cause=v1.Cause.PURCHASE, cursor=b"1"))
            connection.message(bookmark(v1.AppChangesResponse))

        def second(connection):
            cursors.append(asked(connection, v1.AppChangesRequest))
            connection.message(v1.AppChangesResponse(cursor=b"1"))
            connection.message(v1.AppChangesResponse(account="bob", cursor=b"2"))
            connection.message(v1.AppChangesResponse(cursor=b"3", position=v1.Position(revision=1_000)))
            connection.message(v1.AppChangesResponse(cause=v1.Cause.CATALOG, cursor=b"4"))
            connection.wait()

        with Peer(first, second) as peer, perch.connect(peer.url) as client:
            changes = client.changes(from_oldest=True)
            seen = []
            for change in changes:
                seen.append((change.account, changes.cursor))
                if len(seen) == 3:
                    break
        self.assertEqual(seen, [("alice", b"1"), ("bob", b"2"), ("", b"4")])
        self.assertEqual([(each.cursor, each.from_oldest) for each in cursors], [(b"", True), (b"1", False)])

    def test_a_lost_cursor_is_an_error(self):
        with (
            Peer(lambda c: (asked(c), c.end("out_of_range", "CURSOR_TOO_OLD"))) as peer,
            perch.connect(peer.url) as client,
        ):
            with self.assertRaises(perch.TokenError) as caught:
                next(client.changes(cursor=b"old"))
            self.assertEqual(caught.exception.reason, "CURSOR_TOO_OLD")

    def test_unfinished_transactions_are_not_repeated(self):
        def event(number, cursor=b"", revision=1):
            return v1.TransactionUpdatesResponse(
                transaction=v1.TransactionResult(transaction=v1.Transaction(id=number)),
                revision=revision,
                cursor=cursor,
            )

        def first(connection):
            asked(connection)
            connection.message(event(1))
            connection.message(event(2))

        def second(connection):
            asked(connection)
            for message in (
                event(1),
                event(2),
                event(3),
                v1.TransactionUpdatesResponse(cursor=b"5"),
                event(1, b"6", 7),
            ):
                connection.message(message)
            connection.wait()

        with Peer(first, second) as peer, perch.connect(peer.url) as client:
            updates = client.transaction_updates("alice", progress=True)
            found = [next(updates) for _ in range(5)]
            self.assertEqual(updates.cursor, b"6")
        self.assertEqual([each.transaction and each.transaction.transaction.id for each in found], [1, 2, 3, None, 1])


@FAST
class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def test_watches_calls_and_cancellation(self):
        def first(connection):
            asked(connection)
            connection.message(value("a", b"1"))

        def second(connection):
            assert asked(connection).resume_token == b"1"
            connection.message(value("b", b"2"))
            connection.wait()

        def call(connection):
            connection.request()
            connection.answer(v1.GetClockResponse())
            connection.request()
            connection.wait()

        with Peer(first, second, call) as peer:
            async with perch.aio.connect(peer.url) as client:
                watch = client.watch.entitlements("alice")
                self.assertEqual(names(await watch.next(60)), ["a"])
                self.assertEqual(names(await watch.next(60)), ["b"])
                with self.assertRaises(TimeoutError):
                    await watch.next(0.05)
                await client.call.get_clock()
                task = asyncio.ensure_future(client.call.get_clock())
                await asyncio.sleep(0.1)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                loop = asyncio.ensure_future(self.collect(watch))
                await asyncio.sleep(0.1)
                watch.close()
                self.assertEqual(await loop, [])

    async def test_a_call_that_is_cancelled_at_any_step_ends(self):
        # Nobody answers. One more turn of the loop each time, until the request is out.
        with socket.create_server(("127.0.0.1", 0)) as mute:
            async with perch.aio.connect(f"http://127.0.0.1:{mute.getsockname()[1]}") as client:
                for turns in range(12):
                    task = asyncio.ensure_future(client.call.get_clock(timeout=60))
                    for _ in range(turns):
                        await asyncio.sleep(0)
                        time.sleep(0.01)
                    task.cancel()
                    with self.assertRaises(asyncio.CancelledError, msg=f"after {turns} turns"):
                        await task

    async def collect(self, watch):
        return [each async for each in watch]

    async def test_a_closed_client_ends_its_streams(self):
        def script(connection):
            asked(connection)
            connection.wait()

        with Peer(script) as peer:
            client = perch.aio.connect(peer.url)
            loop = asyncio.ensure_future(self.collect(client.watch.entitlements("alice")))
            await asyncio.sleep(0.2)
            client.close()
            with self.assertRaises(perch.Closed):
                await loop
            await asyncio.sleep(0)

    async def test_an_abandoned_stream_is_closed(self):
        def script(connection):
            asked(connection)
            connection.message(value("a", b"1"))
            connection.wait()

        with Peer(script) as peer:  # Its end waits for that of the connection.
            async with perch.aio.connect(peer.url) as client:
                async for _ in client.watch.entitlements("alice"):
                    break

    async def test_a_connection_with_bytes_that_nobody_asked_for_is_not_used_again(self):
        said = threading.Event()

        def first(connection):
            connection.request()
            connection.answer(v1.GetClockResponse())
            said.wait()
            connection.send(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
            connection.wait()

        def second(connection):
            connection.request()
            connection.answer(v1.GetClockResponse())

        with Peer(first, second) as peer:
            async with perch.aio.connect(peer.url) as client:
                await client.call.get_clock()
                (exchange,) = client._core._pool
                self.assertTrue(exchange.connection.is_fresh())
                said.set()
                while exchange.connection.is_fresh():
                    await asyncio.sleep(0)
                await client.call.get_clock()

    async def test_credentials_may_be_awaited(self):
        async def token():
            await asyncio.sleep(0)
            return "fresh"

        seen = []

        def script(connection):
            seen.append(connection.request()[1]["authorization"])
            connection.answer(v1.GetClockResponse())

        with Peer(script) as peer:
            async with perch.aio.connect(peer.url, credentials=token) as client:
                await client.call.get_clock()
            with (
                perch.connect(peer.url, credentials=token) as blocking,
                self.assertRaisesRegex(RuntimeError, "perch.aio"),
            ):
                blocking.call.get_clock()
        self.assertEqual(seen, ["Bearer fresh"])


if __name__ == "__main__":
    unittest.main()

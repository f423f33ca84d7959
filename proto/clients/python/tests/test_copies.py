"""Copies: entries, clocks, files, and the stream over lost connections."""

import asyncio
import datetime
import os
import pathlib
import tempfile
import threading
import time
import unittest
from unittest import mock

import perch
import perch.aio
import perch.testing
from perch import _copyfile, _entries, _streams, v1
from perch._entries import NEVER, Entries
from perch.errors import Code
from tests.peer import Peer

REASON = v1.EntitlementReason
NOW = 1_800_000_000_000
WAIT = 30


def begin(resumed=False, test_app=False, frozen=False, now=NOW, grades=(("plus", ""), ("plus", "gold"), ("news", ""))):
    return v1.AppEntitlementsResponse(
        begin=v1.EntitlementsBegin(
            resumed=resumed,
            grades=[v1.EntitlementGrade(name=name, tier=tier) for name, tier in grades],
            names=sorted({name for name, _ in grades}),
            clock=v1.EntitlementsClock(app_time_ms=now, server_time_ms=now, frozen=frozen, test_app=test_app),
        )
    )


def accounts(*entries, revision=0, aliases=(), more=(), clock=None):
    """Entries as (key, (grade, until, reason)…)."""
    keys = [key.encode() for key, *_ in entries]
    segments = [segment for _, *found in entries for segment in found]
    batch = v1.EntitlementsBatch(
        keys=b"".join(keys),
        key_ends=ends(keys),
        segment_ends=ends([found for _, *found in entries]),
        grades=[grade for grade, _, _ in segments],
        untils=[until for _, until, _ in segments],
        reasons=bytes(reason for _, _, reason in segments),
        aliases=b"".join(alias.encode() for _, alias in aliases),
        alias_ends=ends([alias.encode() for _, alias in aliases]),
        alias_accounts=[place for place, _ in aliases],
        more_grades=[v1.EntitlementGrade(name=name, tier=tier) for name, tier in more],
        clock=clock,
    )
    if revision:
        batch.position, batch.resume_token = v1.Position(revision=revision, epoch=1), b"%d" % revision
    return v1.AppEntitlementsResponse(accounts=batch)


def ends(items):
    found, at = [], 0
    for item in items:
        at += len(item)
        found.append(at)
    return found


def end(revision=1):
    return v1.AppEntitlementsResponse(
        end=v1.EntitlementsEnd(position=v1.Position(revision=revision, epoch=1), resume_token=b"%d" % revision)
    )


def bookmark(revision, server_ms=0):
    return v1.AppEntitlementsResponse(bookmark=v1.Bookmark(revision=revision, server_time_ms=server_ms))


PLUS = (0, NEVER, REASON.PURCHASED)


class Clock:
    """Replaces the copy's clock."""

    def __init__(self, test):
        self.ms = 5_000_000
        patch = mock.patch.object(_entries, "now_ns", lambda: self.ms * 1_000_000)
        patch.start()
        test.addCleanup(patch.stop)


def copied(*messages, **options):
    found = Entries(options.get("names", ()), options.get("shard"), options.get("deny_after"))
    for message in messages:
        list(found._take(v1.AppEntitlementsResponse.decode(message.encode())))
    found._is_cut = options.get("cut", False)
    return found


class Asking(unittest.TestCase):
    def setUp(self):
        self.clock = Clock(self)

    def test_a_segment_ends_by_itself(self):
        copy = copied(begin(), accounts(("alice", (0, NOW + 1_000, REASON.SUBSCRIBED))), end())
        self.assertTrue(copy.has("alice", "plus"))
        self.assertFalse(copy.has("alice", "news"))
        self.assertEqual(copy.until("alice", "plus"), perch.to_datetime(NOW + 1_000))
        self.clock.ms += 999
        self.assertTrue(copy.has("alice", "plus"))
        self.clock.ms += 1
        self.assertFalse(copy.has("alice", "plus"))
        self.assertEqual((copy.until("alice", "plus"), copy.entitlements("alice")), (None, {}))

    def test_segments_follow_each_other(self):
        copy = copied(
            begin(),
            accounts(
                (
                    "alice",
                    (2, NOW + 1_000, REASON.GRANTED),
                    (1, NOW + 2_000, REASON.SUBSCRIBED),
                    (0, NOW + 3_000, REASON.SUBSCRIBED),
                    (0, NOW + 4_000, REASON.UNSPECIFIED),
                    (0, NEVER, REASON.PURCHASED),
                )
            ),
            end(),
        )
        held = copy.entitlements("alice")
        self.assertEqual(held["plus"], ("gold", perch.to_datetime(NOW + 3_000), REASON.SUBSCRIBED))
        self.assertEqual(held["news"], ("", perch.to_datetime(NOW + 1_000), REASON.GRANTED))
        found = []
        for _ in range(5):
            entitlement = copy.entitlements("alice").get("plus")
            self.assertEqual(copy.has("alice", "plus"), entitlement is not None)
            found.append(entitlement and (entitlement.tier, entitlement.until is None))
            self.clock.ms += 1_000
        self.assertEqual(found, [("gold", False), ("gold", False), ("", False), None, ("", True)])

    def test_names_that_nobody_knows(self):
        copy = copied(begin(), accounts(("alice", (3, NEVER, REASON.GRANTED)), more=[("beta", "")]), end())
        self.assertTrue(copy.has("alice", "beta"))
        for ask in (copy.has, copy.until):
            with self.assertRaisesRegex(
                perch.FinalError, "no entitlement 'plsu'; it has 'beta', 'news', 'plus'"
            ) as caught:
                ask("alice", "plsu")
            self.assertEqual(caught.exception.reason, "ENTITLEMENT_UNKNOWN")
        chosen = copied(begin(), accounts(("alice", PLUS)), end(), names=["plus"])
        self.assertTrue(chosen.has("alice", "plus"))
        with self.assertRaises(perch.FinalError):
            chosen.has("alice", "news")

    def test_keys_that_cannot_be(self):
        copy = copied(begin(), end())
        for key in ("", "a" * 256, "\0", "é" * 128):
            with self.assertRaises(perch.FinalError) as caught:
                copy.has(key, "plus")
            self.assertEqual(caught.exception.reason, "ACCOUNT_KEY")
        self.assertFalse(copy.has("é" * 127, "plus"))
        for key in (7, b"alice", None):
            with self.assertRaises(TypeError):
                copy.has(key, "plus")

    def test_before_it_is_complete(self):
        copy = copied(begin(), accounts(("alice", PLUS)))
        with self.assertRaisesRegex(perch.TransientError, "wait_ready"):
            copy.has("alice", "plus")
        self.assertEqual((copy.is_ready, copy.position), (False, None))

    def test_aliases(self):
        copy = copied(
            begin(), accounts(("alice", PLUS), ("bob", PLUS), aliases=[(0, "hash"), (1, "b1"), (1, "b2")]), end()
        )
        self.assertTrue(copy.has("hash", "plus") and copy.has("b1", "plus"))
        # An entry is whole: without its aliases they are gone, and an alias may move in one message.
        copy._take(accounts(("alice", PLUS), ("bob", PLUS), aliases=[(1, "hash")], revision=2))
        self.assertTrue(copy.has("hash", "plus"))
        self.assertFalse(copy.has("b1", "plus"))
        copy._take(accounts(("bob",), revision=3))
        self.assertFalse(copy.has("hash", "plus") or copy.has("bob", "plus"))

    def test_a_merge_leaves_no_moment_without(self):
        copy = copied(begin(), accounts(("old", PLUS), ("new", PLUS)), end())
        seen = []

        class Watched(dict):
            def pop(self, key, *default):
                seen.append(copy.has("old", "plus"))
                found = super().pop(key, *default)
                seen.append(copy.has("old", "plus"))
                return found

        copy._table.entries = Watched(copy._table.entries)
        copy._take(accounts(("old",), ("new", PLUS), aliases=[(1, "old")], revision=2))
        self.assertEqual(seen, [True, True])
        self.assertEqual(copy.accounts(), ["new"])

    def test_uuids_of_an_app_store_app(self):
        key = "2f5c0a3e-0b52-4c55-9f4f-0a8d3b1c7e11"
        copy = copied(begin(), accounts((key, PLUS), aliases=[(0, key.replace("2f", "3f"))]), end())
        self.assertTrue(copy.has(key.upper(), "plus") and copy.has(key.replace("2f", "3f").upper(), "plus"))
        self.assertFalse(copied(begin(test_app=True), accounts((key, PLUS)), end()).has(key.upper(), "plus"))

    def test_shards(self):
        copy = copied(
            begin(), accounts(("alice", PLUS), aliases=[(0, "hash")]), end(), shard=(perch.shard_of("alice", 2), 2)
        )
        self.assertTrue(copy.has("alice", "plus"))
        with self.assertRaises(perch.FinalError) as caught:
            copy.has("hash", "plus")
        self.assertEqual(caught.exception.reason, "ALIAS_IN_SHARD")
        other = next(key for key in map(str, range(9)) if perch.shard_of(key, 2) != copy._shard[0])
        with self.assertRaises(perch.FinalError) as caught:
            copy.has(other, "plus")
        self.assertEqual(caught.exception.reason, "OTHER_SHARD")
        self.assertEqual(perch.shard_of("123456789", 1 << 32), 0xCBF43926)  # The check value of CRC-32.

    def test_a_merge_in_a_shard_is_a_change(self):
        copy = copied(begin(), accounts(("old", PLUS), ("new", PLUS)), end(), shard=(0, 2))
        copy.on_change(lambda *_: None)
        copy._take(accounts(("old",), ("new", PLUS), aliases=[(1, "old")], revision=2))
        self.assertEqual(copy._take(accounts(("new",), revision=3))[0][0], "new")

    def test_a_renewal_that_is_awaited(self):
        renewing = ("alice", (0, NOW + 1_000, REASON.SUBSCRIBED), (0, NEVER, REASON.RENEWAL_AWAITED))
        connected = copied(begin(test_app=True), accounts(renewing), end())
        cut = copied(begin(test_app=True), accounts(renewing), end(), cut=True)
        self.assertEqual(connected.until("alice", "plus"), perch.to_datetime(NOW + 1_000))
        self.clock.ms += 2_999
        self.assertTrue(connected.has("alice", "plus") and cut.has("alice", "plus"))
        self.assertEqual(cut.entitlements("alice")["plus"].reason, REASON.RENEWAL_AWAITED)
        self.clock.ms += 1
        self.assertTrue(connected.has("alice", "plus"))
        self.assertFalse(cut.has("alice", "plus") or cut.entitlements("alice"))
        # Where the begin is not known, it is when the entry came.
        first = ("bob", (0, NEVER, REASON.RENEWAL_AWAITED))
        late = copied(begin(test_app=True), accounts(first), end(), cut=True)
        self.assertTrue(late.has("bob", "plus"))
        self.clock.ms += 2_000
        self.assertFalse(late.has("bob", "plus"))
        # Another app's has an end of its own, or none.
        self.assertTrue(copied(begin(), accounts(first), end(), cut=True).has("bob", "plus"))

    def test_a_reason_of_a_later_version_entitles(self):
        copy = copied(begin(), accounts(("alice", (0, NEVER, 200)), ("bob", (0, -5, 1))), end())
        self.assertTrue(copy.has("alice", "plus"))
        self.assertFalse(copy.has("bob", "plus"))

    def test_deny_after(self):
        copy = copied(begin(), accounts(("alice", PLUS), ("bob", PLUS, (2, NEVER, 4))), end(), deny_after=60)
        self.assertEqual(copy.age(), 0)
        self.clock.ms += 59_999
        self.assertTrue(copy.has("alice", "plus") and copy.has("bob", "plus"))
        self.clock.ms += 1
        self.assertFalse(copy.has("alice", "plus") or copy.has("bob", "plus") or copy.entitlements("alice"))
        self.assertEqual((copy.age(), copy.until("alice", "plus")), (60, None))
        copy._take(bookmark(1))
        self.assertTrue(copy.has("alice", "plus"))


class Clocks(unittest.TestCase):
    def setUp(self):
        self.clock = Clock(self)

    def test_the_machines_wall_clock_does_not_count(self):
        copy = copied(begin(), accounts(("alice", (0, NOW + 1_000, 1))), end())
        for wall in (0, 9e9):
            with (
                mock.patch.object(time, "time", lambda: wall),
                mock.patch.object(time, "time_ns", lambda: int(wall * 1e9)),
            ):
                self.assertTrue(copy.has("alice", "plus"))
                self.assertEqual(copy.age(), 0)

    def test_frozen_moved_and_started(self):
        copy = copied(begin(frozen=True, test_app=True), accounts(("alice", (0, NOW + 1_000, 1))), end())
        self.clock.ms += 10_000
        self.assertTrue(copy.has("alice", "plus"))
        copy._take(accounts(revision=2, clock=v1.EntitlementsClock(app_time_ms=NOW + 500, server_time_ms=NOW)))
        self.assertTrue(copy.has("alice", "plus"))
        self.clock.ms += 500
        self.assertFalse(copy.has("alice", "plus"))
        copy._take(accounts(revision=3, clock=v1.EntitlementsClock(app_time_ms=NOW - 500, server_time_ms=NOW)))
        self.assertTrue(copy.has("alice", "plus"))

    def test_bookmarks_correct_a_drift_and_late_ones_do_not_count(self):
        copy = copied(begin(), end())
        self.clock.ms += 10_000
        copy._take(bookmark(1, NOW + 10_030))  # This machine's clock is slow.
        self.assertEqual(copy._app_now(), NOW + 10_030)
        self.clock.ms += 10_000
        copy._take(bookmark(1, NOW + 15_030))  # Read five seconds late.
        self.assertEqual(copy._app_now(), NOW + 20_030)
        for _ in range(100):  # This machine's clock is fast, by 200 parts of a million.
            self.clock.ms += 10_000
            copy._take(bookmark(1, NOW + 20_030 + int((self.clock.ms - 5_020_000) * 0.9998)))
        self.assertAlmostEqual(copy._app_now(), NOW + 20_030 + 1_000_000 - 200, delta=10)

    def test_a_process_that_slept_takes_no_late_bookmark_for_the_clock(self):
        copy = copied(begin(), end())
        self.clock.ms += 60_000
        for said in range(1, 6):  # What the socket kept.
            copy._take(bookmark(1, NOW + said * 10_000))
            self.assertEqual(copy._app_now(), NOW + 60_000)

    def test_a_clock_that_was_moved_and_came_back_is_followed(self):
        """The server's clock was an hour ahead for a minute. It never goes back: it stands still until that hour has come."""
        copy = copied(begin(), end())
        for second in range(0, 3_700, 10):
            self.clock.ms += 10_000
            ahead = NOW + second * 1_000 + (3_600_000 if second < 60 else 0)
            server = max(ahead, NOW + 3_650_000)
            copy._take(bookmark(1, server))
            self.assertGreaterEqual(copy._app_now(), server, "an entry would end late")
            self.assertLessEqual(copy._app_now(), server + 20_000, "an entry would end early")
        for _ in range(3):
            self.clock.ms += 10_000
            second += 10
            copy._take(bookmark(1, NOW + second * 1_000))
        self.assertEqual(copy._app_now(), NOW + second * 1_000)


class Changes(unittest.TestCase):
    def test_a_new_copy_replaces_the_old_one_at_its_end(self):
        copy = copied(begin(), accounts(("alice", PLUS), ("bob", PLUS), ("carol", PLUS)), end(5))
        copy.on_change(lambda *_: None)
        grades = (("news", ""), ("plus", ""))  # Other numbers for the same grades.
        for message in (begin(grades=grades), accounts(("dave", (0, NEVER, 4))), begin(grades=grades)):
            copy._take(message)
        copy._take(accounts(("alice", (1, NEVER, 4)), ("bob", (0, NEVER, 4)), ("eve", (1, NEVER, 4))))
        self.assertTrue(copy.has("carol", "plus"))
        changes = list(copy._take(end(9)))
        self.assertEqual(
            [(key, list(before), list(after)) for key, before, after in changes],
            [("bob", ["plus"], ["news"]), ("carol", ["plus"], []), ("eve", [], ["plus"])],
        )
        self.assertEqual((copy.accounts(), copy.position.revision), (["alice", "bob", "eve"], 9))

    def test_changes_are_of_accounts(self):
        copy = copied(begin(), accounts(("old", PLUS)), end())
        copy.on_change(lambda *_: None)
        changes = copy._take(accounts(("old",), ("new", PLUS), aliases=[(1, "old")], revision=2))
        self.assertEqual([(key, list(before), list(after)) for key, before, after in changes], [("new", [], ["plus"])])
        self.assertEqual(copy._take(accounts(("new", PLUS), aliases=[(0, "old")], revision=3)), [])

    def test_of_two_entries_in_a_message_the_later_counts(self):
        copy = copied(begin(), end())
        copy._take(accounts(("a",), ("b", PLUS), ("a", PLUS), ("b",), revision=2))
        self.assertEqual((copy.has("a", "plus"), copy.has("b", "plus")), (True, False))

    def test_columns_that_do_not_fit_are_refused(self):
        for field, column in (
            ("key_ends", [3]),
            ("segment_ends", [2]),
            ("grades", [9]),
            ("untils", []),
            ("reasons", b""),
            ("keys", b"\xff"),
            ("alias_ends", [4]),
        ):
            message = accounts(("alice", PLUS))
            setattr(message.accounts, field, column)
            if field == "keys":
                message.accounts.key_ends = [1]
            with self.assertRaisesRegex(perch.FinalError, "PROTOCOL_BREACH"):
                copied(begin(), message)
        with self.assertRaisesRegex(perch.FinalError, "has not begun"):
            copied(end())

    def test_a_copy_as_messages_is_the_same_copy(self):
        copy = copied(
            begin(test_app=True),
            accounts(
                ("alice", PLUS),
                ("é", (1, NOW, 1), (0, NEVER, 3), (2, NOW + 5, 4)),
                ("x", (3, 1 << 60, 5)),
                aliases=[(1, "a"), (1, "ü")],
                more=[("beta", "b")],
            ),
            end(),
        )
        again = copied(*copy._messages())
        for name in ("entries", "aliases", "owned", "names"):
            self.assertEqual(getattr(again._table, name), getattr(copy._table, name))
        self.assertEqual((again._token, again.position, again._clock.test_app), (copy._token, copy.position, True))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "perch.copy"

    def copy(self, peer, **options):
        client = perch.connect(peer.url, app=options.pop("app", "com.example.app"))
        self.addCleanup(client.close)
        copy = client.copy(file=self.path, **options)
        self.addCleanup(copy.close)
        return copy

    def fill(self, *changes):
        """A file with a copy and changes."""

        def script(connection):
            connection.request(), connection.begin()
            for message in (
                begin(now=int(time.time() * 1_000)),
                accounts(("alice", PLUS), ("bob", PLUS)),
                end(),
                *changes,
            ):
                connection.message(message)
            connection.wait()

        with Peer(script) as peer:
            copy = self.copy(peer)
            copy.wait_for(v1.Position(revision=1 + len(changes)), WAIT)
            self.until(lambda: len(self.read()) == 4 + len(changes))
            copy.close()

    def read(self):
        """The messages in the file."""
        try:
            with open(self.path, "rb") as file:
                return list(_copyfile.CopyFile(self.path, {})._records(file, os.path.getsize(self.path)))[1:]
        except FileNotFoundError:
            return []

    def until(self, holds):
        deadline = time.monotonic() + WAIT
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def away(self, **options):
        """A copy of the file whose server is away."""
        with Peer() as peer:
            url = peer.url
        return self.copy(mock.Mock(url=url), **options)

    def test_it_survives_a_restart_without_a_server(self):
        self.fill(accounts(("bob",), ("carol", PLUS), revision=2))
        copy = self.away()
        copy.wait_ready(WAIT)
        self.assertEqual([copy.has(key, "plus") for key in ("alice", "bob", "carol")], [True, False, True])
        self.assertLess(copy.age(), WAIT)
        self.assertEqual((os.stat(self.path).st_mode & 0o777, copy.position.revision), (0o600, 2))

    def test_it_goes_on_from_the_token_of_the_file(self):
        self.fill(accounts(("bob",), revision=2))
        asked = []

        def script(connection):
            _, _, body = connection.request()
            asked.append(v1.AppEntitlementsRequest.decode(body[5:]))
            connection.begin()
            connection.message(begin(resumed=True))
            connection.message(accounts(("dave", PLUS), revision=3))
            connection.wait()

        with Peer(script) as peer:
            copy = self.copy(peer)
            copy.wait_for(v1.Position(revision=3, epoch=1), WAIT)
            self.assertEqual(asked[0].resume_token, b"2")
            self.assertEqual([copy.has(key, "plus") for key in ("alice", "bob", "dave")], [True, False, True])
            self.until(lambda: len(self.read()) == 7)
            copy.close()

    def test_it_is_as_old_as_the_file_until_it_has_what_it_missed(self):
        self.fill(accounts(("alice", PLUS), revision=2))
        said, missed = threading.Event(), threading.Event()

        def script(connection):
            connection.request()
            connection.begin()
            connection.message(begin(resumed=True))
            connection.message(accounts(("dave", PLUS), revision=3))
            said.wait(WAIT)
            connection.message(accounts(("alice",), revision=4))
            connection.message(bookmark(4))
            missed.wait(WAIT)

        with Peer(script) as peer:
            clock = Clock(self)
            copy = self.copy(peer, deny_after=60)
            copy.wait_for(v1.Position(revision=3, epoch=1), WAIT)
            heard = copy._heard_ms
            clock.ms += 100_000
            self.assertGreaterEqual(copy.age(), 100)
            self.assertFalse(copy.has("dave", "plus"))
            with self.assertRaisesRegex(perch.DeadlineExceeded, "has not got what it missed"):
                copy.wait_ready(0.05)
            said.set()
            copy.wait_ready(WAIT)
            self.assertEqual((copy.age(), copy.has("alice", "plus"), copy.has("dave", "plus")), (0, False, True))
            self.assertLess(heard, copy._heard_ms)
            missed.set()

    def test_the_numbers_of_grades_in_it(self):
        other = accounts(("bob", (3, NEVER, 5)), more=[("other", "")], revision=3)
        self.fill(accounts(("alice", (3, NEVER, 5)), more=[("beta", "")], revision=2), other)
        copy = self.away()
        copy.wait_ready(WAIT)
        file = copy._stream.file
        self.assertTrue(file.keeps())
        list(file.rewrite(copy._messages()))
        file.append(accounts(("carol", (3, NEVER, 5)), more=[("third", "")], revision=4))
        again = Entries((), None, None)
        for _, message in file.read():
            again._take(message)
        held = [list(again.entitlements(key)) for key in ("alice", "bob", "carol")]
        self.assertEqual(held, [["beta"], ["other"], ["third"]])

    def test_files_that_are_ignored(self):
        self.fill(accounts(("bob",), revision=2))
        good = self.path.read_bytes()
        damaged = bytearray(good)
        damaged[good.index(b"alice")] ^= 1
        for data, app, warns in (
            (good, "com.example.other", "another copy"),
            (bytes(damaged), "com.example.app", "damaged at byte"),
            (b"", "com.example.app", "no file"),
            (b"perch copy 2\n", "com.example.app", "no file"),
            (good[: len(good) // 2], "com.example.app", "not complete"),
        ):
            self.path.write_bytes(data)
            with self.assertLogs("perch", "WARNING") as logs:
                copy = self.away(app=app)
                with self.assertRaises(TimeoutError):
                    copy.wait_ready(0.3)
            self.assertRegex(logs.output[0], f"is ignored, and written anew: .*({warns})")
            copy.close()

    def test_a_record_that_was_cut_short_is_left_out(self):
        self.fill(accounts(("bob",), revision=2))
        whole = self.path.read_bytes()
        for cut in (1, 20, 40):
            self.path.write_bytes(whole[:-cut])
            copy = self.away()
            copy.wait_ready(WAIT)
            self.assertTrue(copy.has("alice", "plus"))
            copy.close()

    def test_one_process_writes_it(self):
        one, two = (_copyfile.CopyFile(self.path, {}) for _ in range(2))
        self.assertTrue(one.keeps())
        self.assertFalse(two.keeps())
        list(one.rewrite([begin(), end()]))
        self.assertFalse(two.keeps())
        one.close()
        self.assertTrue(two.keeps())
        two.close()

    def test_it_is_written_anew_when_its_changes_are_many(self):
        file = _copyfile.CopyFile(self.path, {})
        self.assertTrue(file.keeps() and file.is_due)
        with mock.patch.object(_copyfile, "CHANGES_BYTES_MAX", 100):
            list(file.rewrite([begin(), end()]))
            self.assertFalse(file.is_due)
            while not file.is_due:
                file.append(bookmark(1))
        self.assertGreater(len(list(file.read())), 3)
        file.close()

    def test_a_folder_that_is_not_there(self):
        with perch.connect("http://127.0.0.1:1") as client, self.assertRaises(FileNotFoundError):
            client.copy(file=self.path / "x" / "perch.copy")


class Streams(unittest.TestCase):
    def setUp(self):
        soon = mock.patch.object(_streams.Returning, "_backoff", lambda _: 0.01)
        soon.start()
        self.addCleanup(soon.stop)

    def test_it_comes_back_with_its_token_and_keeps_what_it_has(self):
        asked, changed = [], []
        go = threading.Event()

        def first(connection):
            asked.append(v1.AppEntitlementsRequest.decode(connection.request()[2][5:]))
            connection.begin()
            for message in (begin(), accounts(("alice", PLUS)), end(1), accounts(("bob", PLUS), revision=2)):
                connection.message(message)
            go.wait(WAIT)

        def half(connection):
            asked.append(v1.AppEntitlementsRequest.decode(connection.request()[2][5:]))
            connection.begin()
            for message in (begin(), accounts(("carol", PLUS))):
                connection.message(message)

        def last(connection):
            asked.append(v1.AppEntitlementsRequest.decode(connection.request()[2][5:]))
            connection.begin()
            for message in (begin(), accounts(("bob", PLUS)), end(7), bookmark(9)):
                connection.message(message)
            connection.wait()

        with Peer(first, half, last) as peer, perch.connect(peer.url, app="com.example.app") as client:
            with client.copy(names=["plus"], shard=(0, 1)) as copy:
                copy.on_change(lambda account, before, after: changed.append((account, list(before), list(after))))
                copy.wait_ready(WAIT)
                copy.wait_for(v1.Position(revision=2, epoch=1), WAIT)
                self.assertTrue(copy.has("bob", "plus"))
                go.set()
                copy.wait_for(v1.Position(revision=9, epoch=1), WAIT)
                self.assertEqual(copy.accounts(), ["bob"])
                with self.assertRaises(TimeoutError):
                    copy.wait_for(v1.Position(revision=10, epoch=1), 0.05)
                with self.assertRaises(TimeoutError):
                    copy.wait_for(v1.Position(revision=1, epoch=2), 0.05)
            self.assertEqual([each.resume_token for each in asked], [b"", b"2", b"2"])
            self.assertEqual((asked[0].names, asked[0].app.bundle_id), (["plus"], "com.example.app"))
            self.assertEqual(changed, [("bob", [], ["plus"]), ("alice", ["plus"], [])])
            self.assertNotIn("perch-copy", [thread.name for thread in threading.enumerate()])

    def test_a_final_error_is_that_of_the_copy(self):
        with Peer(
            lambda connection: (connection.request(), connection.refuse(403, "permission_denied", "PERMISSION_DENIED"))
        ) as peer:
            with perch.connect(peer.url) as client, self.assertLogs("perch", "ERROR"), client.copy() as copy:
                with self.assertRaises(perch.FinalError):
                    copy.wait_ready(WAIT)
                with self.assertRaises(perch.FinalError):
                    copy.has("alice", "plus")
                self.assertEqual(copy.error.code, Code.PERMISSION_DENIED)

    def test_credentials_that_are_not_there_yet_are_waited_for(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        token = pathlib.Path(folder.name, "token")

        def script(connection):
            connection.request(), connection.begin()
            for message in (begin(), accounts(("alice", PLUS)), end()):
                connection.message(message)
            connection.wait()

        with Peer(script) as peer, perch.connect(peer.url, credentials=perch.TokenFile(token)) as client:
            with client.copy() as copy:
                with self.assertRaisesRegex(
                    perch.DeadlineExceeded, "the last attempt: .*AUTHORIZATION_UNREADABLE"
                ) as late:
                    while True:  # Until the first attempt has failed.
                        copy.wait_ready(0.05)
                self.assertEqual(late.exception.__cause__.reason, "AUTHORIZATION_UNREADABLE")
                token.write_text("here")
                copy.wait_ready(WAIT)
                self.assertTrue(copy.has("alice", "plus"))

    def test_a_server_without_the_method_is_named_with_its_version(self):
        def old(connection):
            connection.request(), connection.refuse(404, "unimplemented", "UNKNOWN_METHOD")

        def status(connection):
            connection.request(), connection.answer(v1.GetServerStatusResponse(version="0.9"))

        with Peer(old, status) as peer, perch.connect(peer.url) as client, self.assertLogs("perch", "ERROR"):
            with client.copy() as copy, self.assertRaisesRegex(perch.FinalError, "older than this client: .* 0.9"):
                copy.wait_ready(WAIT)

    def test_a_callback_may_fail_and_close(self):
        def script(connection):
            connection.request(), connection.begin()
            for message in (begin(), end(), accounts(("a", PLUS), ("b", PLUS), ("c", PLUS), revision=2)):
                connection.message(message)
            connection.wait()

        called = []
        with Peer(script) as peer, perch.connect(peer.url) as client, self.assertLogs("perch", "ERROR"):
            copy = client.copy()

            def callback(account, before, after):
                called.append(account)
                if account == "a":
                    raise ValueError("on purpose")
                copy.close()

            copy.on_change(callback)
            copy._thread.join(WAIT)
            self.assertEqual(called, ["a", "b"])
            self.assertEqual(copy.error.reason, "CLOSED")
            with self.assertRaises(perch.Closed):
                copy.wait_for(v1.Position(revision=5), WAIT)

    def test_asyncio(self):
        go = threading.Event()

        def script(connection):
            connection.request(), connection.begin()
            for message in (begin(), accounts(("alice", PLUS)), end()):
                connection.message(message)
            go.wait(WAIT)
            connection.message(accounts(("bob", PLUS), revision=2))
            connection.wait()

        async def main(url):
            seen = []

            async def callback(account, before, after):
                await asyncio.sleep(0)
                seen.append(account)

            async with perch.aio.connect(url) as client, client.copy() as copy:
                copy.on_change(callback)
                await copy.wait_ready(WAIT)
                self.assertTrue(copy.has("alice", "plus"))
                go.set()
                await copy.wait_for(v1.Position(revision=2, epoch=1), WAIT)
                self.assertTrue(copy.has("bob", "plus"))
                with self.assertRaises(TimeoutError):
                    await copy.wait_for(v1.Position(revision=5), 0.05)
            self.assertEqual(seen, ["bob"])

        with Peer(script) as peer:
            asyncio.run(main(peer.url))

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_forked_process_goes_on_by_itself(self):
        def first(connection):
            connection.request(), connection.begin()
            for message in (begin(), accounts(("alice", PLUS)), end()):
                connection.message(message)
            connection.wait()

        def second(connection):
            token = v1.AppEntitlementsRequest.decode(connection.request()[2][5:]).resume_token
            connection.begin()
            connection.message(begin(resumed=True))
            connection.message(accounts(("bob" if token == b"1" else "nobody", PLUS), revision=2))
            connection.wait()

        with Peer(first, second) as peer, perch.connect(peer.url) as client, client.copy() as copy:
            copy.wait_ready(WAIT)
            child = os.fork()
            if not child:
                status = 1
                try:
                    copy.wait_for(v1.Position(revision=2, epoch=1), WAIT)
                    status = 0 if copy.has("alice", "plus") and copy.has("bob", "plus") else 2
                    client.close()
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertFalse(copy.has("bob", "plus"))


class Doubles(unittest.TestCase):
    def test_a_copy_of_a_dictionary(self):
        now = datetime.datetime(2026, 11, 28, tzinfo=datetime.timezone.utc)
        copy = perch.testing.Copy(
            {"alice": {"plus": None}, "bob": {"news": now + datetime.timedelta(hours=1)}}, names=["pro"], now=now
        )
        called = []
        copy.on_change(lambda account, before, after: called.append((account, sorted(before), sorted(after))))
        copy.wait_ready()
        self.assertTrue(copy.has("alice", "plus") and copy.has("bob", "news"))
        self.assertFalse(copy.has("alice", "pro") or copy.has("carol", "plus"))
        with self.assertRaises(perch.FinalError):
            copy.has("alice", "plsu")
        copy.wait_for(copy.grant("bob", "plus"))
        copy.advance(datetime.timedelta(hours=1))
        self.assertEqual(list(copy.entitlements("bob")), ["plus"])
        copy.revoke("alice", "plus")
        self.assertEqual(called, [("bob", ["news"], ["news", "plus"]), ("alice", ["plus"], [])])
        self.assertEqual(copy.age() < WAIT, True)

    def test_a_copy_whose_server_is_away(self):
        copy = perch.testing.Copy({"alice": {"plus": None}}, deny_after=60)
        copy.disconnect(datetime.timedelta(seconds=50))
        self.assertTrue(copy.age() >= 50 and copy.disconnected_since and copy.has("alice", "plus"))
        copy.disconnect(datetime.timedelta(seconds=70))
        self.assertFalse(copy.has("alice", "plus"))
        copy.reconnect()
        self.assertTrue(copy.has("alice", "plus") and copy.disconnected_since is None)
        copy.fail(perch.FinalError(Code.PERMISSION_DENIED, "ROLE", "not yours"))
        with self.assertRaises(perch.FinalError):
            copy.wait_ready()
        self.assertTrue(copy.has("alice", "plus"))

    def test_a_copy_that_is_not_complete(self):
        copy = perch.testing.Copy({"alice": {"plus": None}}, ready=False)
        with self.assertRaises(perch.TransientError):
            copy.has("alice", "plus")
        with self.assertRaises(perch.DeadlineExceeded):
            copy.wait_ready()
        copy.reconnect()
        self.assertTrue(copy.is_ready and copy.has("alice", "plus"))

    def test_a_copy_of_a_store(self):
        store = perch.testing.Store({"alice": {"plus": None}})
        with store.client() as client, client.copy() as copy:
            copy.wait_ready(WAIT)
            store.grant("bob", "plus")
            copy.wait_for(store.position, WAIT)
            self.assertTrue(copy.has("alice", "plus") and copy.has("bob", "plus"))

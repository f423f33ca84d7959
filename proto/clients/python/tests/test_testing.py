"""The doubles for applications, and the package's own facts."""

import asyncio
import datetime
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import perch
import perch.testing
from perch import v1


class Doubles(unittest.TestCase):
    def test_a_store_answers_and_pushes(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        store = perch.testing.Store({"alice": {"plus": None, "old": now - datetime.timedelta(days=1)}})
        with store.client() as client:
            self.assertTrue(client.has("alice", "plus"))
            self.assertFalse(client.has("alice", "old"))
            self.assertFalse(client.has("bob", "plus"))
            with self.assertRaisesRegex(perch.FinalError, "no entitlement 'gold'"):
                client.has("alice", "gold")
            watch = client.watch.entitlements("alice")
            self.assertEqual([each.active for each in next(watch).value.entitlements], [False, True])
            store.revoke("alice", "plus")
            self.assertEqual([each.active for each in next(watch).value.entitlements], [False, False])
            client.call.grant_entitlement(
                account="alice", name="plus", until_ms=perch.to_ms(now + datetime.timedelta(days=1))
            )
            self.assertTrue(next(watch).value.entitlements[1].active)
            client.call.revoke_grant(account="alice", name="plus")
            self.assertFalse(next(watch).value.entitlements[1].active)
        self.assertEqual(store.requests[0], ("get_entitlements", v1.GetEntitlementsRequest(account="alice")))

    def test_answers_of_a_test(self):
        store = perch.testing.Store()
        with store.client() as client:
            store.answer("get_clock", v1.GetClockResponse())
            self.assertEqual(client.call.get_clock(), v1.GetClockResponse())
            store.answer(
                "finish", lambda request: v1.FinishResponse(position=v1.Position(revision=request.transaction_id))
            )
            self.assertEqual(client.call.finish(transaction_id=7).position.revision, 7)
            store.answer("finish", perch.FinalError(perch.Code.NOT_FOUND, perch.Reason.TRANSACTION_UNKNOWN, "no"))
            with self.assertRaisesRegex(perch.FinalError, "TRANSACTION_UNKNOWN"):
                client.call.finish()
            with self.assertRaisesRegex(perch.FinalError, "give one by answer"):
                client.call.get_pass(account="a")
            with self.assertRaises(ValueError):
                store.answer("get_clocks", v1.GetClockResponse())
            changes = client.changes()
            with self.assertRaises(TimeoutError):
                changes.next(timeout=0)
            store.push("app_changes", v1.AppChangesResponse(account="alice", cursor=b"1"))
            self.assertEqual(next(changes).account, "alice")

    def test_a_callback_hears_of_a_push(self):
        store, heard = perch.testing.Store({"alice": {"plus": None}}), threading.Event()
        with (
            store.client() as client,
            client.watch.entitlements("alice").listen(
                lambda state: None if state.value.entitlements[0].active else heard.set()
            ),
        ):
            store.revoke("alice", "plus")
            heard.wait()

    def test_asyncio(self):
        async def main():
            store = perch.testing.Store({"alice": {"plus": None}})
            async with store.async_client() as client:
                self.assertTrue(await client.has("alice", "plus"))
                watch = client.watch.entitlements("alice")
                await watch.next(60)
                asyncio.get_running_loop().call_soon(store.revoke, "alice", "plus")
                self.assertFalse((await watch.next(60)).value.entitlements[0].active)

        asyncio.run(main())


class Package(unittest.TestCase):
    def test_the_version_is_that_of_the_project(self):
        text = (pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml").read_text()
        self.assertEqual(re.search(r'^version = "(.*)"$', text, re.M)[1], perch.__version__)

    def test_instants(self):
        self.assertEqual(perch.to_datetime(1_767_225_600_123).isoformat(), "2026-01-01T00:00:00.123000+00:00")
        self.assertEqual(perch.to_ms(perch.to_datetime(1_767_225_600_123)), 1_767_225_600_123)
        with self.assertRaises(ValueError):
            perch.to_ms(datetime.datetime(2026, 1, 1))

    def test_every_name_of_the_package_is_documented(self):
        for name in perch.__all__:
            if name not in ("v1", "Reason"):
                self.assertTrue((getattr(perch, name).__doc__ or "").strip(), name)


class Beside(unittest.TestCase):
    def test_code_of_protoc_is_found_beside_this_package(self):
        """Both are called `perch.v1`, the contract's own name."""
        source = pathlib.Path(perch.__file__).parent.parent
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder, "perch", "v1")
            made.mkdir(parents=True)
            (made / "entitlement_service_pb2.py").write_text("here = True\n")
            for path in ([str(source), folder], [folder, str(source)]):
                code = (
                    "import perch, perch.v1.entitlement_service_pb2 as made; print(made.here, perch.v1.AppRef.__name__)"
                )
                found = subprocess.run(
                    [sys.executable, "-c", code],
                    env={"PYTHONPATH": os.pathsep.join(path)},
                    capture_output=True,
                    text=True,
                )
                self.assertEqual((found.stdout, found.stderr), ("True AppRef\n", ""))


if __name__ == "__main__":
    unittest.main()

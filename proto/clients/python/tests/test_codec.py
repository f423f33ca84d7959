"""The codec and the generated messages."""

import glob
import json
import pathlib
import unittest

from perch import _codec, v1
from perch._generated import wire

from .jsonform import from_json, to_json

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "vectors"


def vectors():
    for path in sorted(glob.glob(str(VECTORS / "messages-*.json"))):
        if path.endswith("-refused.json"):
            continue
        for vector in json.loads(pathlib.Path(path).read_text()):
            package, name = vector["message"].rsplit(".", 1)
            kind = getattr(v1 if package == "perch.v1" else wire, name)
            parts = vector.get("parts") or [[vector["hex"], 1]]
            data = b"".join(
                bytes.fromhex(text) * times
                for text, times in (part if isinstance(part, list) else (part["hex"], part["times"]) for part in parts)
            )
            yield path, vector, kind, data


@unittest.skipUnless(VECTORS.is_dir(), "the vectors are in the repository, not in the package")
class Vectors(unittest.TestCase):
    def test_every_vector_is_read_and_written(self):
        count = 0
        for path, vector, kind, data in vectors():
            with self.subTest(file=path, name=vector["name"], message=vector["message"]):
                message = kind.decode(data)
                if "json" in vector:
                    self.assertEqual(to_json(message), vector["json"])
                    self.assertEqual(from_json(kind, vector["json"]).encode(), message.encode())
                canonical = vector.get("canonical")
                if canonical is not None or "parts" not in vector:
                    self.assertEqual(message.encode().hex(), vector["hex"] if canonical is None else canonical)
            count += 1
        self.assertGreater(count, 300)

    def test_every_prefix_of_a_message_is_read_or_refused(self):
        for _, vector, kind, data in vectors():
            for end in range(min(len(data), 200)):
                try:
                    kind.decode(data[:end])
                except _codec.DecodeError:
                    pass


class Codec(unittest.TestCase):
    def test_refuses_what_a_field_cannot_hold(self):
        for message, text in (
            (v1.Position(revision=-1), "Position.revision is a uint64"),
            (v1.Position(revision=1 << 64), "not between"),
            (v1.AppRef(bundle_id=b"x"), "AppRef.bundle_id is a string"),
            (v1.FinishRequest(idempotency_key="x"), "FinishRequest.idempotency_key is a bytes"),
            (v1.FinishRequest(app="com.example.app"), "FinishRequest.app is a AppRef"),
            (v1.ExplainRequest(group_id="a", product_id="b"), "may have one of them"),
        ):
            with self.subTest(text=text), self.assertRaisesRegex((ValueError, TypeError), text):
                message.encode()

    def test_keeps_an_unknown_value_of_an_enumeration(self):
        read = v1.AppRef.decode(v1.AppRef(environment=v1.Environment(77)).encode())
        self.assertEqual((read.environment, read.environment.name), (77, "UNKNOWN_77"))
        self.assertEqual(read.encode(), b"\x10\x4d")

    def test_an_absent_message_differs_from_an_empty_one(self):
        self.assertIsNone(v1.FinishRequest.decode(b"").app)
        self.assertEqual(v1.FinishRequest.decode(v1.FinishRequest(app=v1.AppRef()).encode()).app, v1.AppRef())

    def test_a_oneof_has_its_last_member(self):
        answer = v1.GetEntitlementsResponse.decode(
            v1.GetEntitlementsResponse(failure=v1.Failure()).encode()
            + v1.GetEntitlementsResponse(success=v1.NamedEntitlements()).encode()
        )
        self.assertEqual(answer.which("state"), "success")
        self.assertIsNone(answer.failure)
        self.assertIsNone(v1.GetEntitlementsResponse().which("state"))

    def test_packed_numbers_are_read_packed_or_not(self):
        request = v1.AppChangesRequest(causes=[v1.Cause.PURCHASE, v1.Cause.REFUND])
        self.assertEqual(v1.AppChangesRequest.decode(request.encode()), request)
        self.assertEqual(v1.AppChangesRequest.decode(b"\x20\x02\x20\x04"), request)

    def test_a_message_shows_what_it_has(self):
        self.assertEqual(repr(v1.AppRef(bundle_id="a")), "AppRef(bundle_id='a')")
        self.assertEqual(v1.AppRef(bundle_id="a").replace(bundle_id="b"), v1.AppRef(bundle_id="b"))
        with self.assertRaises(TypeError):
            v1.AppRef(bundel_id="a")
        with self.assertRaises(AttributeError):
            v1.AppRef().bundel_id = "a"


if __name__ == "__main__":
    unittest.main()

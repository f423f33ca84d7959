"""Compares Perch with Apple's Python library, value by value. Usage: compare.py APPLECHECK TESTS_OF_X509"""

import base64
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import (
    SignedDataVerifier, VerificationException, _ChainVerifier)

from chains import INTERMEDIATE, LEAF, Authority, Chain
from expectations import conclude, expect

BUNDLE, APPLE_ID = "com.example.app", 1234
SIGNED = 1_700_000_000_000


class Perch:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"apple: applecheck ended at {str(request)[:200]}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=300)


perch = Perch(sys.argv[1])
METHODS = {
    "transaction": "verify_and_decode_signed_transaction",
    "renewalInfo": "verify_and_decode_renewal_info",
    "appTransaction": "verify_and_decode_app_transaction",
    "notification": "verify_and_decode_notification",
    "realtimeRequest": "verify_and_decode_realtime_request",
}


def library(kind, jws, roots, environment="Sandbox", bundle=BUNDLE, apple_id=APPLE_ID):
    """The status that Apple's library gives, and its value."""
    verifier = SignedDataVerifier(roots, False, Environment(environment), bundle, apple_id)
    verifier._chain_verifier.enable_strict_checks = True
    try:
        return "OK", getattr(verifier, METHODS[kind])(jws)
    except VerificationException as failure:
        return failure.status.name, None
    except Exception as failure:  # Its decoder throws others for fields of another type.
        return type(failure).__name__, None


def ours(kind, jws, roots, environment="Sandbox", bundle=BUNDLE, apple_id=APPLE_ID):
    return perch.ask(do="open", kind=kind, jws=jws, bundleId=bundle, environment=environment, appAppleId=apple_id,
                     roots=[base64.b64encode(root).decode() for root in roots])


def compare(name, kind, jws, roots, code=None, **more):
    """Both give the same status; Perch gives its own reason code."""
    status, value = library(kind, jws, roots, **more)
    answer = ours(kind, jws, roots, **more)
    expect(answer["status"] == status, f"{name}: the library says {status}, Perch {answer}")
    expect(answer.get("code") == code, f"{name}: expected the code {code}, Perch says {answer}")
    return value, answer


def real_chain(path):
    """Apple's own chain, which stands in the library's tests, and its test authority."""
    text = pathlib.Path(path).read_text()
    found = dict(re.findall(r'^(\w+_BASE64_ENCODED) = "([^"]+)"', text, re.MULTILINE))
    effective = int(re.search(r"^EFFECTIVE_DATE = (\d+)", text, re.MULTILINE).group(1))
    real = [found["REAL_APPLE_SIGNING_CERTIFICATE_BASE64_ENCODED"],
            found["REAL_APPLE_INTERMEDIATE_BASE64_ENCODED"], found["REAL_APPLE_ROOT_BASE64_ENCODED"]]
    root = base64.b64decode(real[2])
    expect(hashlib.sha256(root).hexdigest().upper()
           == "63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179", "the root is not Apple's")

    def both(name, x5c, seconds, expected, roots=(root,)):
        try:
            _ChainVerifier(list(roots), True).verify_chain(x5c, False, seconds)
            status = "OK"
        except VerificationException as failure:
            status = failure.status.name
        further = [base64.b64encode(one).decode() for one in roots if one != root]
        answer = perch.ask(do="chain", x5c=x5c, seconds=seconds, roots=further)
        expect(status == expected, f"{name}: the library says {status}")
        expect(answer["status"] == expected, f"{name}: Perch says {answer}")

    both("the real chain", real, effective, "OK")
    both("the real chain with garbage as its third", real[:2] + ["AAAA"], effective, "OK")
    # Its leaf is valid from 2025-09-19 to 2027-10-13.
    both("the real chain in 2024", real, 1704067200, "VERIFICATION_FAILURE")
    both("the real chain in 2028", real, 1830297600, "VERIFICATION_FAILURE")
    both("two real certificates", real[:2], effective, "INVALID_CHAIN_LENGTH")
    both("four real certificates", real + real[2:], effective, "INVALID_CHAIN_LENGTH")
    both("no certificate", [], effective, "INVALID_CHAIN_LENGTH")
    both("the real chain in another order", [real[1], real[0], real[2]], effective, "VERIFICATION_FAILURE")
    both("the leaf twice", [real[0], real[0], real[2]], effective, "VERIFICATION_FAILURE")
    both("a leaf that is no Base64", ["abc"] + real[1:], effective, "INVALID_CERTIFICATE")
    both("a leaf that is no DER", [base64.b64encode(b"abc").decode()] + real[1:], effective, "INVALID_CERTIFICATE")
    # The library's test authority has no key identifiers: strict checks refuse it, here and there.
    test = [found["LEAF_CERT_BASE64_ENCODED"], found["INTERMEDIATE_CA_BASE64_ENCODED"],
            found["ROOT_CA_BASE64_ENCODED"]]
    both("the library's test chain", test, effective, "VERIFICATION_FAILURE", [root, base64.b64decode(test[2])])
    both("the library's test chain without its root", test, effective, "VERIFICATION_FAILURE")


def transaction(**more):
    return {"transactionId": "12", "originalTransactionId": "11", "bundleId": BUNDLE, "productId": "pro",
            "purchaseDate": SIGNED - 1, "expiresDate": SIGNED + 9, "type": "Auto-Renewable Subscription",
            "environment": "Sandbox", "signedDate": SIGNED, **more}


def notification(**more):
    return {"notificationType": "TEST", "notificationUUID": str(uuid.UUID(int=1)), "version": "2.0",
            "signedDate": SIGNED, **more}


def chains():
    good = Chain()
    roots = [good.root.der]
    value = transaction()
    compare("a good chain", "transaction", good.sign(value), roots)
    compare("a chain of P-256 and SHA-256 throughout", "transaction", *signed_by(Chain(
        root={"curve": ec.SECP256R1()}, intermediate={"curve": ec.SECP256R1(), "hash_": hashes.SHA256()},
        leaf={"hash_": hashes.SHA256()}), value))
    compare("no root that matches", "transaction", good.sign(value), [Chain().root.der], "APPLE_UNTRUSTED")
    compare("two roots, the second matches", "transaction", good.sign(value), [Chain().root.der] + roots)
    x5c = good.certificates
    compare("one certificate", "transaction", good.sign(value, x5c=x5c[:1]), roots, "APPLE_CHAIN_LENGTH")
    compare("two certificates", "transaction", good.sign(value, x5c=x5c[:2]), roots, "APPLE_CHAIN_LENGTH")
    compare("four certificates", "transaction", good.sign(value, x5c=x5c + x5c[2:]), roots, "APPLE_CHAIN_LENGTH")
    compare("an empty x5c", "transaction", good.sign(value, x5c=[]), roots, "APPLE_NO_CHAIN")
    compare("no x5c", "transaction", good.sign(value, header={"x5c": None, "x5cwrong": x5c}), roots, "APPLE_NO_CHAIN")
    compare("a leaf that is no Base64", "transaction", good.sign(value, x5c=["abc"] + x5c[1:]), roots,
            "APPLE_CERTIFICATE")
    compare("an intermediate that is no DER", "transaction", good.sign(value, x5c=[x5c[0], "AAAA", x5c[2]]), roots,
            "APPLE_CERTIFICATE")
    compare("a third certificate of somebody", "transaction", good.sign(value, x5c=x5c[:2] + ["AAAA"]), roots)
    for algorithm in ("none", "HS256", "RS256", "ES384", "es256", "", None):
        compare(f"alg {algorithm}", "transaction", good.sign(value, alg=algorithm), roots,
                "APPLE_ALGORITHM")
    compare("another key", "transaction", good.sign(value, key=Chain().leaf.key), roots, "APPLE_SIGNATURE")
    compare("crit", "transaction", good.sign(value, header={"crit": ["x"], "x": 1}), roots, "APPLE_MALFORMED")
    for name, spoiled, code in [
        ("no marker of the leaf", {"leaf": {"marker": None}}, "APPLE_NO_MARKER"),
        ("no marker of the intermediate", {"intermediate": {"marker": None}}, "APPLE_NO_MARKER"),
        ("the other's marker on the leaf", {"leaf": {"marker": INTERMEDIATE}}, "APPLE_NO_MARKER"),
        ("the other's marker on the intermediate", {"intermediate": {"marker": LEAF}}, "APPLE_NO_MARKER"),
        ("a marker of the family", {"leaf": {"marker": LEAF + ".1"}}, "APPLE_NO_MARKER"),
        ("a critical marker", {"leaf": {"critical_marker": True}}, "APPLE_UNTRUSTED"),
        ("a leaf that is an authority's child only", {"intermediate": {"is_authority": False}}, "APPLE_UNTRUSTED"),
        ("no key identifiers of the leaf", {"leaf": {"identifiers": False}}, "APPLE_UNTRUSTED"),
        ("no key identifiers of the intermediate", {"intermediate": {"identifiers": False}}, "APPLE_UNTRUSTED"),
        ("no key identifiers of the root", {"root": {"identifiers": False}}, "APPLE_UNTRUSTED"),
    ]:
        compare(name, "transaction", *signed_by(Chain(**spoiled), value), code)
    second = SIGNED // 1000
    for name in ("root", "intermediate", "leaf"):
        for begins, ends, code in [
            (second, second, None), (0, second + 1, None), (0, second - 1, "APPLE_CERTIFICATE_TIME"),
            (second + 1, second + 9, "APPLE_CERTIFICATE_TIME"),
        ]:
            compare(f"{name} from {begins} to {ends}", "transaction",
                    *signed_by(Chain(**{name: {"begins": begins, "ends": ends}}), value), code)
    # A leaf of the root itself: no intermediate.
    direct = Chain()
    direct.leaf = Authority("Leaf", issuer=direct.root, marker=LEAF, is_authority=False)
    compare("a leaf of the root", "transaction", *signed_by(direct, value), "APPLE_UNTRUSTED")
    # Deliberate difference: PyJWT skips letters that are no base64url, and spare bits. Perch accepts one form.
    spare = good.sign(value) + "="
    expect(ours("transaction", spare, roots)["code"] == "APPLE_MALFORMED", "padding is accepted")


def signed_by(chain, value):
    return chain.sign(value), [chain.root.der]


def apps():
    chain = Chain()
    roots = [chain.root.der]

    def both(name, kind, value, code=None, **more):
        return compare(name, kind, chain.sign(value), roots, code, **more)

    both("another bundle", "transaction", transaction(bundleId="com.other"), "APPLE_APP_IDENTIFIER")
    both("no bundle", "transaction", transaction(bundleId=None), "APPLE_APP_IDENTIFIER")
    for environment in ("Production", "Xcode", "LocalTesting", "Tomorrow", None):
        both(f"a transaction of {environment}", "transaction", transaction(environment=environment),
             "APPLE_ENVIRONMENT")
        both(f"renewal info of {environment}", "renewalInfo", {"environment": environment, "signedDate": SIGNED},
             "APPLE_ENVIRONMENT")
    both("another bundle and environment", "transaction", transaction(bundleId="x", environment="Xcode"),
         "APPLE_APP_IDENTIFIER")
    for environment in ("Sandbox", "Xcode", "LocalTesting"):
        both(f"a transaction of {environment} for production", "transaction", transaction(environment=environment),
             "APPLE_ENVIRONMENT", environment="Production")
    both("a transaction of production", "transaction", transaction(environment="Production"),
         environment="Production")
    production = {"bundleId": BUNDLE, "environment": "Production"}
    for name in ("data", "summary", "appData"):
        both(f"{name} of the sandbox", "notification",
             notification(**{name: {"bundleId": BUNDLE, "environment": "Sandbox"}}))
        both(f"{name} of production", "notification", notification(**{name: {**production, "appAppleId": APPLE_ID}}),
             environment="Production")
        both(f"{name} of another Apple ID", "notification", notification(**{name: {**production, "appAppleId": 9}}),
             "APPLE_APP_IDENTIFIER", environment="Production")
        both(f"{name} without an Apple ID", "notification", notification(**{name: production}),
             "APPLE_APP_IDENTIFIER", environment="Production")
        both(f"{name} of another bundle", "notification",
             notification(**{name: {"bundleId": "x", "environment": "Sandbox"}}), "APPLE_APP_IDENTIFIER")
        both(f"{name} of another environment", "notification", notification(**{name: production}),
             "APPLE_ENVIRONMENT")
    token = {"bundleId": BUNDLE, "appAppleId": APPLE_ID, "externalPurchaseId": "SANDBOX_1", "tokenCreationDate": 1}
    both("a token of the sandbox", "notification", notification(externalPurchaseToken=token))
    both("a token of the sandbox for production", "notification", notification(externalPurchaseToken=token),
         "APPLE_ENVIRONMENT", environment="Production")
    token["externalPurchaseId"] = "1"
    both("a token of production", "notification", notification(externalPurchaseToken=token),
         environment="Production")
    both("a token of production for the sandbox", "notification", notification(externalPurchaseToken=token),
         "APPLE_ENVIRONMENT")
    both("a notification of nothing", "notification", notification(), "APPLE_APP_IDENTIFIER")
    both("a type of tomorrow", "notification", notification(
        notificationType="TOMORROW", subtype="LATER", data={"bundleId": BUNDLE, "environment": "Sandbox", "new": {}}))
    receipt = {"receiptType": "Sandbox", "bundleId": BUNDLE, "receiptCreationDate": SIGNED}
    both("an app transaction", "appTransaction", receipt)
    both("an app transaction of Xcode", "appTransaction", {**receipt, "receiptType": "Xcode"}, "APPLE_ENVIRONMENT")
    both("an app transaction of another bundle", "appTransaction", {**receipt, "bundleId": "x"},
         "APPLE_APP_IDENTIFIER")
    both("an app transaction of production", "appTransaction",
         {**receipt, "receiptType": "Production", "appAppleId": APPLE_ID}, environment="Production")
    both("an app transaction without an Apple ID", "appTransaction", {**receipt, "receiptType": "Production"},
         "APPLE_APP_IDENTIFIER", environment="Production")
    request = {"originalTransactionId": "1", "appAppleId": APPLE_ID, "productId": "p", "userLocale": "en-US",
               "requestIdentifier": str(uuid.UUID(int=2)), "environment": "Sandbox", "signedDate": SIGNED}
    both("a realtime request", "realtimeRequest", request)
    both("a realtime request of another Apple ID", "realtimeRequest",
         {**request, "environment": "Production", "appAppleId": 9}, "APPLE_APP_IDENTIFIER", environment="Production")
    both("a realtime request of Xcode", "realtimeRequest", {**request, "environment": "Xcode"}, "APPLE_ENVIRONMENT")
    # The library's decoder throws for what is missing here; Perch names the field.
    for name in request:
        some = {key: value for key, value in request.items() if key != name}
        if name == "signedDate":
            some["signedDate"] = None
        status, _ = library("realtimeRequest", chain.sign(some), roots)
        answer = ours("realtimeRequest", chain.sign(some), roots)
        expect(status != "OK", f"the library accepts a realtime request without {name}")
        expect(answer.get("code") == "APPLE_MALFORMED" and name in answer["message"], f"without {name}: {answer}")


def malformed():
    chain = Chain()
    roots = [chain.root.der]
    for text in ("", ".", "..", "a.b.c", "a.b.c.d", "e30.e30.", "e30.e30.AA", "bnVsbA.bnVsbA.AA"):
        status, _ = library("notification", text, roots)
        answer = ours("notification", text, roots)
        expect(status == "VERIFICATION_FAILURE" == answer["status"], f"{text!r}: {status}, {answer}")
    for payload in (b"", b"[]", b"7", b"{", b"\xff", b"{}{}"):
        compare(f"the payload {payload}", "transaction", chain.sign(payload), roots, "APPLE_MALFORMED")
    # Deliberate difference: two programs could read a key that stands twice differently.
    twice = chain.sign(json.dumps(transaction()).encode()[:-1] + b', "bundleId": "com.example.app"}')
    expect(library("transaction", twice, roots)[0] == "OK", "the library refuses a key that stands twice")
    expect(ours("transaction", twice, roots)["code"] == "APPLE_MALFORMED", "a key that stands twice is accepted")


def replaced():
    """Each byte of a value replaced in turn: Perch never accepts what the library refuses."""
    chain = Chain()
    roots = [chain.root.der]
    text = chain.sign(transaction())
    accepted = 0
    for place in range(len(text)):
        other = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1:]
        answer = ours("transaction", other, roots)
        if answer["status"] == "OK":
            accepted += 1
            expect(False, f"byte {place} replaced, and accepted")
        elif place % 97 == 0:
            status, _ = library("transaction", other, roots)
            expect(status != "OK", f"byte {place} replaced: the library accepts it")
    expect(accepted == 0, f"{accepted} of {len(text)} replaced bytes accepted")


def signed_here():
    """The library verifies everything that Perch signs, and reads the same fields."""
    authority = perch.ask(do="authority")
    root = base64.b64decode(authority["root"])
    expect(hashlib.sha256(root).hexdigest().upper() == authority["fingerprint"].replace(":", ""), "the fingerprint")
    body = "".join(authority["pem"].split("\n")[1:-2])
    expect(base64.b64decode(body) == root, "the PEM is not the root")
    samples = perch.ask(do="samples")["samples"]
    expect(len(samples) > 40, f"{len(samples)} samples")
    seen = {}
    for number, sample in enumerate(samples):
        kind, jws = sample["kind"], sample["jws"]
        value, answer = compare(f"sample {number}, {kind}", kind, jws, [root])
        if value is None:
            continue
        expect(answer["unknown"] == [] and answer["mistyped"] == [], f"sample {number}: {answer}")
        seen.setdefault(kind, set()).update(answer["payload"])
        for name, told in answer["payload"].items():
            read = getattr(value, "raw" + name[0].upper() + name[1:], None)
            if read is None:
                read = getattr(value, name, None)
            if name in ("deviceVerification", "deviceVerificationNonce") and kind == "transaction":
                continue  # The library's transactions do not have them.
            expect(read is not None, f"sample {number}: the library does not read {name}")
            if not isinstance(told, (dict, list)):
                expect(read == told, f"sample {number}: {name} is {told}, the library reads {read}")
        other = Chain().root.der
        expect(library(kind, jws, [other])[0] == "VERIFICATION_FAILURE", f"sample {number}: another root accepts it")
        expect(ours(kind, jws, [])["code"] == "APPLE_UNTRUSTED", f"sample {number}: accepted with Apple's root alone")
        expect(library(kind, jws, [root], environment="Production")[0] != "OK", f"sample {number} for production")
        expect(ours(kind, jws, [root], environment="Production")["status"] != "OK", f"sample {number} for production")
        if kind == "notification" and value.data and value.data.signedTransactionInfo:
            compare(f"the transaction in sample {number}", "transaction", value.data.signedTransactionInfo, [root])
        if kind == "notification" and value.data and value.data.signedRenewalInfo:
            compare(f"the renewal info in sample {number}", "renewalInfo", value.data.signedRenewalInfo, [root])
        if kind == "notification" and value.appData:
            compare(f"the app transaction in sample {number}", "appTransaction",
                    value.appData.signedAppTransactionInfo, [root])
    expect(set(seen) == {"transaction", "renewalInfo", "appTransaction", "notification"}, f"kinds {set(seen)}")
    expect({"data", "summary", "externalPurchaseToken", "appData"} <= seen["notification"], "objects of notifications")
    # Every instant that a test clock may show.
    for instant in (0, 1, SIGNED, 32503680000000, 253402300798000):
        jws = perch.ask(do="sign", payload=json.dumps(transaction(signedDate=instant)))["jws"]
        compare(f"signed at {instant}", "transaction", jws, [root])
    # Nothing left out that Apple documents: what the library knows of these kinds, Perch knows.
    fields = transaction(**{name: None for name in ("webOrderLineItemId",)})
    compare("a field that is null", "transaction", perch.ask(do="sign", payload=json.dumps(fields))["jws"], [root])


def known_fields():
    """Perch knows every field that the library knows."""
    import attr
    from appstoreserverlibrary.models import AppTransaction, ResponseBodyV2DecodedPayload
    from appstoreserverlibrary.models import JWSRenewalInfoDecodedPayload, JWSTransactionDecodedPayload

    def names(model):
        return [one.name for one in attr.fields(model) if not one.name.startswith("raw")]

    authority = perch.ask(do="authority")
    root = base64.b64decode(authority["root"])
    for kind, model, base in [
        ("transaction", JWSTransactionDecodedPayload.JWSTransactionDecodedPayload, transaction()),
        ("renewalInfo", JWSRenewalInfoDecodedPayload.JWSRenewalInfoDecodedPayload,
         {"environment": "Sandbox", "signedDate": SIGNED}),
        ("appTransaction", AppTransaction.AppTransaction,
         {"receiptType": "Sandbox", "bundleId": BUNDLE, "receiptCreationDate": SIGNED}),
        ("notification", ResponseBodyV2DecodedPayload.ResponseBodyV2DecodedPayload,
         notification(data={"bundleId": BUNDLE, "environment": "Sandbox"})),
    ]:
        for name in names(model):
            value = {**{name: None}, **base}
            answer = ours(kind, perch.ask(do="sign", payload=json.dumps(value))["jws"], [root])
            expect(answer.get("unknown") == [], f"Perch does not know {name} of {kind}: {answer}")
        value = {**base, "fieldOfTomorrow": 1}
        answer = ours(kind, perch.ask(do="sign", payload=json.dumps(value))["jws"], [root])
        expect(answer.get("unknown") == ["fieldOfTomorrow"], f"{kind}: {answer}")


for part in (lambda: real_chain(sys.argv[2]), chains, apps, malformed, replaced, signed_here, known_fields):
    part()
expect(perch.close() == 0, "applecheck ended with a failure")
conclude("signed values")

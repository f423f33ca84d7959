"""Stock clients: grpcio with generated code, TLS, tokens and deadlines; curl. Nothing of Perch's own."""
import json
import random
import subprocess
import sys
import threading
import time

import stubs

# Both are called `perch.v1`, and a backend may use both.
sys.path[:0] = [str(stubs.python()), str(stubs.PROTO / "clients/python/src")]
import grpc  # noqa: E402
from google.rpc import error_details_pb2  # noqa: E402
from grpc_status import rpc_status  # noqa: E402
from perch.v1 import (  # noqa: E402
    admin_service_pb2, admin_service_pb2_grpc, entitlement_service_pb2, entitlement_service_pb2_grpc, ingest_service_pb2,
    ingest_service_pb2_grpc, test_store_service_pb2, test_store_service_pb2_grpc, transaction_service_pb2,
    transaction_service_pb2_grpc)

from .waiting import GUARD_SECONDS, Hung, until  # noqa: E402

SERVICES = [(entitlement_service_pb2, entitlement_service_pb2_grpc.EntitlementServiceStub),
            (transaction_service_pb2, transaction_service_pb2_grpc.TransactionServiceStub),
            (test_store_service_pb2, test_store_service_pb2_grpc.TestStoreServiceStub),
            (ingest_service_pb2, ingest_service_pb2_grpc.IngestServiceStub),
            (admin_service_pb2, admin_service_pb2_grpc.AdminServiceStub)]
ENVIRONMENTS = {"production": 1, "sandbox": 2, "xcode": 3}
DEADLINE = 5  # Seconds, of a call. That of a stream is WATCH_DEADLINE: it is called again with its token.
WATCH_DEADLINE = 4


def details(error):
    """Perch's reason of an error, or an empty text; and whether a retry may succeed."""
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    try:
        found = getattr(rpc_status.from_call(error), "details", ())
    except ValueError:
        found = ()
    for detail in found:
        detail.Unpack(info) or detail.Unpack(retry)
    return info.reason, retry.HasField("retry_delay")


def reason(error):
    return details(error)[0]


def is_final(error):
    """The rule of proto/README.md: an error with a reason and without RetryInfo. A proxy's own errors have no reason."""
    reason, has_retry = details(error)
    return bool(reason) and not has_retry and error.code() != grpc.StatusCode.DEADLINE_EXCEEDED


class Caller:
    """Calls for one app, with one token, on a channel of its own."""

    def __init__(self, address, authority, app=None, token=None):
        self.app = {"bundle_id": app.bundle, "environment": ENVIRONMENTS[app.environment]} if app else None
        self.metadata = [("authorization", f"Bearer {token.read_text().strip()}")] if token else []
        credentials = grpc.ssl_channel_credentials(open(authority, "rb").read())
        self.channel = grpc.secure_channel(address, credentials, options=[
            ("grpc.use_local_subchannel_pool", 1), ("grpc.max_reconnect_backoff_ms", 1_000)])
        self.methods, self.retried = {}, []

    def method(self, name):
        """The request's class and the stub's method. A request whose app is left out gets the caller's."""
        if name not in self.methods:
            module, stub = next(pair for pair in SERVICES if hasattr(pair[1](self.channel), name))
            self.methods[name] = getattr(module, f"{name}Request"), getattr(stub(self.channel), name)
        return self.methods[name]

    def call(self, name, /, deadline=DEADLINE, **fields):
        """One attempt."""
        kind, method = self.method(name)
        if self.app and "app" in kind.DESCRIPTOR.fields_by_name:
            fields.setdefault("app", self.app)
        return method(kind(**fields), timeout=deadline, metadata=self.metadata)

    def refusal(self, name, /, **fields):
        """Code and reason of a call that is refused, or `None` for one that is answered. A server that is away is asked again."""
        try:
            self.insist(name, **fields)
        except grpc.RpcError as error:
            return f"{error.code().name} {reason(error)}".strip()
        return None

    def insist(self, name, /, **fields):
        """Calls again while the server is away or the deadline passes. The caller gives a key where that could do a thing twice."""
        end, pause = time.monotonic() + GUARD_SECONDS, 0.02
        while True:
            try:
                return self.call(name, **fields)
            except grpc.RpcError as error:
                if is_final(error):
                    raise
                self.retried.append(f"{error.code().name} {name}: {error.details()}")
                if time.monotonic() > end:
                    raise Hung(f"{name} had no answer for {GUARD_SECONDS} s: {error.code().name}: {error.details()}") from error
            time.sleep(random.uniform(0, pause))
            pause = min(1, pause * 2)

    def close(self):
        self.channel.close()


class Watch:
    """A stream that is called again with its token whenever it ends: after its deadline, a lost connection, a server that stops.

    `take` gets each message with a value; `values` has them all."""

    def __init__(self, caller, name, take=None, deadline=WATCH_DEADLINE, heartbeat=10, token_field="resume_token", **fields):
        self.caller, self.name, self.fields, self.deadline = caller, name, fields, deadline
        self.take, self.heartbeat, self.token_field = take, heartbeat, token_field
        self.values, self.bookmarks, self.lost, self.error, self.token = [], [], [], None, b""
        self.is_over, self.opened, self.unchanged, self.restarts, self.failures = False, 0, 0, 0, []
        self.call = None
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        failures = 0
        while not self.is_over:
            kind, method = self.caller.method(self.name)
            request = kind(app=self.caller.app, **self.fields)
            setattr(request, self.token_field, self.token)
            began = time.monotonic()
            try:
                self.call = method(request, timeout=self.deadline, wait_for_ready=True,
                                   metadata=self.caller.metadata + [("perch-heartbeat", str(self.heartbeat))])
                for message in self.call:
                    self.took(message)
                ended = "it ended"
            except grpc.RpcError as error:
                if self.is_over:
                    return
                ended = f"{error.code().name} {reason(error)} {error.details()}"
                if reason(error).startswith("TOKEN_") and self.token_field == "resume_token":
                    self.token, self.restarts = b"", self.restarts + 1
                elif is_final(error):
                    self.error = ended
                    return
            except ValueError:  # The channel was closed.
                return
            self.lost.append(ended)
            if ended.startswith("DEADLINE_EXCEEDED"):
                continue
            failures = failures + 1 if time.monotonic() - began < 10 else 0
            time.sleep(random.uniform(0, min(1, 0.02 * 2 ** failures)))

    def took(self, message):
        if message.HasField("bookmark"):
            self.bookmarks.append(message.bookmark)
            return
        if self.token_field == "cursor":
            self.token = message.cursor
            self.opened += 1
            self.values.append(message)
        else:
            state = message.WhichOneof("state")
            if state == "success":
                self.token = message.info.resume_token
                self.values.append(message)
            elif state == "unchanged":
                self.unchanged += 1
            elif state == "failure":
                self.failures.append(message.failure)
            if state in ("success", "unchanged"):
                self.opened += 1
        if self.take:
            self.take(message)

    def until(self, what, holds):
        """Waits until `holds` is true of this watch, which must not end with an error."""
        def check():
            if self.error:
                raise AssertionError(f"the stream {self.name} ended with {self.error} before: {what}")
            return holds()
        return until(what, check, lambda: f"{self.values[-2:]}, lost {self.lost[-3:]}, failures {self.failures[-2:]}")

    def close(self):
        self.is_over = True
        if self.call:
            self.call.cancel()


class Entitlements(Watch):
    """The named entitlements of an account, live: `has("plus")` as an app asks it."""

    def __init__(self, caller, account, **options):
        self.account = account
        super().__init__(caller, "EntitlementsTask", account=account, **options)
        self.until(f"the first entitlements of {account}", lambda: self.opened)

    @property
    def active(self):
        """Names with their tiers."""
        entitlements = self.values[-1].success.entitlements if self.values else ()
        return {each.name: each.tier for each in entitlements if each.active}

    def has(self, name):
        return name in self.active

    def kept(self, name):
        """Whether it had this from the first value with it on. The values before may be several, since a store that was out of reach
        for a moment tells the same once more."""
        had = [any(each.name == name and each.active for each in value.success.entitlements) for value in self.values]
        return True in had and all(had[had.index(True):])

    def waits_for(self, name, is_there=True):
        self.until(f"{self.account} {'has' if is_there else 'has lost'} {name}", lambda: self.has(name) == is_there)


class Changes(Watch):
    """Every change of an app, by cursor."""

    def __init__(self, caller, **options):
        super().__init__(caller, "AppChanges", token_field="cursor", **options)
        self.until("the place where the app's changes begin", lambda: self.opened)

    @property
    def of_accounts(self):
        return [each for each in self.values if each.account]

    def bought(self):
        """The transactions that became known, each as often as it was told."""
        return [(each.account, entitlement.transaction.transaction.id)
                for each in self.of_accounts for entitlement in each.entitlements if entitlement.HasField("transaction")]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    @property
    def passes(self):
        """Who asks again may get another answer: nobody was there, or a server says after which time."""
        return self.status in (0, 502, 504) or self.status == 503 and "retry-after" in self.headers

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Curl:
    """curl, which trusts one authority, and asks again while the server is away."""

    def __init__(self, authority):
        self.authority = authority

    def __call__(self, url, *arguments, **what):
        answer = None

        def final():
            nonlocal answer
            answer = self.once(url, *arguments, **what)
            return None if answer.passes else answer

        return until(f"an answer of {url}", final, lambda: answer)

    def once(self, url, *arguments, token=None, json_body=None, data=None):
        words = ["curl", "--silent", "--show-error", "--noproxy", "*", "--include", "--max-time", "60", "--cacert", self.authority, *arguments]
        if token:
            words += ["--header", f"authorization: Bearer {token.read_text().strip()}"]
        if json_body is not None:
            data = json.dumps(json_body)
        if data is not None:
            words += ["--header", "content-type: application/json", "--data-binary", "@-"]
        done = subprocess.run([*map(str, words), url], input=(data or "").encode(), capture_output=True)
        if done.returncode:
            return Answer(0, {}, done.stderr)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        while head.startswith((b"HTTP/1.1 100", b"HTTP/1.1 200 Connection established")):
            head, _, body = body.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return Answer(int(first.split()[1]), headers, body)

"""A test store that stands in for the App Store, and a backend beside it with Apple's own library."""
import json
import os
import pathlib
import subprocess

import requests
from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from server import SERVICE_OF, Server
from trial import PERCH, SAMPLE
from waiting import free_port

BUNDLE = "com.example.twin"


class Twin(Server):
    """A server whose test app is the App Store of the process that starts it."""

    def __init__(self, directory, *more, store="memory", catalogue=SAMPLE, time_rate=0):
        self.directory = pathlib.Path(directory)
        self.twin_port = free_port()
        super().__init__(PERCH, catalogue, store, self.directory / "server.log", "--twin-listen", f"127.0.0.1:{self.twin_port}",
                         "--twin-directory", str(self.directory / "twin"), *more, bundle=BUNDLE, time_rate=time_rate)

    def start(self):
        super().start()
        self.facts = json.loads(subprocess.run(
            [PERCH, "twin", str(self.directory / "twin"), "--app", BUNDLE, "-o", "json"], check=True, capture_output=True, text=True).stdout)
        # What `eval "$(perch twin …)"` does for a backend. The library reads both at each request.
        os.environ["HTTPS_PROXY"], os.environ["REQUESTS_CA_BUNDLE"] = self.facts["HTTPS_PROXY"], self.facts["REQUESTS_CA_BUNDLE"]
        self.connection = self.connect()

    def run_here(self, *arguments):
        """A command of `perch` that asks no server."""
        return subprocess.run([self.perch, *map(str, arguments)], capture_output=True, text=True, timeout=60)

    def call(self, method, **request):
        """The answer of a unary call; an error is its JSON, with `code`."""
        return self.post(f"/perch.v1.{SERVICE_OF[method]}/{method}", request, connection=self.connection)[1]

    def operate(self, account, **operation):
        answer = self.call("Operate", account=account, operation=operation)
        if "code" in answer:
            raise RuntimeError(f"{operation}: {answer}")
        return answer

    def buy(self, account, product, **order):
        """A purchase a moment after the last one, where the app's clock stands still."""
        if "--clock" in self.arguments:
            self.call("SetClock", advanceByMs="1000")
        answer = self.call("Purchase", account=account, order={"productId": product, **order})
        if "transaction" not in answer:
            raise RuntimeError(f"{product}: {answer}")
        return answer["transaction"]["transaction"]

    def transactions(self, account):
        """All transactions of an account by number, as the test store says."""
        found, token = {}, ""
        while True:
            page = self.call("ListTransactions", account=account, includeFinishedConsumables=True, **({"pageToken": token} if token else {}))
            found |= {one["transaction"]["id"]: one["transaction"] for one in page.get("transactions", [])}
            token = page.get("nextPageToken")
            if not token:
                return found

    def client(self, environment=Environment.SANDBOX, bundle=BUNDLE, key=None, key_id=None, issuer=None):
        return AppStoreServerAPIClient(
            key or pathlib.Path(self.facts["APPLE_KEY_FILE"]).read_bytes(), key_id or self.facts["APPLE_KEY_ID"],
            issuer or self.facts["APPLE_ISSUER_ID"], bundle, environment)

    @property
    def root(self):
        return x509.load_pem_x509_certificate(pathlib.Path(self.facts["APPLE_ROOT"]).read_bytes())

    def verifier(self, online=True):
        """Apple's verifier, strict, which asks the responder of each chain."""
        verifier = SignedDataVerifier([self.root.public_bytes(serialization.Encoding.DER)], online, Environment.SANDBOX, BUNDLE)
        verifier._chain_verifier.enable_strict_checks = True
        return verifier


def refusal(call):
    """The status of HTTP and Apple's error with which a call is refused; (200, None) if it is not."""
    try:
        call()
    except APIException as error:
        return error.http_status_code, error.raw_api_error
    return 200, None


def plain(method, port, path, **options):
    """A request without Apple's library, past every proxy."""
    session = requests.Session()
    session.trust_env = False
    return session.request(method, f"http://127.0.0.1:{port}{path}", timeout=60, **options)

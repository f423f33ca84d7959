"""Perch as production has it: TLS, a token for each role, two apps of the App Store and a test app, nginx in front.

`sqlite` is one server on a file; `nodes` are two on one database of PostgreSQL.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import time
import uuid

import certificates
from appstore import AppStore
from database import Database
from tokens import Keys
from trial import ROOT

from .clients import Caller, Changes, Curl, Entitlements
from .nginx import Front
from .server import Server
from .waiting import GUARD_SECONDS, until

App = collections.namedtuple("App", "bundle environment")
SHOP, READER = App("com.example.shop", "sandbox"), App("com.example.reader", "sandbox")
LAB = App("com.example.shop", "xcode")  # The same app, with Perch as its store.
UNAVAILABLE = 5  # The exit status of a command whose server cannot be reached now, or did not answer in time.


class Broken(Exception):
    """A sentence that should hold, and does not."""

    def __init__(self, sentence, found):
        super().__init__(f"{sentence}{f': {found}' if found else ''}")
        self.sentence = sentence


class World:
    """What a story plays in. `is_control` takes out the protection that the story names."""

    def __init__(self, directory, shared, perch, setting, is_control=False, is_full=False, old_perch=None):
        self.directory, self.shared, self.perch_program = pathlib.Path(directory), pathlib.Path(shared), pathlib.Path(perch)
        self.setting, self.is_control, self.is_full = setting, is_control, is_full
        self.old_perch = old_perch and pathlib.Path(old_perch)
        self.checks, self.closing, self.callers = 0, [], {}
        self.directory.mkdir(parents=True)
        self.database, self.nodes, self.front = None, [], None
        # Settings of the servers and of apple.json, which a story may change before `start`.
        self.settings, self.apple_settings, self.web_accounts, self.further_roots = {}, {}, {}, []
        self.node_options = {}

    # Checks

    def check(self, sentence, holds, found=None):
        self.checks += 1
        if not holds:
            raise Broken(sentence, found)

    def equal(self, sentence, found, wanted):
        self.check(sentence, found == wanted, f"found {found!r}, not {wanted!r}")

    # Its parts

    def start(self, program=None):
        """Makes keys and certificates, adds the apps to an empty store, and starts the nodes and the proxy."""
        self.prepare()
        for number, app in enumerate((SHOP, READER, LAB)):
            adding = self.server(f"add-{number}", program, app, add_app=number > 0, http="off", apple=False)
            adding.start()
            self.equal("a server that only adds an app ends with 0", adding.stop(), 0)
        names = ["a", "b"] if self.setting == "nodes" else ["a"]
        self.nodes = [self.server(f"node-{name}", program, **self.node_options) for name in names]
        for node in self.nodes:
            node.start()
        # An app's own backend adds the token of its customer: nginx does it here, below /as/ACCOUNT/.
        self.front.start(self.nodes, {name: self.token("read", app, name).read_text().strip() for name, app in self.web_accounts.items()})
        return self

    def prepare(self):
        tls = self.directory / "tls"
        tls.mkdir()
        self.authority = certificates.Authority(tls)
        self.certificate, self.key = self.authority.sign("perch", names="DNS:localhost,IP:127.0.0.1", days=90)
        self.front = Front(self.directory / "front", self.certificate, self.key)
        self.ca = self.authority.pem("authority")
        (tls / "tickets").write_bytes(os.urandom(64))
        (tls / "tickets").chmod(0o600)
        self.tickets = tls / "tickets"
        self.keys = Keys(self.perch_program, self.directory / "tokens")
        self.curl = Curl(self.ca)
        self.app_store = AppStore(SHOP.bundle)
        self.reader_store = AppStore(READER.bundle, chain=self.app_store.chain)
        for number, root in enumerate([self.app_store.root, *self.further_roots]):
            (self.directory / f"root-{number}.pem").write_bytes(root)
        self.write_apple_settings()
        self.catalog = self.directory / "shop.storekit"
        shutil.copy(ROOT / "deploy/sample.storekit", self.catalog)
        shutil.copy(ROOT / "deploy/sample.entitlements.json", self.directory / "shop.entitlements.json")
        if self.setting == "nodes":
            self.database = Database(self.directory / "postgres", template=self.shared)
            self.database.start()
            self.store = self.database.url
        else:
            self.store = self.directory / "store"

    def write_apple_settings(self):
        roots = [path.name for path in sorted(self.directory.glob("root-*.pem"))]
        apps = [{"bundle_id": app.bundle, "environment": app.environment, "roots": roots} | self.apple_settings for app in (SHOP, READER)]
        (self.directory / "apple.json").write_text(json.dumps({"apps": apps}))

    def server(self, name, program=None, app=SHOP, apple=True, **settings):
        """A server of this world, which is not started."""
        common = {"store": self.store, "catalog": self.catalog, "bundle_id": app.bundle, "environment": app.environment,
                  "allow_mixed_environments": True, "tls_certificate": self.certificate, "tls_key": self.key,
                  "tls_ticket_secret": self.tickets, "token_keys": self.keys.public, "console": "on", "allow_origin": self.front.origin, "loops": 1}
        if apple:
            common["apple_apps"] = self.directory / "apple.json"
        made = Server(program or self.perch_program, self.directory / f"{name}.log", **(common | self.settings | settings))
        self.closing.append(made)
        return made

    # Who calls

    def token(self, scope, app=SHOP, account=None, **options):
        return self.keys.token(scope, app, account, **options)

    def caller(self, scope, app=SHOP, account=None, port=None):
        """A stock client behind the proxy, with a token of its role; `port` names another server."""
        key = scope, app, account, port
        if key not in self.callers:
            token = self.token(scope, app, account) if scope else None
            self.callers[key] = Caller(f"localhost:{port or self.front.grpc}", self.ca, app, token)
            self.closing.append(self.callers[key])
        return self.callers[key]

    def caller_of(self, token, app):
        """A client behind the proxy with this token."""
        made = Caller(f"localhost:{self.front.grpc}", self.ca, app, token)
        self.closing.append(made)
        return made

    def entitlements(self, account, app=SHOP, **options):
        """The live entitlements of a customer, whose device has a token of that account alone."""
        made = Entitlements(self.caller("read", app, account), account, **options)
        self.closing.append(made)
        return made

    def changes(self, app=SHOP, **options):
        made = Changes(self.caller("read", app), **options)
        self.closing.append(made)
        return made

    def buy(self, account, product, key, caller=None, **order):
        """A purchase in the test app, which a lost answer does not double."""
        caller = caller or self.caller("write", LAB)
        return caller.insist("Purchase", account=account, idempotency_key=key.encode(), order={"product_id": product, **order})

    def operate(self, account, **operation):
        """Its key is new, so that an answer that comes after the deadline does nothing twice."""
        return self.caller("test", LAB).insist("Operate", account=account, idempotency_key=uuid.uuid4().bytes, operation=operation)

    def transactions(self, account, app=LAB, caller=None):
        """All transactions of an account, oldest first."""
        caller, found, page = caller or self.caller("read", app), [], b""
        while True:
            answer = caller.insist("ListTransactions", account=account, page_token=page, include_finished_consumables=True)
            found += [each.transaction for each in answer.transactions]
            page = answer.next_page_token
            if not page:
                return found

    def browser(self):
        from .chromium import Chromium
        made = Chromium(self.certificate)
        self.closing.append(made)
        return made

    def page(self, account):
        """A page of an app that follows its customer's entitlements by EventSource. `start` has to know of the account."""
        made = self.browser()
        made.open(f"{self.front.origin}/.well-known/jwks.json")
        made.follows(f"/as/{account}/perch.v1.EntitlementService/EntitlementsTask?account={account}")
        return made

    def notify(self, body):
        """Posts as Apple does, which comes again after what passes."""
        return self.curl(f"https://localhost:{self.front.apple}/apple/notifications", data=body)

    def perch(self, *arguments, token=None, app=None, node=None, succeeds=True):
        """The command line of an operator, which calls a node directly. Returns what it printed."""
        node = node or self.nodes[0]
        words = [self.perch_program, *arguments, "--server", f"localhost:{node.port}", "--tls-ca", self.ca]
        if token:
            words += ["--credentials-file", token]
        if app:
            words += ["--bundle-id", app.bundle, "--environment", app.environment]
        return self.run(words, succeeds)

    def doctor(self, node=None):
        """What the doctor says to the operator. It is asked again where a thread of the server waited for a core for five seconds."""
        token, said = self.token("admin", None), []

        def whole():
            said.append(self.perch("doctor", token=token, node=node, succeeds=None))
            return "did not answer within" not in said[-1]

        until("a doctor whom all threads answer", whole, lambda: said[-1])
        return said[-1]

    def run(self, words, succeeds=True):
        """A command. An operator gives it again if it may succeed later: a node that stood still refuses until its database has
        told it what it missed."""
        done = None

        def final():
            nonlocal done
            done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  env=os.environ | {"PERCH_TIMEOUT": f"{GUARD_SECONDS}s"})
            return done.returncode != UNAVAILABLE

        until(f"an answer to `perch {' '.join(map(str, words[1:4]))}`", final, lambda: done.stderr[-1500:])
        if succeeds is not None:
            self.check(f"`perch {' '.join(map(str, words[1:4]))}` {'succeeds' if succeeds else 'fails'}", (done.returncode == 0) == succeeds,
                       f"{done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done.stdout + done.stderr

    def other_node(self, node):
        return next((each for each in self.nodes if each is not node), node)

    def close(self):
        for each in reversed(self.closing):
            each.close()
        if self.front:
            self.front.kill()
        if self.database:
            self.database.stop()

    def lasts(self, seconds, full):
        """A moment so many seconds from now, `full` in a long run."""
        return time.monotonic() + (full if self.is_full else seconds)

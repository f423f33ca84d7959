"""Compares copies of an app's entitlements with an exhaustive read of the server at the same position.

    judge.py ROUNDS ACCOUNTS [--nodes] [--sandbox] [--seed N] [--control]

A round: random changes of random accounts by several writers; then a blow: a kill, a new mapping, a moved clock, an erased account, a copy
that begins again; then the app's clock is stopped, every copy catches up, and each account is compared. Subscriptions last two
seconds, so time begins and ends many of them while there is no change.

--sandbox: an app of the App Store, whose accounts have several keys. Names of customers are attached, moved and taken away, accounts are
merged, and each account, merged key and name is compared. Its clock is real, so nothing ends during a comparison.
"""
import json
import random
import sys
import threading
import time

import trial
from copies import Copy
from database import Database
from server import Process, Server
from trial import CATALOG, PERCH, WORK
from waiting import until
from wire import ADMIN, APP, READS, STORE, TRANSACTIONS, Caller

TIME_RATE = 1005  # Every period lasts two seconds.
PRODUCTS = [f"com.example.{name}" for name in ("weekly", "monthly", "yearly", "lifetime", "season", "coins")]
MAPPING = {
    "plus": [("yearly", "gold"), ("monthly", "silver"), ("lifetime", "silver")],
    "news": [("weekly", "")],
    "season": [("season", "")],
}
CHANGES_A_ROUND, WRITERS, CHECKED_AT_ONCE = 400, 4, 200
SANDBOX = {"bundle_id": APP["bundle_id"], "environment": 2}
HOUR_MS = 3_600_000


def write_mapping(names):
    """The file of entitlements beside the catalogue."""
    rules = [{"name": name, "from": [{"product": f"com.example.{product}"} | ({"tier": tier} if tier else {})
                                     for product, tier in MAPPING[name]]} for name in names]
    (WORK / "shop.entitlements.json").write_text(json.dumps({"entitlements": rules}))


class Judge:
    def __init__(self, arguments):
        (WORK / "shop.storekit").write_bytes(CATALOG.read_bytes())
        write_mapping(MAPPING)
        self.database = Database(WORK / "postgres") if arguments.nodes else None
        store = self.database.url if self.database else WORK / "store"
        self.is_sandbox, self.app = arguments.sandbox, SANDBOX if arguments.sandbox else APP
        more, rate = (["--environment", "sandbox"], None) if self.is_sandbox else ([], TIME_RATE)
        self.servers = [Server(PERCH, WORK / "shop.storekit", store, WORK / f"server{number or ''}.log", *more, time_rate=rate)
                        for number in range(2 if self.database else 1)]
        self.accounts = [f"customer-{number:06}" for number in range(arguments.accounts)]
        # Names of customers: the app's own UUIDs, and Apple's numbers.
        self.names = [f"7e3fb204-2db1-4bbb-9a33-{number:012}" if number % 2 else f"70{number:016}"
                      for number in range(len(self.accounts) // 10 if self.is_sandbox else 0)]
        self.random, self.control = random.Random(arguments.seed), arguments.control
        self.faults, self.compared, self.entitled, self.aliases = [], 0, 0, 0
        self.copies = [Copy(self.address, app=self.app)] + [Copy(self.address, shard, 2, self.app) for shard in range(2)]

    def address(self):
        """Of any server."""
        return random.choice(self.servers).address

    def caller(self):
        return Caller(self.address(), client_name="judge", heartbeat_seconds=10)

    # Changes

    def change(self, caller, random):
        account = random.choice(self.accounts)
        kind = random.randrange(10)
        if kind < 6:
            caller.ask(TRANSACTIONS + "Purchase", app=APP, account=account, order={"product_id": random.choice(PRODUCTS)})
        elif kind < 8:
            operation = {"set_auto_renew": {"target": {"product_id": random.choice(PRODUCTS[:3])}, "enabled": random.random() < 0.3}}
            caller.ask(STORE + "Operate", app=APP, account=account, operation=operation)
        elif kind < 9:
            operation = {"refund": {"target": {"product_id": random.choice(PRODUCTS[:4])}}}
            caller.ask(STORE + "Operate", app=APP, account=account, operation=operation)
        else:
            caller.ask(ADMIN + "GrantEntitlement", app=APP, account=account, name=random.choice(["plus", "support"]))

    def change_of_names(self, caller, random):
        # A name that is attached is another key; another one becomes an account's own key.
        account, kind = random.choice(self.accounts if random.randrange(8) else self.names), random.randrange(10)
        if kind < 3:
            until = {"until_ms": int(time.time() * 1_000) + HOUR_MS} if random.random() < 0.5 else {}
            caller.ask(ADMIN + "GrantEntitlement", app=self.app, account=account, name=random.choice(["plus", "support"]), **until)
        elif kind < 5:
            caller.ask(ADMIN + "RevokeGrant", app=self.app, account=account, name=random.choice(["plus", "support"]))
        elif kind < 8:
            caller.ask(ADMIN + "AttachAlias", app=self.app, account=account, **self.alias(random))
        elif kind < 9:
            caller.ask(ADMIN + "DetachAlias", app=self.app, **self.alias(random))
        else:
            caller.ask(ADMIN + "MergeAccounts", app=self.app, account=account, into_account=random.choice(self.accounts))

    def alias(self, random):
        name = random.choice(self.names)
        return {"app_account_token" if "-" in name else "app_transaction_id": name}

    def write(self, seed, count):
        source = random.Random(seed)
        try:
            caller = self.caller()
            for _ in range(count):
                (self.change_of_names if self.is_sandbox else self.change)(caller, source)
            caller.close()
        except (OSError, ConnectionError):
            pass  # A kill.

    def changes(self, count):
        writers = [threading.Thread(target=self.write, args=(self.random.randrange(1 << 31), count // WRITERS), daemon=True)
                   for _ in range(WRITERS)]
        for writer in writers:
            writer.start()
        return writers

    # Blows

    def kill(self):
        server = self.random.choice(self.servers)
        server.kill()
        server.start()

    def mapping(self):
        names = self.random.sample(sorted(MAPPING), self.random.randrange(1, 4))
        write_mapping(names)
        for server in self.servers:
            server.restart()

    def clock(self):
        self.caller().get(STORE + "SetClock", app=APP, advance_by_ms=self.random.randrange(1, 6_000))

    def erase(self):
        caller = self.caller()
        for account in self.random.sample(self.accounts, 3):
            caller.ask(ADMIN + "EraseAccount", app=self.app, account=account)

    def again(self):
        self.random.choice(self.copies).forget()

    def away(self):
        self.random.choice(self.copies).leave()

    # The comparison

    def caught_up(self, revision):
        return all(copy.copies and copy.building is None and copy.clock and (copy.clock.frozen or self.is_sandbox)
                   and max(copy.passed, copy.position[1]) >= revision for copy in self.copies)

    def compare(self):
        """At one revision of a stopped clock. Renewals that were due when it stopped may still be committed."""
        caller = self.caller()
        now = self.stop_clock(caller)
        for copy in self.copies:
            self.faults += copy.faults
            copy.faults = []
        found, revision = None, self.revision(caller)
        while found is None:
            until(lambda: self.caught_up(revision), lambda: "the copies are at " + str(
                [(copy.copies, copy.building is None, copy.passed, copy.position, copy.clock) for copy in self.copies])
                + f", the server is at {revision}")
            found, read_at = self.differences(caller, now), revision
            revision = self.revision(caller)
            if revision != read_at:
                found = None
        self.faults += found
        self.start_clock(caller)
        caller.close()

    def stop_clock(self, caller):
        if self.is_sandbox:
            return int(time.time() * 1_000)
        return caller.get(STORE + "SetClock", app=APP, freeze={}).clock.now_ms

    def start_clock(self, caller):
        if not self.is_sandbox:
            caller.get(STORE + "SetClock", app=APP, resume={})

    def revision(self, caller):
        return caller.get(ADMIN + "GetServerStatus").revision

    def differences(self, caller, now):
        whole, *shards = self.copies
        found = []
        with whole.lock, shards[0].lock, shards[1].lock:
            if self.control:
                whole.entries.pop(next(iter(whole.entries)))
            together = {name: entry[0] for shard in shards for name, entry in shard.entries.items()}
            asked = self.accounts + self.names
            for begin in range(0, len(asked), CHECKED_AT_ONCE):
                found += self.read(caller, asked[begin:begin + CHECKED_AT_ONCE], whole, now)
            for name in whole.entries.keys() | together.keys():
                one, other = whole.entries.get(name, ((),))[0], together.get(name, ())
                if [part for part in one if part[1] > now] != [part for part in other if part[1] > now]:
                    found.append(f"{name} is {one} in the whole copy and {other} in its shard")
            aliases = {alias: name for shard in shards for alias, name in shard.aliases.items()}
            count = sum(len(shard.aliases) for shard in shards)
            if whole.aliases != aliases or len(aliases) != count:
                found.append(f"the whole copy has {len(whole.aliases)} aliases, the shards have {count}: "
                             f"{sorted(whole.aliases.items() ^ aliases.items())[:4]}")
            self.aliases = max(self.aliases, len(aliases))
        return found

    def read(self, caller, accounts, copy, now):
        """Reads some accounts at once. Answers where the copy has something else."""
        streams = {caller.call(READS + "GetEntitlements", app=self.app, account=account): account for account in accounts}
        answers = {}
        while len(answers) < len(streams):
            frame = caller.read()
            if frame is None:
                raise ConnectionError("the server closed the connection")
            if frame.stream in streams and hasattr(frame.message, "success"):
                answers[streams[frame.stream]] = {each.name: each.tier for each in frame.message.success.entitlements if each.active}
        found = []
        for account, answered in answers.items():
            copied = copy.has(account, now)
            self.compared += 1
            self.entitled += bool(answered)
            if copied != answered:
                found.append(f"{account} has {answered}, and the copy says {copied}")
        return found

    def commands(self):
        """`perch entitlements list --all` and `perch copy` have what the copies have."""
        file = WORK / "copy.ndjson"
        keeper = Process([PERCH, "copy", file, "--every", "10ms", "--server", "%s:%d" % self.address()], WORK / "copy.log").spawn()
        caller = self.caller()
        now = self.stop_clock(caller)
        revision = self.revision(caller)
        until(lambda: self.caught_up(revision), "the copies do not catch up")
        wanted = {account: found for account in self.copies[0].entries if (found := self.copies[0].has(account, now))}
        listed = self.servers[0].run("entitlements", "list", "--all", "-o", "ndjson")
        found = {each["account"]: {one["name"]: one.get("tier", "") for one in each["entitlements"]}
                 for each in map(json.loads, listed.stdout.splitlines())}
        if found != wanted:
            self.faults.append(f"list --all has {len(found)} accounts, the copy {len(wanted)}: {listed.stderr}")

        def kept():
            lines = map(json.loads, file.read_text().splitlines()) if file.exists() else []
            return {each["account"] for each in lines if any(int(one.get("untilMs", now + 1)) > now for one in each["entitlements"])} == lasting
        lasting = {account for account, (segments, _) in self.copies[0].entries.items() if any(until > now for _, until, _ in segments)}
        until(kept, lambda: f"the file of perch copy does not become equal: {keeper.lines}")
        keeper.stop()
        self.start_clock(caller)
        caller.close()

    def run(self, rounds):
        if self.database:
            self.database.start()
        for server in self.servers:
            server.start()
        for copy in self.copies:
            copy.start()
        filler = self.caller()
        for account in self.accounts[::3]:
            if self.is_sandbox:
                filler.get(ADMIN + "GrantEntitlement", app=self.app, account=account, name="plus")
            else:
                filler.get(TRANSACTIONS + "Purchase", app=APP, account=account, order={"product_id": "com.example.lifetime"})
        blows = [self.kill, self.mapping, self.clock, self.erase, self.again, self.away]
        if self.is_sandbox:
            blows.remove(self.clock)
        began = time.monotonic()
        for number in range(rounds):
            writers = self.changes(CHANGES_A_ROUND)
            # Each once, and then any.
            blow = blows[number] if number < len(blows) else self.random.choice(blows)
            time.sleep(self.random.random() / 2)
            begun = sum(copy.copies for copy in self.copies)
            blow()
            for writer in writers:
                writer.join()
            self.compare()
            if blow == self.erase and number and sum(copy.copies for copy in self.copies) != begun:
                self.faults.append("a copy began again because of an erased account")
            if self.faults:
                print(f"copies: round {number} after {blow.__name__}: {len(self.faults)} differences", file=sys.stderr)
                break
        if not self.faults:
            self.commands()
        for copy in self.copies:
            copy.reading = False
            copy.leave()
        for server in self.servers:
            if status := server.stop():
                self.faults.append(f"a server ended with {status}")
        if self.database:
            self.database.kill()
        for fault in self.faults[:10]:
            print(f"copies: {fault[:600]}", file=sys.stderr)
        print(f"copies: {self.compared} accounts compared in {time.monotonic() - began:.0f} s, {self.entitled} of them entitled; "
              f"{sum(copy.copies for copy in self.copies)} copies, {sum(copy.resumed for copy in self.copies)} resumed, "
              f"{sum(copy.batches for copy in self.copies)} batches, {self.aliases} aliases; they {'differ' if self.faults else 'agree'}", flush=True)
        if self.control:
            return 0 if self.faults else 1
        return 1 if self.faults or not self.entitled or (self.is_sandbox and not self.aliases) else 0


def main():
    parser = trial.options(__doc__, "--control", "--nodes", "--sandbox")
    parser.add_argument("rounds", type=int)
    parser.add_argument("accounts", type=int)
    arguments = parser.parse_args()
    print(f"copies: seed {arguments.seed}", flush=True)
    sys.exit(Judge(arguments).run(arguments.rounds))


main()

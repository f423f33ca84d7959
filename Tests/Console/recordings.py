"""Random sessions of the console, recorded there: each recording plays again in the console and by `perch scenario run`, to the same state."""
import json
import os
import pathlib
import random
import re
import subprocess
import urllib.error
import urllib.request

from checks import check, equal
from server import Server
from support import PLUS, sees
from trial import CATALOG as OTHER
from trial import SAMPLE as CATALOG
from waiting import PATIENCE_SECONDS

# What a session does not do: it leaves the test store, or a scenario has no word for it.
LEFT_OUT = ("Export", "Erase…", "Grant…", "Move a purchase…", "Post message", "Clear transactions", "Cancel", "Redeem code…", "Request consumption", "Share…", "Stop sharing…")
NAMES = ("ann", "Bert Smith", 'the "real" one', "zoë", "<b>x</b>", "customer-7", "buy", "a, b")
# Who is there before a recording begins.
BEFORE = ("asked", "coins", "ends", "fails", "long", "refunded", "renews")
STEPS = ("+ 1 day", "+ 1 week", "+ 30 days", "+ 1 hour")
SWITCHES = ("Dialogs", "Ask to Buy", "Billing retry on renewal", "Grace period")

BUTTONS = """
    return [...document.querySelectorAll('main [aria-label=Actions] button, main [aria-label^=Subscription] button, main [aria-label^="A purchase"] button, .timeline .target button')]
      .filter((each) => !each.disabled && each.checkVisibility() && !each.ariaLabel && !/^transaction /.test(each.innerText)).map((each) => each.innerText.trim());"""


def state(call, account, start):
    """What an account has, by instants since the start."""
    transactions, token = [], ""
    while True:
        page = call("TransactionService/ListTransactions", {"account": account, "includeFinishedConsumables": True, "pageSize": 500, **({"pageToken": token} if token else {})})
        transactions += [each["transaction"] for each in page.get("transactions", [])]
        token = page.get("nextPageToken", "")
        if not token:
            break
    try:
        groups = call("TestStoreService/InspectAccount", {"account": account})
    except urllib.error.HTTPError as error:
        # Everything that was asked for was refused, so that the account was never opened.
        assert error.code == 404, error
        groups = {}

    def since(each, name):
        return int(each[name]) - start if name in each else None
    return {
        "transactions": [(each["productId"], each.get("reason", ""), since(each, "purchaseDateMs"), since(each, "expirationDateMs"), each.get("price"), each.get("offer"),
                          since(each["revocation"], "dateMs") if "revocation" in each else None, each.get("isUpgraded", False)) for each in transactions],
        "statuses": [(group.get("groupId"), status["state"], status["renewalInfo"]["renewalInfo"].get("willAutoRenew", False), status["renewalInfo"]["renewalInfo"].get("autoRenewPreference"))
                     for group in groups.get("groups", []) for status in group.get("statuses", {}).get("statuses", [])],
        "waits": [each["order"]["productId"] for each in groups.get("pendingPurchases", [])], "intents": [each["productId"] for each in groups.get("purchaseIntents", [])],
        "charges": groups.get("charges"), "forbidden": groups.get("paymentsForbidden", False),
    }


class Session:
    def __init__(self, site, browser, draw):
        self.site, self.browser, self.draw, self.done = site, browser, draw, []

    def hash(self, page):
        self.browser.run("location.hash = arguments[0]", f"#/{page}")

    def settled(self):
        """The account's page has read what it shows."""
        self.browser.until(lambda: self.browser.run("const page = document.querySelector('perch-account-page'); return page && page.data && !page.reading"), 10, "the account is read")

    def act(self, account):
        """Presses one of the buttons on an account's page, and fills its dialog."""
        from urllib.parse import quote
        browser, draw = self.browser, self.draw
        self.hash(f"account/{quote(account, safe='')}")
        browser.until(lambda: browser.text("h1") == account, 10, "the account")
        self.settled()
        browser.run("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
        links = browser.run("return [...document.querySelectorAll('.timeline button.link')].map((each) => each.innerText).filter((each) => each.startsWith('transaction'))")
        if links and draw.random() < 0.4:
            browser.click(draw.choice(links), "[aria-label=Timeline]")
        buttons = [each for each in browser.run(BUTTONS) if not any(each.startswith(left) for left in LEFT_OUT)]
        if not any(each.startswith("Refund") for each in buttons) and draw.random() < 0.7:
            buttons = [each for each in buttons if each.startswith("Buy")]
        if not buttons:
            return
        label = draw.choice(buttons)
        browser.run("document.querySelector('.did').hidden = true; window.heard = []")
        if not browser.run(f"const found = (() => {{ {browser.FIND} }})(); if (!found) return false; found.click(); return true;", label, "button", "main"):
            return
        self.done.append(f"{account}: {label}")
        if browser.run("return document.querySelector('dialog[open]') !== null") or label.endswith("…"):
            browser.until(lambda: browser.run("return document.querySelector('dialog[open]') !== null"), 10, f"the dialog of {label}")
            self.fill()
        browser.until(lambda: browser.run("return !document.querySelector('dialog[open]')"), 10, "no dialog")
        browser.until(lambda: browser.run("return window.heard.length > 0 || document.querySelector('.did:not([hidden])') !== null"), 10, f"a word about {label}")

    def fill(self):
        browser, draw = self.browser, self.draw
        fields = browser.run("""
            document.querySelectorAll('dialog details').forEach((each) => { each.open = true; });
            return [...document.querySelectorAll('dialog input, dialog select')].map((each) => [each.name, each.tagName === 'SELECT' ? [...each.options].map((option) => option.value) : each.type]);""")
        for name, kind in fields:
            value = None
            if isinstance(kind, list):
                value = draw.choice(kind) if name in ("productId", "reason", "id", "consent", "introductoryEligibility") else None
            elif kind == "checkbox":
                value = draw.random() < 0.2
            elif name == "days":
                value = str(draw.randrange(1, 20))
            elif name == "price":
                value = f"{draw.randrange(1, 30)}.99"
            elif name == "storefront":
                value = draw.choice(("DEU", "USA"))
            elif name == "daysAgo" and draw.random() < 0.1:
                value = str(draw.randrange(1, 90))
            elif name == "part" and draw.random() < 0.3:
                value = "50"
            if value is not None:
                browser.run("""
                    const field = document.querySelector(`dialog [name="${arguments[0]}"]`);
                    if (field.type === 'checkbox') field.checked = arguments[1]; else field.value = arguments[1];
                    field.dispatchEvent(new Event('input', {bubbles: true}));""", name, value)
        browser.run("document.querySelector('dialog .bar button[type=submit]').click()")

    def time(self):
        step = self.draw.choice(STEPS)
        self.done.append(step)
        before = int(self.site.call("TestStoreService/GetClock")["clock"]["nowMs"])
        self.hash("clock")
        self.browser.click(step, "main")
        self.browser.until(lambda: int(self.site.call("TestStoreService/GetClock")["clock"]["nowMs"]) - before >= 3_600_000, 10, "the clock")
        self.browser.shows("set", "main [aria-label=Now]")

    def switch(self):
        label, on = self.draw.choice(SWITCHES), self.draw.random() < 0.5
        self.done.append(f"{label}: {on}")
        self.hash("settings")
        self.browser.shows(label, "main")
        self.browser.fill(label, on, "main")

    def run(self, length):
        accounts = self.draw.sample(NAMES, 2)
        accounts = [f"{each} {self.draw.randrange(10 ** 9)}" for each in accounts]
        for _ in range(length):
            dice = self.draw.random()
            if dice < 0.75:
                self.act(self.draw.choice(accounts))
            elif dice < 0.92:
                self.time()
            else:
                self.switch()
        return accounts


def play(perch, work, text, start, accounts, number):
    """The recording on a fresh server: the state of each account."""
    folder = work / f"recording-{number}"
    folder.mkdir()
    (folder / "recorded.scenario").write_text(text)
    # The file has its own catalogue.
    server = Server(perch, OTHER, "memory", folder / "server.log")
    server.start()
    try:
        def call(method, request=None):
            asked = urllib.request.Request(f"http://127.0.0.1:{server.port}/perch.v1.{method}", json.dumps(request or {}).encode(), {"content-type": "application/json"})
            with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as answer:
                return json.loads(answer.read())
        done = subprocess.run([perch, "scenario", "run", "--server", f"127.0.0.1:{server.port}", str(folder / "recorded.scenario")], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        equal(done.returncode, 0, f"the scenario\n{text}\nsays {done.stdout}{done.stderr}: the status")
        # The dates of a recording of the past are read four years later, and accounts have names of their own.
        now = int(call("TestStoreService/GetClock")["clock"]["nowMs"])
        cycle = 1461 * 86_400_000
        shift = round((now - start) / cycle) * cycle
        names = call("TestStoreService/ListAccounts", {"pageSize": 100}).get("accounts", [])
        found = {}
        for account in accounts:
            mine = [each for each in names if account in each]
            found[account] = state(call, mine[0] if mine else account, start + shift)
        return found
    finally:
        server.kill()


def run(perch, work, make, browser, count, length, is_random):
    # Part of `make test` is the same session every time.
    seed = int(os.environ.get("RECORDING_SEED") or (random.randrange(10 ** 6) if is_random else 1))
    print(f"        recordings: RECORDING_SEED={seed} repeats them")
    site = make("recordings")
    before(site)
    try:
        sessions(perch, pathlib.Path(work), site, browser, count, length, seed)
    finally:
        site.stop()


def sessions(perch, work, site, browser, count, length, seed):
    for number in range(count):
        draw = random.Random(seed + number)
        with check(f"recordings: what session {seed + number} did plays to the same state, in the console and by perch scenario run"):
            browser.open("about:blank")
            site.configure({"reset": True}, {"dialogs": False})
            browser.open(site.page("record"))
            browser.click("Clear", "main")
            browser.click("Record", "main")
            browser.shows("recording,", "main")
            session = Session(site, browser, draw)
            accounts = session.run(length)
            if number == 0:
                # A reload loses nothing.
                browser.driver.refresh()
            session.hash("record")
            browser.click("Stop", "main")
            played(browser)
            text = downloaded(browser)
            assert "cannot be played" not in text, text
            # A length alone would switch the grace period on.
            assert re.search(r"^grace period \d+ days (on|off)$", text, re.MULTILINE), text
            kept = browser.run("return JSON.parse(sessionStorage.getItem('perch-recording'))")
            used = [account for account, _ in kept["accounts"]]
            here = {account: state(site.call, account, kept["startMs"]) for account in used}
            there = play(perch, work, text, kept["startMs"], used, number)
            assert {each: there[each] for each in used} == here, f"done {session.done}\n{text}\nhere {here}\nthere {there}"
            assert "what they had" in browser.text("[aria-label=Play]"), f"{browser.text('[aria-label=Play]')}\n{text}"
            if number == 0:
                equal([each for each in BEFORE if each not in used], ["long"], f"who is not in the recording, of who was there before")
                sees(browser, "Left out, because no steps tell how they came to what they have: long.", "main")
                assert re.fullmatch(r"perch scenario run recorded-\d{8}-\d{6}\.scenario", browser.text("[aria-label=Play] code")), "the command"


def played(browser):
    """A recording that ends is played by itself."""
    browser.until(lambda: any(each in browser.text("[aria-label=Play]") for each in ("what they had", "ended otherwise", "could not be played")), 60, "a result")


def downloaded(browser):
    return browser.run("""
        let file;
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { file = blob; return make.call(URL, blob); };
        [...document.querySelectorAll('main button')].find((each) => each.textContent === 'Download').click();
        URL.createObjectURL = make;
        return file.text();""")


def before(site):
    """Customers who are there before a recording begins, each with a past of its own."""
    def buy(account, product, **order):
        site.call("TransactionService/Purchase", {"account": account, "order": {"productId": product, **order}})

    def pass_days(days):
        site.call("TestStoreService/SetClock", {"advanceByMs": str(days * 86_400_000)})

    site.call("TestStoreService/SetClock", {"freeze": {}})
    for account in ("renews", "fails", "ends", "refunded", "long", "asked"):
        buy(account, PLUS)
    site.operate("fails", {"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
    site.operate("ends", {"setAutoRenew": {"target": {"productId": PLUS}, "enabled": False}})
    pass_days(40)
    site.operate("refunded", {"refund": {"target": {"productId": PLUS}, "reason": "REVOCATION_REASON_DEVELOPER_ISSUE"}})
    site.operate("asked", {"raisePrice": {"target": {"productId": PLUS}, "priceMilliunits": "7990", "consent": "PRICE_CONSENT_NEEDED"}})
    site.operate("asked", {"answerPriceIncrease": {"target": {"productId": PLUS}, "agrees": True}})
    # No step of a scenario makes a period as long as this one was made.
    site.operate("long", {"extendRenewal": {"target": {"productId": PLUS}, "byMs": str(5 * 86_400_000)}})
    buy("coins", "app.perch.coins", quantity=2)
    buy("coins", "app.perch.coins")
    site.operate("coins", {"setPayments": {"allowed": False}})
    site.call("TestStoreService/SetClock", {"resume": {}})


__all__ = ["run"]

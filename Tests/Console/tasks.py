"""Ten tasks of people who answer customers, each from a page of the console, by what is visible: at most six actions, and the answer can be
seen. On an app of the App Store and on a test app. With a folder it takes a picture after each action.

An action is a key, a click, or a text that is typed.
"""
import contextlib
import pathlib
import re
import subprocess
import tempfile
import urllib.request

from selenium.webdriver.common.keys import Keys

import recordings
from appstore import now
from checks import check, equal
from support import DAY, PLUS, SHOP, TEST, Production, point, sees
from waiting import PATIENCE_SECONDS, until

ACTIONS_MAX = 6


class Player:
    def __init__(self, browser, folder=None):
        self.browser, self.folder, self.table = browser, folder, []

    @contextlib.contextmanager
    def task(self, name):
        """Begins at the list of accounts, signed in."""
        self.name, self.actions = name, 0
        with check(f"tasks: {name}, in at most {ACTIONS_MAX} actions"):
            self.browser.run("location.hash = '#/audit'")
            self.browser.shows("Audit", "h1")
            self.browser.run("location.hash = '#/accounts'")
            self.browser.until(lambda: self.browser.text("h1") in ("Accounts", "Find a customer"), 10, "the first page")
            yield self
            self.picture("end")
            self.table.append((name, self.actions))
            assert self.actions <= ACTIONS_MAX, self.actions

    def picture(self, label=""):
        if not self.folder:
            return
        self.browser.settles()
        words = re.sub(r"\W+", "-", f"{self.name}-{self.actions}-{label}").strip("-").lower()
        self.browser.picture(self.folder / f"{words}.png", whole=False)

    def key(self, key):
        self.actions += 1
        self.browser.driver.switch_to.active_element.send_keys(key)
        self.picture()

    def click(self, label, within="main"):
        self.actions += 1
        sees(self.browser, label.rstrip("…"), within)
        point(self.browser, label, within)
        self.picture(label)

    def fill(self, label, text, within="dialog"):
        """A click into a field, and its text. In a dialog the field that is needed has the focus already."""
        if within == "dialog":
            focused = self.browser.run("return document.activeElement.closest('label')?.innerText ?? ''")
            assert focused.startswith(label), f"the focus of the dialog is at {focused}, and not at {label}"
        else:
            self.actions += 1
        self.actions += 1
        self.browser.fill(label, text, within)
        self.picture(label)

    def find(self, text, found=None):
        """By the box on every page."""
        self.browser.run("document.activeElement.blur()")
        self.key("/")
        self.key(text)
        sees(self.browser, found or text, ".found")
        self.picture("found")
        self.key(Keys.ENTER)

    def answer(self, text, within="main"):
        sees(self.browser, text, within)


class Cast:
    """Customers of both apps, each in the state of a task."""

    def __init__(self, production):
        self.production, self.apple, self.site = production, production.apple, production.site
        self.listener = self.browser_port()

    def browser_port(self):
        # Its line comes behind the one that says that the server serves.
        return int(until(lambda: re.search(r"127\.0\.0\.1:(\d+)/apple/notifications", "\n".join(self.site.server.lines)), "the listener's line")[1])

    def notify(self, kind, transaction, renewal=None, subtype=None):
        body = self.apple.notification(kind, transaction, renewal, subtype)
        asked = urllib.request.Request(f"http://127.0.0.1:{self.listener}/apple/notifications", body.encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(asked, timeout=120) as answer:
            assert answer.status == 200

    def submit(self, account, *values):
        token = self.production.token("ingest", SHOP, "shop")
        self.site.call("IngestService/SubmitTransaction", {"app": {"bundleId": SHOP, "environment": "ENVIRONMENT_SANDBOX"}, "account": account, "signedValues": [self.apple.sign(each) for each in values]}, token)

    def plus(self, original, **more):
        return self.apple.transaction(original, subscriptionGroupIdentifier="plus", **more)

    def shop(self):
        renewal = self.apple.renewal
        failed = self.plus(9001, begin=now() - 40 * DAY)
        self.submit("clara", failed, renewal(failed, expirationIntent=2, isInBillingRetryPeriod=True))
        for original in (9010, 9012):
            twice = self.plus(original, begin=now() - (original - 9000) * 60_000)
            self.submit("dora", twice, renewal(twice))
        bought = self.plus(9020, begin=now() - 5 * DAY)
        self.submit("emma", bought, renewal(bought))
        refunded = bought | {"revocationDate": now() - DAY, "revocationReason": 1, "signedDate": now()}
        self.notify("REFUND", refunded, renewal(refunded, status=0, signedDate=now()))
        for original, account in ((9030, "fay"), (9060, "ivy"), (9070, "jane"), (9080, "kate"), (9090, "lena")):
            each = self.plus(original, begin=now() - DAY)
            self.submit(account, each, renewal(each))
        grace = self.plus(9040, begin=now() - 31 * DAY)
        self.submit("gina", grace, renewal(grace, expirationIntent=2, isInBillingRetryPeriod=True, gracePeriodExpiresDate=now() + 15 * DAY))
        self.submit("ines", self.plus(9065, begin=now() - 400 * DAY))
        self.site.call("AdminService/GrantEntitlement", {"app": {"bundleId": SHOP, "environment": "ENVIRONMENT_SANDBOX"}, "account": "hana", "name": "plus", "reason": "the app was down"},
                       self.production.token("admin", "*", "bob"))

    def test(self):
        call = self.production.test

        def operate(account, operation):
            call("TestStoreService/Operate", account=account, operation=operation)

        call("TestStoreService/Configure", settings=[{"gracePeriod": True}, {"gracePeriodDays": 16}])
        for account in ("clara", "gina"):
            call("TransactionService/Purchase", account=account, order={"productId": PLUS, "introductoryEligibility": "INTRODUCTORY_ELIGIBILITY_DENIED"})
            operate(account, {"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
            if account == "clara":
                call("TestStoreService/SetClock", advanceByMs=str(20 * DAY))
        call("TestStoreService/SetClock", advanceByMs=str(32 * DAY))
        for account in ("emma", "fay", "kate", "lena"):
            call("TransactionService/Purchase", account=account, order={"productId": PLUS, "introductoryEligibility": "INTRODUCTORY_ELIGIBILITY_DENIED"})
        for product in ("app.perch.coins", "app.perch.coins"):
            call("TransactionService/Purchase", account="dora", order={"productId": product})
        operate("emma", {"refund": {"target": {"productId": PLUS}}})
        self.site.call("AdminService/GrantEntitlement", {"app": {"bundleId": TEST, "environment": "ENVIRONMENT_XCODE"}, "account": "hana", "name": "plus", "reason": "the app was down"},
                       self.production.token("admin", "*", "bob"))


def run(perch, make, work, browser, folder=None):
    (work / "tasks").mkdir()
    production = Production(perch, make, work / "tasks")
    try:
        cast = Cast(production)
        cast.shop()
        cast.test()
        first = shop(production, browser, folder)
        beside(production, browser)
        players = [first, test(production, browser, folder)]
        for player in players:
            for name, actions in player.table:
                print(f"        {actions} actions: {name}")
    finally:
        browser.run("sessionStorage.clear()")
        production.site.stop()


def shop(production, browser, folder):
    player = Player(browser, folder)
    production.enter(browser, production.token("read", SHOP, "ann"))
    sees(browser, "ann · read", "header")
    with player.task("App Store, why has she no access"):
        player.find("clara")
        player.answer("The card was declined on", "[aria-label=Now]")
        player.answer("no access to Plus Monthly", "[aria-label=Now]")
    with player.task("App Store, she bought twice"):
        player.find("dora")
        player.answer("twice, and is charged for each", "[aria-label=Now]")
        links = browser.run("return [...document.querySelectorAll('[aria-label=Now] .note a')].map((each) => each.innerText)")
        equal(sorted(links), ["transaction 9010", "transaction 9012"], "the two purchases")
    with player.task("App Store, a refund was granted"):
        player.find("emma")
        player.answer("Plus Monthly was refunded on", "[aria-label=Now]")
        refunded = re.search(r"was refunded on (\d+ \w+)", browser.text("[aria-label=Now]"))[1]
        ended = re.findall(r"ended on (\d+ \w+)", browser.text("[aria-label=Entitlements]"))
        assert ended and set(ended) == {refunded}, (ended, refunded)
    with player.task("App Store, the card failed"):
        player.find("gina")
        player.answer("The card was declined on", "[aria-label=Now]")
        player.answer("gina keeps Plus Monthly until", "[aria-label=Now]")
        player.answer("it no longer entitles: in billing retry period", "[aria-label=Explanation]")
        assert not browser.find("Products", "a", "nav.pages"), "a page in the navigation that the token may not use"
    with player.task("App Store, who granted this"):
        player.find("hana")
        player.answer("by bob: “the app was down”", "[aria-label=Entitlements]")
    with player.task("App Store, find by order ID"):
        player.find("90700", "jane")
        player.answer("jane has Plus Monthly until", "[aria-label=Now]")
    with player.task("App Store, rehearse a price rise"):
        player.find("lena")
        player.fill("New price", "12.99", "[aria-label='What if']")
        player.click("Higher price", "[aria-label='What if']")
        for text in ("If it is agreed to:", "then it would renew for $12.99", "If it is not agreed to:", "It would not renew"):
            player.answer(text, "[aria-label='What if']")
    production.enter(browser, production.admin)
    sees(browser, "ada · admin", "header")
    production.choose(browser, SHOP)
    with player.task("App Store, give a week"):
        player.find("fay")
        player.click("Give free days…", "[aria-label=Actions]")
        sees(browser, "fay keeps Plus Monthly until", "dialog")
        player.click("Give", "dialog .bar")
        player.answer("7 free days are given: Plus Monthly until", ".did")
    with player.task("App Store, a purchase landed at the wrong account"):
        player.find("ivy")
        player.click("Move a purchase…", "[aria-label=Actions]")
        player.fill("To the account", "ines")
        player.key(Keys.ENTER)
        player.answer("The purchase is moved", ".did")
        # Nothing is said of a customer who never bought.
        player.answer("ivy has nothing at the moment. Plus Monthly was moved to ines on", "[aria-label=Now]")
        equal(visible(browser, "Explanation"), [], "an explanation of purchases that are elsewhere")
    with player.task("App Store, erase"):
        player.find("kate")
        player.click("Erase…", "[aria-label=Actions]")
        player.fill("Type kate to go on", "kate")
        player.click("Erase", "dialog .bar")
        player.answer("kate is erased.", ".did")
        gone(browser)
    with player.task("App Store, what did Apple say"):
        player.click("Incoming", "nav.pages")
        sees(browser, "REFUND", "section[aria-label=Notifications] li")
        equal(browser.run("return document.querySelector('[aria-label=\"Purchases that need somebody\"] a').hash"), "#/account/ines", "the link to whom a purchase needs")
        player.click(browser.text("section[aria-label=Notifications] li summary")[:12], "section[aria-label=Notifications] li")
        player.answer('"notificationType": "REFUND"', "section[aria-label=Notifications] li")
    return player


def plays_elsewhere(production, browser):
    """The downloaded recording, by the command of the page, on an empty server: its customers have what they have here."""
    folder = pathlib.Path(tempfile.mkdtemp())
    text = recordings.downloaded(browser)
    assert '"kate": expect status "plus": subscribed app.perch.plus.monthly' in text, text
    # Free days, a billing problem that was resolved, and a price that waits for an answer.
    sees(browser, "no steps tell how they came to what they have: fay, gina, lena.", "main")
    command = browser.run("return document.querySelector('[aria-label=Play] code').textContent").split()
    (folder / command[-1]).write_text(text)
    done = subprocess.run([production.perch, *command[1:]], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    equal((command[0], done.returncode), ("perch", 0), f"{text} says {done.stdout}{done.stderr}: the program and its status")


def visible(browser, label):
    return browser.run("return [...document.querySelectorAll(`main [aria-label='${arguments[0]}']`)].filter((each) => each.checkVisibility()).map((each) => each.innerText)", label)


def beside(production, browser):
    """What people who tried the tasks did not find, or were frightened of."""
    with check("tasks: a move leads to the other account, and back"):
        production.go(browser, "account/ivy")
        for said, other in (("was moved from here to ines", "ines"), ("was moved here from ivy", "ivy")):
            sees(browser, said, "[aria-label=Timeline]")
            point(browser, other, "[aria-label=Timeline] li .soft")
            browser.shows(other, "h1")
    with check("tasks: one name for one thing: what the shop shows, and the technical name small beside it"):
        production.go(browser, "account/jane")
        sees(browser, "Plus Monthly", "[aria-label=Entitlements] b")
        equal(browser.text("[aria-label=Entitlements] code"), "plus", "what the app asks for")
        sees(browser, "Details of Plus Monthly", "[aria-label=Entitlements]")
        equal(browser.run("return document.querySelectorAll('[aria-label=Entitlements] .has > li').length"), 1, "the rows of one subscription")
        sees(browser, "Plus Monthly", "[aria-label=Explanation] h3")
        assert "Perch Plus" not in browser.text("main"), browser.text("main")
    with check("tasks: the audit trail says in words who did what to whom, of the app that is chosen or of all, in two languages"):
        browser.run("location.hash = '#/audit'")
        browser.shows("ada moved the purchase 9060 to ines", "main tbody")
        browser.shows("bob gave hana plus", "main tbody")
        assert TEST not in browser.text("main tbody") and "setCharges" not in browser.text("main tbody"), browser.text("main tbody")
        browser.fill("Every app, and the server itself", True, "main")
        browser.shows("chose whether charges of clara fail", "main tbody")
        point(browser, "Deutsch", "main")
        browser.shows("ada hat den Kauf 9060 zu ines übertragen", "main tbody")
        sees(browser, "Alle Apps und der Server selbst", "main")
        point(browser, "English", "main")
        point(browser, "ines", "main tbody")
        browser.shows("ines", "h1")
    with check("tasks: a grant beside a subscription is shown, and can be ended"):
        production.go(browser, "account/fay")
        sees(browser, "granted on", "[aria-label=Entitlements]")
        point(browser, "End grant", "[aria-label=Entitlements]")
        sees(browser, "The grant of plus ends now", "dialog")
        point(browser, "Cancel", "dialog .bar")
    with check("tasks: a refund leads to the notification that reported it, which begins with what it says"):
        production.go(browser, "account/emma")
        point(browser, "what the App Store said", "[aria-label=Timeline]")
        for text in ("Refunded", "for an issue with the app", "emma", '"notificationType": "REFUND"'):
            sees(browser, text, "section[aria-label=Notifications] li")
    with check("tasks: a purchase does not move to a name that is written wrongly without a warning, and names are offered"):
        production.go(browser, "account/ines")
        point(browser, "Move a purchase…", "[aria-label=Actions]")
        browser.fill("To the account", "ine", "dialog")
        sees(browser, "There is no account ine: this creates it.", "dialog .effect")
        browser.until(lambda: browser.run("return [...document.querySelectorAll('dialog datalist option')].map((each) => each.value)") == ["ines"], 5, "the offered name")
        browser.fill("To the account", "ivy", "dialog")
        browser.hides("There is no account", "dialog .effect")
        browser.fill("To the account", "Ivy", "dialog")
        sees(browser, "belongs to ivy from now on", "dialog .effect")
        point(browser, "Cancel", "dialog .bar")
    with check("tasks: behind a note the next key is no part of another"):
        production.go(browser, "account/dora")
        browser.until(lambda: browser.run("document.querySelector('[aria-label=Note]').focus(); return true"), 5, "the field of a note")
        browser.driver.switch_to.active_element.send_keys("called back on Friday", Keys.ENTER)
        sees(browser, "ada wrote: called back on Friday", "[aria-label=Timeline]")
        browser.driver.switch_to.active_element.send_keys("/")
        equal(browser.run("return document.activeElement.getAttribute('aria-label')"), "Find anybody", "the focus behind /")
    with check("tasks: the page of notifications says where those of a test app go, and shows none of another app"):
        production.choose(browser, TEST)
        browser.run("location.hash = '#/incoming'")
        sees(browser, "The App Store sends nothing for a test app.", "main")
        sees(browser, "of other apps", "main")
        equal(browser.find("REFUND", "summary", "main"), None, "a notification of another app")
        sees(browser, "Test clock", "header")


def gone(browser):
    """Nothing can be done with a customer who was erased, and nothing is said of what they have."""
    sees(browser, "kate is erased.", ".did")
    sees(browser, "All accounts", "[aria-label=Now]")
    browser.hides("Search for another name", "[aria-label=Now]")
    left = browser.run("return [...document.querySelectorAll('main .card')].filter((each) => each.checkVisibility()).map((each) => each.ariaLabel)")
    equal(left, ["Now"], "the parts of the page")


def test(production, browser, folder):
    player = Player(browser, folder)
    production.enter(browser, production.token("read", TEST, "ann", "xcode"))
    sees(browser, "ann · read", "header")
    with player.task("test app, why has she no access"):
        player.find("clara")
        player.answer("no access to Plus Monthly", "[aria-label=Now]")
        past = browser.run("return [...document.querySelectorAll('[aria-label=Timeline] li:not(.next) time')].map((each) => each.innerText)")
        assert past and all(each.endswith("ago") for each in past), f"what happened, on the clock of the app: {past}"
    with player.task("test app, a refund was granted"):
        player.find("emma")
        player.answer("Plus Monthly was refunded on", "[aria-label=Now]")
    with player.task("test app, who granted this"):
        player.find("hana")
        player.answer("by bob: “the app was down”", "[aria-label=Entitlements]")
    with player.task("test app, find by order ID"):
        order = production.test("TransactionService/ListTransactions", account="lena")["transactions"][0]["transaction"]["webOrderLineItemId"]
        player.find(order, "lena")
        player.answer("lena has Plus Monthly until", "[aria-label=Now]")
    production.enter(browser, production.admin)
    sees(browser, "ada · admin", "header")
    production.choose(browser, TEST)
    with player.task("test app, she bought twice"):
        player.find("dora")
        player.click("Refund…", "[aria-label=Actions]")
        choices = browser.run("return [...document.querySelector('dialog select').options].map((each) => each.text)")
        equal((len(choices), len(set(choices))), (2, 2), f"purchases that can be told apart in {choices}")
        player.click("Refund", "dialog .bar")
        player.answer("is refunded.", ".did")
        coins = production.test("TransactionService/ListTransactions", account="dora", includeFinishedConsumables=True)["transactions"]
        equal(sorted("revocation" in each["transaction"] for each in coins), [False, True], "which of the two is refunded")
    with player.task("test app, give a week"):
        player.find("fay")
        player.click("Give free days…", "[aria-label=Actions]")
        player.click("Give", "dialog .bar")
        player.answer("7 free days are given.", ".did")
    with player.task("test app, the card failed"):
        player.find("gina")
        player.answer("The card was declined on", "[aria-label=Now]")
        player.click("Resolve billing problem…", "[aria-label=Actions]")
        player.click("Resolve", "dialog .bar")
        player.answer("The charge succeeded.", ".did")
    with player.task("test app, rehearse a price rise"):
        player.find("lena")
        player.click("Raise price…", "[aria-label=Actions]")
        player.fill("New price", "12.99")
        player.click("Raise price", "dialog .bar")
        player.answer("renews only if lena agrees to the higher price", "[aria-label=Now]")
        player.answer("The price is raised to $12.99.", ".did")
    with player.task("test app, a month passes, recorded"):
        player.click("Record", "nav.pages")
        player.click("Record", "main .bar")
        player.click("+ 1 month", "main")
        sees(browser, "renewed.", "[aria-label=Time]")
        player.click("Stop", "main .bar")
        player.click("Download", "main")
        # A colleague has the file alone.
        plays_elsewhere(production, browser)
    with player.task("test app, erase"):
        player.find("kate")
        player.click("Erase…", "[aria-label=Actions]")
        player.fill("Type kate to go on", "kate")
        player.click("Erase", "dialog .bar")
        player.answer("kate is erased.", ".did")
        gone(browser)
    return player


__all__ = ["run"]

"""What people who answer customers need, with production's settings: credentials on, a support token that may only read, an app of the
App Store beside a test app. What is seen is asked of the point on the screen, not of the text of the page."""
import base64
import json
import subprocess

from selenium.webdriver.common.keys import Keys

from appstore import AppStore, now
from chains import Chain
from checks import check, equal

PLUS = "app.perch.plus.monthly"
SHOP, TEST = "app.perch.sample", "com.example.app"
DAY = 86_400_000

# Whether the middle of an element is what a person sees and can click there.
SEEN = """
    const [text, within] = arguments;
    const root = document.querySelector(within);
    if (!root) return `nothing is ${within}`;
    const range = document.createRange();
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    let why = `no text says ${text}`;
    for (let node; (node = walker.nextNode());) {
      const at = node.data.indexOf(text);
      if (at < 0 || !node.parentElement.checkVisibility()) continue;
      node.parentElement.scrollIntoView({block: 'nearest'});
      range.setStart(node, at);
      range.setEnd(node, at + text.length);
      const box = range.getClientRects()[0];
      if (!box) { why = 'it has no place'; continue; }
      const [x, y] = [box.left + Math.min(box.width, 40) / 2, box.top + box.height / 2];
      const top = document.elementFromPoint(x, y);
      if (top && (node.parentElement.contains(top) || top.contains(node.parentElement) && top === node.parentElement.closest('a, button, li, p, dd, td, summary, label') )) return '';
      why = `over it is ${top?.outerHTML.slice(0, 120)}, at ${x}, ${y}`;
    }
    return why;"""


def sees(browser, text, within="body"):
    """Waits until a text is on the screen, with nothing over it."""
    looks = []

    def look():
        looks.append(browser.run(SEEN, text, within))
        return looks[-1] == ""

    try:
        browser.until(look, 10, f"{text!r} seen in {within}")
    except AssertionError as error:
        raise AssertionError(f"{text!r} is not seen: {looks[-1]}; {error}") from error


class Hand:
    """The mouse on a control, where that is on the screen."""

    def __init__(self, browser, label, within="body", kind="button, a, summary"):
        browser.until(lambda: browser.find(label, kind, within), 10, f"a control {label!r}")
        self.browser = browser
        self.at = browser.run(f"const found = (() => {{ {browser.FIND} }})(); found.scrollIntoView({{block: 'nearest'}}); const box = found.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2];", label, kind, within)

    def press(self):
        self.does("mousePressed")

    def release(self):
        self.does("mouseReleased")

    def does(self, event):
        self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": event, "x": self.at[0], "y": self.at[1], "button": "left", "clickCount": 1})


def point(browser, label, within="body", kind="button, a, summary"):
    """Clicks the control with the mouse."""
    hand = Hand(browser, label, within, kind)
    hand.press()
    hand.release()


def cuts(browser, method, status):
    """Each answer to a method is cut from now on. An empty text: none is."""
    browser.run("""
        window.answered ??= window.fetch;
        window.fetch = !arguments[0] ? window.answered : (address, ...rest) => (String(address).endsWith(arguments[0])
          ? Promise.resolve(new Response(new ReadableStream({pull: (body) => body.error(new TypeError('cut by the test'))}), {status: arguments[1]})) : window.answered(address, ...rest));""", method, status)


def asks_nothing(browser):
    """For three seconds of the page. What it began before may still come; a page that polls never does this."""
    browser.collect()
    before = len(browser.requests)
    until = browser.run("return performance.now()") + 3_000
    browser.until(lambda: browser.run("return performance.now()") > until, 10, "three seconds later")
    browser.collect()
    return len(browser.requests) == before


def refuses(browser, method):
    """Each call of a method is refused from now on, without the server. An empty text: none is."""
    browser.run("""
        window.answered ??= window.fetch;
        window.fetch = !arguments[0] ? window.answered : (address, ...rest) => (String(address).endsWith(arguments[0])
          ? Promise.resolve(new Response(JSON.stringify({code: 'permission_denied', message: 'refused by the test'}), {status: 403})) : window.answered(address, ...rest));""", method)


def words_to_read(browser):
    """The texts of a customer's page that are in the customer's language."""
    return browser.run("""
        return [...document.querySelectorAll('.answer, [aria-label=Next], [aria-label="What if"]')].flatMap((place) => {
          const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT), found = [...place.querySelectorAll('[placeholder]')].map((each) => each.placeholder);
          while (walker.nextNode()) found.push(walker.currentNode.data.trim());
          return found.filter((text) => /\\p{L}/u.test(text));
        });""")


def active(browser):
    return browser.run("return document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText")


class Production:
    """A server as it is in production, and its tokens."""

    def __init__(self, perch, make, work):
        self.perch, self.apple, folder = perch, AppStore(SHOP, chain=Chain()), work / "production"
        folder.mkdir()
        (folder / "root.pem").write_bytes(self.apple.chain.pem)
        (folder / "apple.json").write_text(json.dumps({"apps": [{"bundle_id": SHOP, "environment": "sandbox", "roots": ["root.pem"]}]}))
        self.key = folder / "main.jwk"
        subprocess.run([perch, "token", "key", "create", "--to", str(self.key)], check=True, capture_output=True)
        # The test app is there, and the app of the App Store is added.
        store = folder / "store"
        make("first", bundle=TEST, store=store).stop()
        self.site = make("production", store=store, more=["--add-app", "--allow-mixed-environments", "--environment", "sandbox", "--apple-apps", str(folder / "apple.json"), "--apple-listen", "127.0.0.1:0",
                                             "--token-keys", str(folder / "main.pub.jwk")], bundle=SHOP)
        self.admin = self.token("admin", "*", "ada")

    def token(self, scope, app, subject, environment="sandbox", expires="1h", more=()):
        made = subprocess.run([self.perch, "token", "create", "--key", str(self.key), "--app", app, "--environment", environment, "--scope", scope,
                               "--subject", subject, "--expires", expires, *more], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    def call(self, method, request):
        return self.site.call(method, request, self.admin)

    def shop(self, method, **request):
        return self.call(method, {"app": {"bundleId": SHOP, "environment": "ENVIRONMENT_SANDBOX"}, **request})

    def test(self, method, **request):
        return self.call(method, {"app": {"bundleId": TEST, "environment": "ENVIRONMENT_XCODE"}, **request})

    def report(self, original, account="", **more):
        """A transaction as Apple signs it, without renewal information."""
        signed = self.apple.sign(self.apple.transaction(original, subscriptionGroupIdentifier="plus", price=4990, currency="USD", **more))
        token = self.token("ingest", SHOP, "shop")
        self.site.call("IngestService/SubmitTransaction", {"app": {"bundleId": SHOP, "environment": "ENVIRONMENT_SANDBOX"}, "account": account, "signedValues": [signed]}, token)

    @staticmethod
    def choose(browser, bundle):
        browser.until(lambda: browser.run("""
            const apps = document.querySelector('[aria-label=App]');
            const at = [...apps.options].findIndex((each) => each.text.startsWith(arguments[0]));
            if (at < 0) return false;
            apps.selectedIndex = at;
            apps.dispatchEvent(new Event('change'));
            return true;""", bundle), 10, f"the app {bundle}")

    @staticmethod
    def go(browser, page):
        """Another page of the same window."""
        browser.run("location.hash = '#/clock'")
        browser.shows("Clock", "h1")
        browser.run("location.hash = arguments[0]", f"#/{page}")

    def enter(self, browser, token, page="accounts"):
        browser.open("about:blank")
        browser.open(self.site.page(page))

        def asks_for_token():
            # Chromium may give a page that is opened again the session storage of a page before it.
            if "Sign out" in browser.text("body"):
                browser.run("sessionStorage.clear(); location.reload()")
                return False
            return "Token" in browser.text("main")

        browser.until(asks_for_token, 5, "the form to sign in")
        browser.fill("Token", token)
        point(browser, "Sign in", "main")


def run(perch, make, work, browser):
    production = Production(perch, make, work)
    try:
        reader(production, browser)
        operator(production, browser)
        money_and_time(production, browser)
    finally:
        browser.run("sessionStorage.clear()")
        production.site.stop()


def reader(production, browser):
    site = production.site
    for number, account in enumerate(("petra", "quinn", "rosa")):
        production.report(8001 + number, account)
    production.report(8010, "gone", begin=now() - 40 * DAY)
    support = production.token("read", SHOP, "ann")
    with check("support: a token that may only read finds a customer of the App Store, and gets a sentence to read out"):
        production.enter(browser, support)
        sees(browser, "ann · read", "header")
        sees(browser, "needs the scope", "main")
        browser.run("document.activeElement.blur()")
        browser.driver.switch_to.active_element.send_keys("/")
        equal(active(browser), "Find anybody", "the focus after /")
        browser.driver.switch_to.active_element.send_keys("petra")
        sees(browser, "an account of this name", ".found")
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        browser.shows("petra", "h1")
        sees(browser, "petra has Plus Monthly until", "[aria-label=Now]")
        sees(browser, "Whether it renews was not reported.", "[aria-label=Now]")
        for wrong in ("The catalogue has no group", "renews in", "renews for", "Plus Monthly renews"):
            assert wrong not in browser.text("main"), f"it says {wrong!r}: {browser.text('main')}"
    with check("support: a token of one account is led to it, and is not asked whom to find"):
        production.enter(browser, production.token("read", SHOP, "petra's phone", more=["--account", "petra"]))
        sees(browser, "Your token is for this account alone.", "main")
        equal(browser.run("return document.querySelector('header .find').checkVisibility()"), False, "the box that finds anybody")
        point(browser, "petra", "main")
        sees(browser, "petra has Plus Monthly until", "[aria-label=Now]")
        production.enter(browser, support, "account/petra")
        sees(browser, "petra has Plus Monthly until", "[aria-label=Now]")
    with check("support: an answer that is cut is said, as one that does not come"):
        for status in (200, 500):
            cuts(browser, "AddNote", status)
            browser.fill("Note", "She called.", "[aria-label=Timeline]")
            point(browser, "Add note", "[aria-label=Timeline]")
            browser.says("the answer was cut")
        cuts(browser, "", 200)
    with check("support: what the token may not do is there, with the scope that it needs"):
        for label in ("Grant…", "Give free days…", "Move a purchase…", "Erase…", "Export"):
            sees(browser, label, "[aria-label=Actions]")
            found = browser.run("return [...document.querySelectorAll('[aria-label=Actions] button')].map((each) => [each.innerText.replace(/\\n/g, ' '), each.disabled])")
            assert [f"{label} needs admin", True] in found, found
        assert browser.find("Buy…") is None, "a button to buy, in an app of the App Store"
    with check("support: a token that may only read finds a customer by an order, by a transaction, and by the beginning of a name"):
        for typed, said in (("80020", "has order 80020"), ("8002", "8002"), ("qui", "quinn")):
            browser.run("const box = document.querySelector('[aria-label=\"Find anybody\"]'); box.value = ''; box.focus()")
            browser.driver.switch_to.active_element.send_keys(typed)
            sees(browser, said, ".found")
            sees(browser, "quinn", ".found")
            browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    with check("support: perch account find says whom it found, and has another status where it found nobody"):
        credentials = production.key.with_name("ann.token")
        credentials.write_text(support)

        def found(name):
            return subprocess.run([production.perch, "account", "find", name, "--server", f"127.0.0.1:{site.server.port}", "--bundle-id", SHOP, "--environment", "sandbox", "--credentials-file", str(credentials)],
                                  capture_output=True, text=True)

        done = found("80020")
        assert done.returncode == 0 and done.stdout.startswith("quinn  order 80020"), done
        done = found("zed")
        equal((done.returncode, done.stdout), (3, ""), done.stderr)
        assert "nobody is known by zed" in done.stderr, done.stderr
    with check("support: a note is written and deleted with a token that may only read, and says who wrote it"):
        browser.fill("Note", "She wrote on Monday.", "main")
        point(browser, "Add note", "[aria-label=Timeline]")
        sees(browser, "ann wrote: She wrote on Monday.", "[aria-label=Timeline]")
        point(browser, "Delete note", "[aria-label=Timeline]")
        point(browser, "Delete", "dialog .bar")
        browser.hides("She wrote on Monday.", "[aria-label=Timeline]")
    with check("support: the sentence is read out in the customer's language"):
        point(browser, "Deutsch", "[aria-label=Now]")
        sees(browser, "Ob es sich verlängert", "[aria-label=Now]")
        equal(browser.run("return document.querySelector('.answer').lang"), "de", "the language of the sentence")
        point(browser, "English", "[aria-label=Now]")
        sees(browser, "Whether it renews was not reported.", "[aria-label=Now]")
    with check("support: what a customer is told, and what stands around it, is whole in each language"):
        point(browser, "Renewal is switched off", "[aria-label='What if']")
        sees(browser, "It would not renew", "[aria-label='What if']")
        english = words_to_read(browser)
        point(browser, "Deutsch", "[aria-label=Now]")
        sees(browser, "Es würde sich nicht verlängern", "[aria-label='What if']")
        sees(browser, "Was als Nächstes geschieht", "[aria-label=Next]")
        german = words_to_read(browser)
        point(browser, "English", "[aria-label=Now]")
        sees(browser, "It would not renew", "[aria-label='What if']")
        equal((sorted(set(english) & set(german)), len(english), len(english) > 10), ([], len(german), True), "texts in one language only")
    with check("support: a customer whose subscription has ended is told when"):
        browser.run("location.hash = '#/account/gone'")
        sees(browser, "gone had Plus Monthly until", "[aria-label=Now]")
        sees(browser, "Whether it renewed was not reported.", "[aria-label=Now]")
    with check("support: after an error the same sentence stands again"):
        refuses(browser, "TransactionService/ListUnfinished")
        browser.run("document.querySelector('perch-account-page').read()")
        browser.shows("refused by the test", "[aria-label=Now]")
        refuses(browser, "")
        browser.run("document.querySelector('perch-account-page').read()")
        sees(browser, "gone had Plus Monthly until", "[aria-label=Now]")
    with check("support: what could not be asked is never nobody, and never nothing"):
        refuses(browser, "AdminService/FindCustomers")
        browser.run("document.querySelector('[aria-label=\"Find anybody\"]').focus()")
        browser.driver.switch_to.active_element.send_keys("theresa")
        sees(browser, "Whose theresa is could not be asked: refused by the test.", ".found")
        assert "Nobody is known" not in browser.text(".found"), browser.text(".found")
        browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        refuses(browser, "")
    with check("support: signing in after the token has ended returns to the page"):
        ending = production.token("read", SHOP, "ann")
        production.enter(browser, ending, "account/quinn")
        browser.shows("quinn", "h1")
        claims = json.loads(base64.urlsafe_b64decode(ending.split(".")[1] + "=="))
        production.call("AdminService/RevokeToken", {"tokenId": claims["jti"]})
        sees(browser, "asks callers for a token", "main")
        browser.fill("Token", support)
        point(browser, "Sign in", "main")
        sees(browser, "quinn has Plus Monthly until", "[aria-label=Now]")
        assert "#/account/quinn" in browser.driver.current_url, browser.driver.current_url
    with check("support: the words of a read token on a test app are the same"):
        production.test("TransactionService/Purchase", account="tina", order={"productId": PLUS})
        production.enter(browser, production.token("read", TEST, "ann", "xcode"), "account/tina")
        sees(browser, "tina has a free trial of Plus Monthly until", "[aria-label=Now]")
        sees(browser, "then it renews for $4.99.", "[aria-label=Now]")
    with check("support: subscriptions that could not be asked are never none"):
        production.test("TestStoreService/Configure", settings=[{"simulatedError": {"api": "STORE_KIT_API_SUBSCRIPTION_STATUS", "error": "STORE_KIT_ERROR_NETWORK_ERROR"}}])
        sees(browser, "What tina has could not be asked", "[aria-label=Now]")
        assert "tina has nothing" not in browser.text("main") and "bought nothing" not in browser.text("main"), browser.text("main")
        production.test("TestStoreService/Configure", settings=[{"simulatedError": {"api": "STORE_KIT_API_SUBSCRIPTION_STATUS"}}])
        sees(browser, "tina has a free trial of Plus Monthly until", "[aria-label=Now]")
    equal(site.call("EntitlementService/GetEntitlements", {"app": {"bundleId": SHOP, "environment": "ENVIRONMENT_SANDBOX"}, "account": "petra"}, support)["success"]["entitlements"][0]["active"], True)


def operator(production, browser):
    production.report(8020)
    with check("support: the list of an app of the App Store has its customers and no empty rows"):
        production.enter(browser, production.admin)
        production.choose(browser, SHOP)
        sees(browser, "petra", ".rows")
        names = browser.run("return [...document.querySelectorAll('.line')].map((each) => each.firstChild.innerText)")
        equal(sorted(names), ["gone", "petra", "quinn", "rosa"], "the rows")
    with check("support: the list of an app ends with its app, and writes the history's entry once for many steps of a scroll"):
        written = browser.run("""
            window.left = document.querySelector('perch-accounts-page').list;
            const real = history.replaceState;
            let count = 0;
            history.replaceState = (...all) => { count += 1; return real.apply(history, all); };
            for (let step = 0; step < 200; step += 1) document.querySelector('.rows').dispatchEvent(new Event('scroll'));
            history.replaceState = real;
            return count;""")
        equal(written, 0, "entries written before the scroll rests")
        production.go(browser, "products")
        production.choose(browser, TEST)
        equal(browser.run("return [window.left.ended, window.left.app.bundleId]"), [True, SHOP], "the list that was left")
        production.go(browser, "accounts")
        browser.shows("tina", ".rows")
        assert "petra" not in browser.text(".rows"), browser.text(".rows")
        production.choose(browser, SHOP)
        sees(browser, "petra", ".rows")
    with check("support: a list that is refused says so, and is not asked again"):
        refuses(browser, "TestStoreService/ListAccounts")
        production.choose(browser, TEST)
        browser.shows("refused by the test", "main")
        equal(browser.run("return document.querySelector('perch-accounts-page').list.isLoading"), False, "whether it goes on")
        refuses(browser, "")
        # Another token or app, and back, begins it again.
        production.choose(browser, SHOP)
        sees(browser, "petra", ".rows")
    with check("support: a transaction leads to its customer, and the answer can be clicked"):
        browser.run("document.querySelector('[aria-label=\"Find anybody\"]').focus()")
        browser.driver.switch_to.active_element.send_keys("8003")
        sees(browser, "8003", ".found")
        point(browser, "rosa", ".found")
        browser.shows("rosa", "h1")
        browser.run("document.querySelector('[aria-label=\"Find anybody\"]').focus()")
        browser.driver.switch_to.active_element.send_keys("8020")
        sees(browser, "no account has claimed it", ".found")
        browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    with check("support: what a search finds beside the rows is seen and can be clicked"):
        browser.run("location.hash = '#/accounts'")
        sees(browser, "petra", ".rows")
        browser.fill("Search accounts", "8003")
        browser.fill("Filter by state", "revoked")
        sees(browser, "8003 belongs to", "main")
        browser.fill("Filter by state", "all")
        browser.fill("Search accounts", "nobody-at-all")
        sees(browser, "No account matches", "main")
        point(browser, "Open “nobody-at-all”", "main")
        sees(browser, "No account has this name: nobody-at-all.", "[aria-label=Now]")
    with check("support: a grant says beforehand what it does, is in the first sentence, and says who gave it and why"):
        point(browser, "Grant…", "[aria-label=Actions]")
        browser.fill("Name", "plus", "dialog")
        browser.fill("Days", "7", "dialog")
        browser.fill("Reason", "the app was down", "dialog")
        sees(browser, "nobody-at-all has plus at once, until", "dialog")
        point(browser, "Grant", "dialog")
        sees(browser, "nobody-at-all was given plus on", "[aria-label=Now]")
        sees(browser, "plus is granted.", ".did")
        sees(browser, "nobody-at-all was given plus on", "[aria-label=Now]")
        sees(browser, "by ada", "[aria-label=Entitlements]")
        # Another grant whose name begins like it.
        production.site.call("AdminService/GrantEntitlement", {"app": {"bundleId": SHOP, "environment": "ENVIRONMENT_SANDBOX"}, "account": "nobody-at-all", "name": "plus-two"}, production.token("admin", "*", "bob"))
        sees(browser, "by bob", "[aria-label=Entitlements]")
        sees(browser, "by ada: “the app was down”", "[aria-label=Entitlements]")
        production.shop("AdminService/RevokeGrant", account="nobody-at-all", name="plus-two")
        browser.hides("by bob", "[aria-label=Entitlements]")
        sees(browser, ": “the app was down”", "[aria-label=Entitlements]")
        sees(browser, "plus was given", "[aria-label=Timeline]")
        sees(browser, "The grant of plus ends", "[aria-label=Next]")
        point(browser, "Grant…", "[aria-label=Actions]")
        browser.fill("Name", "plus", "dialog")
        sees(browser, "It replaces the grant of plus until", "dialog")
        point(browser, "Cancel", "dialog")
    with check("support: a question goes with its page"):
        point(browser, "Grant…", "[aria-label=Actions]")
        browser.until(lambda: browser.run("return document.querySelector('dialog[open]') !== null"), 5, "a dialog")
        address = browser.run("const before = location.hash; location.hash = '#/audit'; return before")
        browser.shows("Audit", "h1")
        equal(browser.run("return document.querySelectorAll('dialog').length"), 0, "dialogs over another page")
        browser.run("location.hash = arguments[0]", address)
        browser.until(lambda: browser.find("Grant…", within="[aria-label=Actions]") is not None, 5, "the page of the customer")
    with check("support: the next change takes away what was said of the last one"):
        production.shop("AdminService/RevokeGrant", account="nobody-at-all", name="plus")
        browser.until(lambda: browser.run("return document.querySelector('.did').hidden"), 5, "the words are gone")
        production.shop("AdminService/GrantEntitlement", account="nobody-at-all", name="pro")
    with check("support: only the whole key erases an account"):
        point(browser, "Erase…", "[aria-label=Actions]")
        browser.fill("Type nobody-at-all to go on", "nobody.at.all", "dialog")
        point(browser, "Erase", "dialog .bar")
        browser.says("That is not the account’s name: nothing is erased")
        held = production.shop("EntitlementService/GetEntitlements", account="nobody-at-all")["success"]["entitlements"]
        equal([each["name"] for each in held if each.get("active")], ["pro"], "what it has")
    with check("support: back keeps the search, the filter and the place in the list"):
        for number in range(60):
            production.test("TransactionService/Purchase", account=f"many-{number:02}", order={"productId": PLUS})
        production.choose(browser, TEST)
        browser.run("location.hash = '#/accounts'")
        browser.shows("many-00", ".rows")
        browser.until(lambda: "still reading" not in browser.text("main"), 10, "all is read")
        browser.fill("Search accounts", "many")
        browser.fill("Filter by state", "subscribed")
        browser.shows("60 of 61", "main")
        browser.run("document.querySelector('.rows').scrollTop = 900")
        browser.until(lambda: browser.run("return history.state?.top") == 900, 5, "the place is kept")
        point(browser, browser.run("return [...document.querySelectorAll('.line')].find((each) => { const box = each.getBoundingClientRect(); return document.elementFromPoint(box.left + 20, box.top + 10)?.closest('.line') === each; }).innerText.split('\\n')[0]"), ".rows")
        browser.shows("many-", "h1")
        browser.driver.back()
        browser.until(lambda: browser.run("return document.querySelector('.rows')?.scrollTop") == 900, 5, "the place")
        equal(browser.run("return [document.querySelector('[aria-label=\"Search accounts\"]').value, document.querySelector('[aria-label=\"Filter by state\"]').value]"), ["many", "subscribed"], "what was sought")
        browser.shows("60 of 61", "main")
    with check("support: the address of a transaction leads to it, also in a new window"):
        transaction = production.test("TransactionService/ListTransactions", account="tina")["transactions"][0]["transaction"]["id"]
        production.enter(browser, production.admin, f"account/tina/{transaction}")
        browser.shows("tina", "h1")
        production.choose(browser, TEST)
        sees(browser, "Original", f"#t{transaction}")
        equal(browser.run("return document.querySelector('[aria-label=Explanation] a').getAttribute('href')"), f"#/account/tina/{transaction}", "the link of the explanation")


def money_and_time(production, browser):
    place = "[aria-label=Now]"
    production.enter(browser, production.admin)
    browser.shows("Accounts", "h1")
    production.choose(browser, TEST)
    production.test("TestStoreService/Configure", settings=[{"gracePeriod": True}, {"gracePeriodDays": 16}])
    for account in ("greta", "rita", "a  b"):
        production.test("TransactionService/Purchase", account=account, order={"productId": PLUS})
    with check("support: in grace the sentence says until when, and nothing says that it renews then"):
        # A trial of a week, a month that is paid, and a charge that fails.
        production.test("TestStoreService/SetClock", advanceByMs=str(8 * DAY))
        production.test("TestStoreService/Operate", account="greta", operation={"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
        production.test("TestStoreService/SetClock", advanceByMs=str(31 * DAY))
        production.go(browser, "account/greta")
        browser.shows("The card was declined on", place)
        equal(browser.run("const free = [...document.querySelectorAll('[aria-label=Actions] button')].find((each) => each.innerText.startsWith('Give free days')); return [free.disabled, free.title.includes('resolve the billing problem first')]"), [True, True], "free days in grace, which the store refuses")
        sees(browser, "greta keeps Plus Monthly until", place)
        sees(browser, "Access to Plus Monthly ends, unless a charge succeeds", "[aria-label=Next]")
        assert "renews" not in browser.text("[aria-label=Entitlements]"), browser.text("[aria-label=Entitlements]")
        if_ = "[aria-label='What if']"
        sentence = browser.text(f"{place} .answer")
        point(browser, "The charge fails", if_)
        sees(browser, "greta keeps Plus Monthly until", if_)
        equal(browser.text(f"{if_} .effect"), f"The charge fails: Nothing would change. {sentence}", "what one more failure changes")
        sees(browser, "Resolve billing problem…", "[aria-label=Actions]")
        point(browser, "Resolve billing problem…", "[aria-label=Actions]")
        sees(browser, "is charged now, and access goes on", "dialog")
        point(browser, "Resolve", "dialog")
        sees(browser, "The charge succeeded.", ".did")
        sees(browser, "greta has Plus Monthly until", place)
    with check("support: what cannot happen is said, and not supposed"):
        production.test("TestStoreService/Operate", account="greta", operation={"setAutoRenew": {"target": {"productId": PLUS}, "enabled": False}})
        sees(browser, "It does not renew.", place)
        point(browser, "The charge fails", if_)
        sees(browser, "does not renew, so no charge comes that could fail", if_)
    with check("support: what the app's settings do to every customer is on the customer's page"):
        production.go(browser, "account/rita")
        browser.shows("rita has", place)
        assert "In this app" not in browser.text(place), browser.text(place)
        production.test("TestStoreService/Configure", settings=[{"simulatedError": {"api": "STORE_KIT_API_PURCHASE", "error": "STORE_KIT_ERROR_NETWORK_ERROR"}}])
        sees(browser, "In this app “Purchase” fails with network error.", place)
        production.test("TestStoreService/Configure", settings=[{"simulatedError": {"api": "STORE_KIT_API_PURCHASE"}}])
        browser.hides("In this app", place)
    with check("support: a refund is one click away, says what the customer loses, and afterwards what it did"):
        production.go(browser, "account/rita")
        point(browser, "Refund…", "[aria-label=Actions]")
        sees(browser, "rita gets $4.99 back. rita loses Plus Monthly now.", "dialog")
        point(browser, "Refund", "dialog")
        sees(browser, "Plus Monthly is refunded.", ".did")
        sees(browser, "Plus Monthly was refunded on", place)
        for wrong in ("renews for", "renews to"):
            assert wrong not in browser.text("main"), browser.text("main")
    with check("support: a refund of a product that does not renew says that it goes"):
        production.test("TransactionService/Purchase", account="Theresa", order={"productId": "app.perch.season"})
        production.go(browser, "account/Theresa")
        sees(browser, "What Theresa has", "[aria-label=Entitlements]")
        point(browser, "Refund…", "[aria-label=Actions]")
        sees(browser, "back. Theresa loses", "dialog")
        point(browser, "Cancel", "dialog")
    with check("support: an export has all pages, and a history that is too long says what is missing"):
        browser.run("""
            window.made = [];
            window.linked ??= URL.createObjectURL;
            URL.createObjectURL = (blob) => { blob.text().then((text) => window.made.push(JSON.parse(text))); return window.linked.call(URL, blob); };
            window.answered ??= window.fetch;
            window.fetch = async (address, ...rest) => {
              const answer = await window.answered(address, ...rest);
              const isExport = String(address).endsWith('/ExportAccount');
              if (!isExport && !String(address).endsWith('/ListTransactions')) return answer;
              const json = await answer.json();
              const isLast = window.isLong ? false : !isExport;
              return new Response(JSON.stringify(isLast ? json : { ...json, nextPageToken: 'AAAA' }), { headers: { 'content-type': 'application/json' } });
            };
            const send = window.fetch;
            window.fetch = (address, init, ...rest) => {
              const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null;
              if (body?.pageToken === 'AAAA') delete body.pageToken;
              return send(address, body ? { ...init, body: JSON.stringify(body) } : init, ...rest);
            };""")
        production.go(browser, "account/greta")
        browser.shows("greta has", place)
        count = len(production.test("TransactionService/ListTransactions", account="greta")["transactions"])
        point(browser, "Export", "[aria-label=Actions]")
        browser.until(lambda: browser.run("return window.made.length") == 1, 5, "a file")
        equal(browser.run("return [window.made[0].transactions.length, 'nextPageToken' in window.made[0]]"), [2 * count, False], "what the account has, and once more as a page")
        browser.run("window.isLong = true; document.querySelector('perch-account-page').read()")
        sees(browser, "There are more than 3,000 transactions.", "[aria-label=Timeline]")
        browser.run("window.fetch = window.answered; URL.createObjectURL = window.linked")
    with check("support: instants are those of the browser's zone, and UTC where the pointer rests"):
        browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kathmandu"})
        production.go(browser, "account/rita")
        sees(browser, "GMT+5:45", "[aria-label=Timeline]")
        stamp, title = browser.run("const time = document.querySelector('[aria-label=Timeline] time'); return [time.dateTime, time.title]")
        equal(title, stamp[:19].replace("T", " ") + " UTC", "the words of the pointer")
        sees(browser, "GMT+5:45", "header")
        browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
    with check("support: white space in a key is seen, and a long name breaks no page"):
        long = "Extraordinarily" * 20
        production.test("TestStoreService/Configure", settings=[{"product": {"productId": "app.perch.coins", "displayName": long}}])
        production.go(browser, "account/a%20%20b")
        browser.until(lambda: browser.text("h1") == "a  b", 5, "both blanks")
        for name in ("products", "account/a%20%20b"):
            for width in (1280, 360):
                browser.size(width, 740)
                production.go(browser, name)
                browser.settles()
                if name == "products":
                    browser.shows(long[:40], "main")
                equal(browser.run("return Math.max(0, document.documentElement.scrollWidth - innerWidth)"), 0, f"pixels beside {name} at {width}")
        browser.size(1280, 900)
    with check("support: the dialog to buy has few controls, prices, and its buttons in a small window"):
        browser.size(1280, 720)
        production.go(browser, "account/newcomer")
        point(browser, "Buy…", "[aria-label=Actions]")
        browser.until(lambda: "$4.99 a month" in browser.text("dialog select"), 5, "a price")
        shown = browser.run("return [...document.querySelectorAll('dialog input, dialog select')].filter((each) => each.checkVisibility()).length")
        equal(shown, 1, "controls")
        browser.run("document.querySelector('dialog details').open = true")
        sees(browser, "Cancel", "dialog .bar")
        point(browser, "Buy", "dialog")
        sees(browser, "newcomer owns Season Pass", place)
        browser.size(1280, 900)
    idle(production, browser)


def idle(production, browser):
    with check("support: the page of a customer with 1,000 transactions asks nothing while nothing changes"):
        # Renewals every two seconds, until the rate is real time again.
        production.test("TestStoreService/Configure", settings=[{"timeRate": 1005}])
        production.test("TransactionService/Purchase", account="oldtimer", order={"productId": PLUS})
        production.test("TestStoreService/SetClock", advanceByMs="2000000")
        production.test("TestStoreService/Configure", settings=[{"timeRate": 0}])
        production.test("TestStoreService/SetClock", advanceByMs="4000")
        production.go(browser, "account/oldtimer")
        browser.shows("oldtimer has", "[aria-label=Now]")
        page = "document.querySelector('perch-account-page')"
        browser.until(lambda: browser.run(f"return {page}.data && !{page}.reading"), 10, "all is read")
        count = browser.run(f"return {page}.data.transactions.length")
        assert count >= 1_000, count

        browser.until(lambda: asks_nothing(browser), 30, "three seconds without a request of an idle page")
        before = len(browser.requests)
        production.test("TestStoreService/Operate", account="oldtimer", operation={"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
        sees(browser, "Charges of this account fail.", "[aria-label=Now]")
        browser.until(lambda: asks_nothing(browser), 30, "the change is read")
        asked = [each.address for each in browser.requests[before:]]
        assert any("InspectAccount" in each for each in asked) and not any("ExportAccount" in each for each in asked), asked
    with check("support: all names of a customer are read when they are asked for"):
        point(browser, "All names", "[aria-label=Record]")
        sees(browser, "oldtimer", "[aria-label=Record]")
    with check("support: a refund of a purchase that is older than the history stands at that purchase"):
        first = production.test("TransactionService/ListTransactions", account="oldtimer", pageSize=1)["transactions"][0]["transaction"]["id"]
        production.test("TestStoreService/Operate", account="oldtimer", operation={"refund": {"target": {"transactionId": first}}})
        sees(browser, "Of older events only purchases and refunds are shown.", "[aria-label=Timeline]")
        point(browser, "Show all", "[aria-label=Timeline]")
        browser.shows("and refunded on", f"#t{first}.bad")
    with check("support: a click is not lost when a push comes between its press and its release"):
        production.test("TestStoreService/Operate", account="oldtimer", operation={"setCharges": {"outcome": "CHARGE_OUTCOME_SUCCEED"}})
        browser.until(lambda: "Charges of this account fail." not in browser.text("[aria-label=Now]"), 10, "charges succeed again")
        held = 0
        # A press is believed for five seconds: a machine that stands still that long is asked again.
        while not held or held > 4_000:
            browser.until(lambda: asks_nothing(browser), 30, "all is read and drawn")
            hand = Hand(browser, "transaction", "[aria-label=Timeline]")
            browser.run(f"[window.chosen, window.since, window.why] = [document.elementFromPoint(...arguments[0]).innerText, performance.now(), {page}.why];", hand.at)
            hand.press()
            production.test("TestStoreService/Operate", account="oldtimer", operation={"buy": {"productId": "app.perch.coins", "quantity": 1}})
            browser.until(lambda: browser.run(f"return {page}.why !== window.why"), 10, "the purchase is read")
            held = browser.run("return performance.now() - window.since")
            hand.release()
        browser.until(lambda: browser.run("return document.querySelector('[aria-label=Timeline] [aria-expanded=true]')?.innerText === window.chosen"), 10, "the transaction is open")


__all__ = ["run"]

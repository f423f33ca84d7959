"""What is beyond the test store: reports of the App Store, entitlements by name, the audit trail, and accounts by transaction."""
import contextlib
import json
import pathlib
import re
import uuid

from appstore import AppStore
from chains import Chain
from checks import check, equal
from support import asks_nothing, point, sees

BUNDLE = "app.perch.sample"
PLUS = "app.perch.plus.monthly"


@contextlib.contextmanager
def blocked(browser, address):
    """No request to such an address reaches the server."""
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": [address]})
    try:
        yield
    finally:
        browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})


def named(site, browser):
    place = "[aria-label=Entitlements]"
    with check("account: entitlements by name, a grant, and its end"):
        site.buy("nina")
        browser.open("about:blank")
        browser.open(site.page("account/nina"))
        browser.shows("plus", place)
        browser.shows("renews", place)
        browser.click("Grant…", "[aria-label=Actions]")
        browser.fill("Name", "beta", "dialog")
        browser.fill("Days", "3", "dialog")
        browser.fill("Reason", "she found a bug", "dialog")
        browser.click("Grant", "dialog")
        browser.shows("beta", place)
        browser.shows("granted", place)
        browser.shows("she found a bug", place)
        browser.click("End grant", place)
        browser.click("End", "dialog .bar")
        browser.until(lambda: browser.find("End grant", within=place) is None, 5, "no grant")
    with check("account: an entitlement by name comes and goes by push"):
        site.call("AdminService/GrantEntitlement", {"account": "nina", "name": "gamma"})
        browser.shows("gamma", place, 3)
        browser.shows("without an end", place)
        site.call("AdminService/RevokeGrant", {"account": "nina", "name": "gamma"})
        browser.until(lambda: browser.find("End grant", within=place) is None, 3, "no grant")
    with check("audit: changes with their callers, newest first, live, with their accounts"):
        browser.open(site.page("audit"))
        browser.shows("somebody without credentials gave nina gamma", "main")
        site.operate("nina", {"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
        browser.until(lambda: "chose whether charges of nina fail" in browser.text("main tbody tr"), 5, "the newest change comes first")
        assert "setCharges" in browser.text("main tbody tr"), browser.text("main")
        browser.until(lambda: asks_nothing(browser), 30, "three seconds without a request")
    with check("accounts: an older transaction leads to its account"):
        for _ in range(3):
            site.operate("nina", {"renew": {"target": {"productId": PLUS}}})
        older = site.transactions("nina")[1]["id"]
        browser.open("about:blank")
        browser.open(site.page("accounts"))
        browser.until(lambda: browser.text(".rows") and "still reading" not in browser.text("main"), 20, "all accounts read")
        browser.fill("Search accounts", older)
        browser.shows(f"{older} belongs to nina", "main")
        browser.click("Open account", "main")
        browser.shows("nina", "h1")
    with check("accounts: an owner is found while the list is still read"):
        with blocked(browser, "*ListAccounts*"):
            browser.open("about:blank")
            browser.open(site.page("accounts"))
            browser.fill("Search accounts", older)
            browser.shows(f"{older} belongs to nina", "main")
    with check("accounts: a question that cannot be asked is no unknown customer"):
        browser.open("about:blank")
        browser.open(site.page("accounts"))
        browser.until(lambda: browser.text(".rows") and "still reading" not in browser.text("main"), 20, "all accounts read")
        with blocked(browser, "*FindCustomers*"):
            browser.fill("Search accounts", "987654321")
            browser.shows("could not be asked", "main", 20)
            assert "No account matches" not in browser.text("main"), browser.text("main")


def incoming(make, work, browser):
    store = AppStore(BUNDLE, chain=Chain())
    chain, stranger = store.chain, Chain()
    letters, notifications = 'section[aria-label="Dead letters"] li', "section[aria-label=Notifications] li"
    folder = pathlib.Path(work) / "apple"
    folder.mkdir()

    def trust(*chains):
        for number, each in enumerate(chains):
            (folder / f"root{number}.pem").write_bytes(each.pem)
        (folder / "apple.json").write_text(json.dumps({"apps": [
            {"bundle_id": BUNDLE, "environment": "sandbox", "roots": [f"root{number}.pem" for number in range(len(chains))]}]}))

    def transaction(original):
        return store.transaction(original, subscriptionGroupIdentifier="plus")

    def post(site, transaction, inner=chain):
        """Reports a transaction, whose values another chain may have signed."""
        found = browser.until(lambda: re.search(r"127\.0\.0\.1:(\d+)/apple/notifications", "\n".join(site.server.lines)), 5, "the listener's line")
        return site.server.post("/apple/notifications", store.notification("SUBSCRIBED", transaction, inner=inner), int(found[1]))[0]

    trust(chain)
    site = make("apple", more=["--environment", "sandbox", "--apple-apps", str(folder / "apple.json"), "--apple-listen", "127.0.0.1:0"], bundle=BUNDLE)
    try:
        with check("incoming: reports are counted, and a report that cannot be taken is shown, tried again and dropped"):
            equal(post(site, transaction(7001)), 200, "a report")
            browser.open(f"{site.base}/console/#/incoming")
            browser.shows("No dead letters", "main")
            sees(browser, "2 values new", notifications)
            point(browser, browser.text(f"{notifications} summary")[:12], notifications)
            sees(browser, '"originalTransactionId": "7001"', notifications)
            sees(browser, '"notificationType": "SUBSCRIBED"', notifications)
            sees(browser, "no account that is known", notifications)
            point(browser, "As it was signed", notifications)
            jws = browser.text(f"{notifications} details details pre")
            equal(jws.count("."), 2, "dots of the signed value")
            point(browser, "Send again", notifications)
            browser.says("Sent again: 2 values known before")
            equal(browser.run(f"return document.querySelectorAll('{notifications}').length"), 1, "notifications after one is sent again")
            browser.until(lambda: asks_nothing(browser), 30, "three seconds without a request")
            for original in (7002, 7003):
                equal(post(site, transaction(original), stranger), 503, "a report with a value of another root")
            browser.until(lambda: browser.run(f"return document.querySelectorAll('{letters}').length") == 2, 30, "two dead letters")
            browser.shows(f"{BUNDLE} Sandbox", "main")
            point(browser, browser.text(f"{letters} summary")[:12], letters)
            sees(browser, "APPLE_UNTRUSTED", letters)
            browser.shows('"notificationType": "SUBSCRIBED"', letters)
            browser.click("Retry", letters)
            browser.says("APPLE_UNTRUSTED")
            browser.click("Drop", letters)
            browser.until(lambda: browser.run(f"return document.querySelectorAll('{letters}').length") == 1, 5, "one dead letter less")
        with check("incoming: a report is taken once its root is trusted"):
            site.server.stop()
            trust(chain, stranger)
            site.server.start()
            browser.hides("The server does not answer", "body", 12)
            browser.click("Retry", letters)
            browser.shows("No dead letters", "main", 8)
        with check("accounts of the App Store: a transaction that was reported leads to its customer"):
            site.call("IngestService/SubmitTransaction", {"account": "petra", "signedValues": [chain.sign(transaction(7009))]})
            browser.open("about:blank")
            browser.open(f"{site.base}/console/#/accounts")
            browser.shows("petra", ".rows")
            browser.shows("subscribed", ".rows")
            site.call("IngestService/SubmitTransaction", {"account": "shop-7009", "signedValues": [chain.sign(transaction(7011))]})
            browser.shows("shop-7009", ".rows")
            browser.fill("Search accounts", "7009")
            browser.shows("7009 belongs to petra", "main")
            browser.shows("shop-7009", ".rows")
            token = str(uuid.uuid4())
            for name, value in (("appTransactionId", "704190000000007"), ("appAccountToken", token)):
                site.call("AdminService/AttachAlias", {"account": "petra", name: value})
                browser.fill("Search accounts", value.upper())
                browser.shows(f"{value.upper()} belongs to petra", "main")
            browser.fill("Search accounts", "7002")
            browser.shows("No account matches", "main")
            browser.fill("Search accounts", "7001")
            browser.shows("no account has claimed it", "main")
            browser.fill("Search accounts", "7009")
            browser.click("petra", "main")
            browser.shows("petra", "h1")
            browser.shows("subscribed", "main")
            browser.shows("plus", "[aria-label=Entitlements]")
            assert browser.find("Buy…") is None, "a button to buy, in an app of the App Store"
    finally:
        site.stop()


__all__ = ["named", "incoming"]

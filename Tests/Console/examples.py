"""The four example applications, point by point of what they promise: each page, its catalogue, and its customer."""
import json
import pathlib

from checks import check, equal


def run(make, browser):
    site = make("examples")
    stopped = False
    try:
        own = facts(site)
        for part in (birds, songs, movie, destination):
            try:
                part(site, browser)
            finally:
                browser.collect()
        memory(make, browser)
        restarted(site, browser)
        with check("the examples leave the app beside them as it was, and no trace in the store"):
            equal(facts(site), own, "the server's own app")
            stopped = True
            site.stop()
            for file in pathlib.Path(site.server.arguments[site.server.arguments.index("--store") + 1]).iterdir():
                found = [word for word in (b"perch.examples", b"pellet.box", b"com.pass.monthly", b"video.premium", b"cold.winter", b"dana") if word in file.read_bytes()]
                equal(found, [], f"words of the examples in {file.name}")
    finally:
        site.app = None
        if not stopped:
            site.stop()


def facts(site):
    """What a developer sees of the server's own app."""
    app, site.app = site.app, None
    try:
        site.call("TransactionService/Purchase", {"account": "own", "order": {"productId": "app.perch.lifetime"}})
        catalogue = site.call("AdminService/GetCatalog")
        return {
            "apps": site.call("AdminService/ListApps"), "catalogue": {key: catalogue[key] for key in ("productIds", "groupIds", "source", "revision")},
            "accounts": site.call("TestStoreService/ListAccounts").get("accounts", []),
            "settings": site.call("TestStoreService/GetSettings"), "clock": site.call("TestStoreService/GetClock")["clock"].get("offsetMs"),
            "audit": [each for each in site.call("AdminService/ListAudit").get("entries", []) if "perch.examples" in json.dumps(each)],
            "metrics": [each["labels"] for each in site.call("AdminService/GetServerStatus")["metrics"] if "perch.examples" in each.get("labels", "")],
        }
    finally:
        site.app = app


def memory(make, browser):
    with check("an example has its app beside a store in memory too"):
        site = make("examples-memory", store="memory")
        try:
            own = facts(site)
            opened(site, browser, "songs", "sara")
            click(browser, "Buy Cold Winter")
            sees(browser, "Cold Winter", "#library")
            equal(facts(site), own, "the server's own app")
        finally:
            site.stop()


def restarted(site, browser):
    with check("a server that was started again makes the app of an open example anew, and the console shows that app by its link"):
        opened(site, browser, "songs", "rita")
        click(browser, "Buy Cold Winter")
        sees(browser, "Cold Winter", "#library")
        browser.click("This account in the console")
        browser.shows("rita", "h1")
        browser.shows("Cold Winter", "main")
        browser.driver.back()
        sees(browser, "Cold Winter", "#library")
        browser.run("window.isSame = true")
        site.server.kill()
        site.server.start()
        sees(browser, "Your library is empty", seconds=15)
        equal(browser.run("return window.isSame"), True, "the page")
        click(browser, "Buy Cold Winter")
        sees(browser, "Cold Winter", "#library")


def deep(browser, selector="body"):
    """All text of a page, those of its views included."""
    return browser.run("""
        const said = (node) => {
          if (node.nodeType === 3) return node.textContent;
          if (node.nodeType !== 1 && node.nodeType !== 11) return '';
          if (node.nodeType === 1 && (['STYLE', 'SCRIPT'].includes(node.tagName) || node.checkVisibility && !node.checkVisibility())) return '';
          let text = '';
          if (node.shadowRoot) text += said(node.shadowRoot);
          const list = node.tagName === 'SLOT' && node.assignedNodes().length ? node.assignedNodes() : node.childNodes;
          for (const each of list) text += said(each) + ' ';
          return text;
        };
        return said(document.querySelector(arguments[0]) ?? document.body).replace(/\\s+/g, ' ');""", selector)


def sees(browser, text, selector="body", seconds=6):
    browser.until(lambda: text in deep(browser, selector), seconds, f"{text!r} in {selector}: {deep(browser, selector)[:900]}")


def misses(browser, text, selector="body", seconds=6):
    browser.until(lambda: text not in deep(browser, selector), seconds, f"no {text!r} in {selector}")


def opened(site, browser, name, account):
    browser.open(f"{site.base}/console/examples/{name}.html")
    browser.run("localStorage.setItem('perch-example-account', arguments[0])", account)
    browser.driver.refresh()
    # Its app is made by the first visit, in the server's memory. The test's calls are about that app from now on.
    site.app = {"bundleId": f"perch.examples.{name}", "environment": "ENVIRONMENT_XCODE"}
    product = {"birds": "pellet.box", "songs": "com.meet.storekit.for.swiftui.drunk", "movie": "com.pass.yearly", "destination": "video.basic.yearly"}[name]
    browser.until(lambda: site.call("EntitlementService/GetProducts", {"productIds": [product]})["success"].get("products"), 10, f"the app of {name}")


def click(browser, label, within="body"):
    browser.click(label, within, kind="button, a, label, [role=tab]")


def birds(site, browser):
    with check("birds 1 to 3: the shop has names, descriptions, prices, a hero, a custom style, and what it does not sell"):
        opened(site, browser, "birds", "ben")
        sees(browser, "Box of Nutrition Pellets")
        for text in ("$3.99", "Plenty of pellets", "Golden Acorn", "$0.99", "Fill the feeder, $1.99", "This product is not sold here"):
            sees(browser, text)
        equal(browser.run("return document.querySelector('perch-product').shadowRoot.querySelector('.product.large') !== null"), True, "the hero is large")
    with check("birds 3: while products load the whole shop shows loading, and a failure is said"):
        site.configure({"simulatedError": {"api": "STORE_KIT_API_LOAD_PRODUCTS", "error": "STORE_KIT_ERROR_NETWORK_ERROR"}})
        browser.driver.refresh()
        sees(browser, "Not loaded")
        site.configure({"simulatedError": {"api": "STORE_KIT_API_LOAD_PRODUCTS"}})
        sees(browser, "Box of Nutrition Pellets")
        misses(browser, "Not loaded")
    with check("birds 4: pellets are added once, also after a reload and for what was bought elsewhere; they are finished"):
        click(browser, "Buy Box of Nutrition Pellets")
        sees(browser, "Pellets: 5")
        browser.until(lambda: not site.call("TransactionService/ListUnfinished", {"account": "ben"}).get("transactions"), 5, "finished")
        browser.driver.refresh()
        sees(browser, "Pellets: 5")
        site.operate("ben", {"buy": {"productId": "pellet.box"}})
        sees(browser, "Pellets: 10")
        browser.open("about:blank")
        site.operate("ben", {"buy": {"productId": "pellet.single"}})
        browser.open(f"{site.base}/console/examples/birds.html")
        sees(browser, "Pellets: 11")
        browser.until(lambda: not site.call("TransactionService/ListUnfinished", {"account": "ben"}).get("transactions"), 5, "all are finished")
        equal(len(site.call("TransactionService/ListTransactions", {"account": "ben"}).get("transactions", [])), 0, "history without finished consumables")
        equal(len(site.transactions("ben")), 3, "history with them")
    with check("birds 5, 6, 9: the pass has three levels, a trial, a two-line button; the sheet closes and the card goes by itself"):
        click(browser, "Check it out")
        for text in ("Individual", "Family", "Premium", "Try it free", "then $", "Redeem code", "Restore purchases", "Sign in", "Not now"):
            sees(browser, text, "#plans")
        click(browser, "Try it free", "#plans")
        browser.until(lambda: browser.run("return !document.getElementById('plans').open && document.getElementById('card').hidden"), 5, "the sheet closed, the card hidden")
        sees(browser, "Your pass")
    with check("birds 7, 8: the highest level counts, upgrades alone are offered, and the top is offered nothing"):
        held = site.call("EntitlementService/GetSubscriptionStatus", {"account": "ben", "groupId": "6F3A93AB"})["success"]["statuses"][0]["transaction"]["transaction"]["productId"]
        if held == "pass.premium":
            site.operate("ben", {"clearTransactions": {}})
            site.call("TransactionService/Purchase", {"account": "ben", "order": {"productId": "pass.individual"}})
            sees(browser, "Your pass Individual")
        click(browser, "Upgrade")
        sees(browser, "Premium", "#plans")
        misses(browser, "Individual", "#plans")
        click(browser, "Upgrade", "#plans")
        browser.until(lambda: "Upgrade" not in deep(browser, "#pass") or "Family" in deep(browser, "#pass"), 5, "upgraded")
        site.call("TransactionService/Purchase", {"account": "ben", "order": {"productId": "pass.premium"}})
        sees(browser, "Your pass Premium")
        browser.until(lambda: browser.run("return document.getElementById('upgrade').hidden"), 5, "no upgrade for the top")
    with check("birds 10: a refund takes the pass away by push"):
        site.operate("ben", {"refund": {"target": {"productId": "pass.premium"}}})
        sees(browser, "Check it out", seconds=2)


def songs(site, browser):
    ids = ["com.meet.storekit.for.swiftui.cold.winter", "com.meet.storekit.for.swiftui.platinum.disco"]
    with check("songs 1, 2: an empty library says so, and a bought song appears at once"):
        opened(site, browser, "songs", "sara")
        sees(browser, "Your library is empty")
        click(browser, "Buy Cold Winter")
        sees(browser, "Cold Winter", "#library")
        sees(browser, "Purchased")
        misses(browser, "Not now")
    with check("songs 3, 4: complete after a restart; other devices and refunds are seen; restore brings back; unverified is ignored"):
        browser.driver.refresh()
        sees(browser, "Cold Winter", "#library")
        site.operate("sara", {"buy": {"productId": ids[1]}})
        sees(browser, "Platinum Disco", "#library", 2)
        site.operate("sara", {"refund": {"target": {"productId": ids[0]}}})
        misses(browser, "Cold Winter", "#library", 2)
        click(browser, "Restore purchases")
        sees(browser, "Your purchases are restored")
        site.configure({"simulatedError": {"api": "STORE_KIT_API_VERIFICATION", "error": "STORE_KIT_ERROR_INVALID_SIGNATURE"}})
        misses(browser, "Platinum Disco", "#library", 3)
        site.configure({"simulatedError": {"api": "STORE_KIT_API_VERIFICATION"}})
        sees(browser, "Platinum Disco", "#library", 3)


def movie(site, browser):
    with check("movie 1, 2: three plans with a two-line button; the plan's name when subscribed"):
        opened(site, browser, "movie", "mona")
        sees(browser, "Not subscribed")
        click(browser, "View options")
        for text in ("Monthly", "Quarterly", "Yearly", "Try it free", "3 days free", "Restore purchases", "A new flower each day"):
            sees(browser, text, "#options")
        click(browser, "Try it free", "#options")
        sees(browser, "Handle subscription")
        browser.until(lambda: browser.run("return !document.getElementById('options').open"), 3, "the sheet closed")
    with check("movie 3: a grace period counts, and is said"):
        site.configure({"gracePeriod": True}, {"gracePeriodDays": 16})
        site.operate("mona", {"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
        site.call("TestStoreService/SetClock", {"advanceToBoundary": {"account": "mona"}})
        sees(browser, "You can watch until", seconds=3)
        site.operate("mona", {"setCharges": {"outcome": "CHARGE_OUTCOME_SUCCEED"}})
        site.operate("mona", {"resolveBilling": {"target": {"transactionId": site.transactions("mona")[-1]["id"]}}})
        sees(browser, "Renews", seconds=3)
    with check("movie 4: a change of plan is visible at once"):
        site.call("TransactionService/Purchase", {"account": "mona", "order": {"productId": "com.pass.yearly"}})
        sees(browser, "Yearly", "main", 3)
    with check("movie 4, 5: cancelling is visible at once; a failed load keeps the last value; expired and refunded are said"):
        click(browser, "Handle subscription")
        click(browser, "Cancel subscription", "perch-sheet")
        sees(browser, "Ends ", "main", 3)
        site.configure({"simulatedError": {"api": "STORE_KIT_API_SUBSCRIPTION_STATUS", "error": "STORE_KIT_ERROR_NETWORK_ERROR"}})
        sees(browser, "This may be old", seconds=3)
        sees(browser, "Handle subscription")
        site.configure({"simulatedError": {"api": "STORE_KIT_API_SUBSCRIPTION_STATUS"}})
        misses(browser, "This may be old", seconds=3)
        site.call("TestStoreService/SetClock", {"advanceToBoundary": {"account": "mona"}})
        sees(browser, "Your subscription ended", seconds=3)
        site.call("TransactionService/Purchase", {"account": "mona", "order": {"productId": "com.pass.monthly"}})
        sees(browser, "Handle subscription", seconds=3)
        site.operate("mona", {"refund": {"target": {"productId": "com.pass.monthly"}}})
        sees(browser, "Your subscription was refunded", seconds=3)
        sees(browser, "Not subscribed")


def destination(site, browser):
    with check("destination 1, 2: groups by level, sets, nested links; every control style and the placements that it allows"):
        opened(site, browser, "destination", "dana")
        sees(browser, "Every destination, in 4K", "#store")
        click(browser, "Basic", "#store")
        sees(browser, "Every destination", "#store")
        misses(browser, "4K", "#store")
        for control, allowed in (("picker", "leading"), ("prominent-picker", "trailing"), ("buttons", "bottom-bar"), ("compact-picker", "bottom"),
                                 ("paged-picker", "bottom-bar"), ("paged-prominent-picker", "bottom"), ("automatic", "scroll-view")):
            browser.fill("Control", control)
            browser.fill("Placement", allowed)
            browser.until(lambda: browser.run("return document.getElementById('store').dataset.placement") == allowed, 4, f"{control} {allowed}")
            sees(browser, "Basic", "#store")
        browser.fill("Control", "picker")
        browser.fill("Placement", "bottom-bar")
        browser.until(lambda: browser.run("return document.getElementById('store').dataset.placement") == "scroll-view", 4, "a placement that the style does not allow")
        browser.fill("Groups", "period")
        sees(browser, "Yearly", "#store")
        browser.fill("Groups", "set")
        sees(browser, "Premium", "#store")
        browser.fill("Groups", "level")
        browser.fill("Shown as", "links")
        click(browser, "Premium", "#store")
        click(browser, "Monthly", "#store")
        sees(browser, "Premium, month by month", "#store")
        sees(browser, "$9.99/month", "#store")
        browser.fill("Shown as", "tabs")
    with check("destination 4: an image of the catalogue; the name of the group and the policies in another language"):
        browser.until(lambda: browser.run("return document.getElementById('offer').shadowRoot.querySelector('.icon img')?.naturalWidth > 1"), 6, "the promotional image")
        browser.fill("Language", "de")
        sees(browser, "Alle Ziele", "#store", 5)
        browser.run("document.getElementById('store').style.setProperty('--perch-policy', 'rgb(1, 2, 3)')")
        browser.until(lambda: browser.run("return getComputedStyle(document.getElementById('store').shadowRoot.querySelector('perch-policies').shadowRoot.querySelector('button')).color") == "rgb(1, 2, 3)", 4, "the page's colour of policies")
        click(browser, "Datenschutz", "#store")
        sees(browser, "Wir kennen Ihr Abo", "#store", 5)
        click(browser, "Fertig", "#store")
        browser.fill("Language", "en")
    with check("destination 3, 7: the own control buys; price, renewal price and currency are shown"):
        sees(browser, "1 week free, then $9.99/month", "#own")
        sees(browser, "for the family", "#own")
        browser.run("document.querySelector('#own input[value=\"video.premium.monthly\"]').click()")
        click(browser, "Subscribe", "main")
        sees(browser, "Renews for 9.99 USD", seconds=4)
        sees(browser, "0.00 USD", "#history")
    with check("destination 6: a failed charge brings a message, and resolving takes it away"):
        site.operate("dana", {"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
        site.call("TestStoreService/SetClock", {"advanceToBoundary": {"account": "dana"}})
        sees(browser, "Your payment failed", "#messages", 4)
        site.operate("dana", {"setCharges": {"outcome": "CHARGE_OUTCOME_SUCCEED"}})
        site.operate("dana", {"resolveBilling": {"target": {"transactionId": site.transactions("dana")[-1]["id"]}}})
        misses(browser, "Your payment failed", "#messages", 4)
    with check("destination 5: win-back offers for a lapsed subscriber, and a purchase at the offer's price"):
        target = {"transactionId": site.transactions("dana")[-1]["id"]}
        site.operate("dana", {"setAutoRenew": {"target": target, "enabled": False}})
        browser.settles()
        site.operate("dana", {"expire": {"target": target}})
        sees(browser, "Come back for", seconds=8)
        sees(browser, "best first: ")
        click(browser, "Come back for", "main")
        browser.until(lambda: site.transactions("dana")[-1].get("offer", {}).get("type") == "OFFER_TYPE_WIN_BACK", 4, "bought with the win-back offer")
        browser.until(lambda: browser.run("return document.getElementById('winback').hidden"), 4, "the offer is gone")
    with check("destination 5: a promoted purchase opens the sheet, unless the application takes it"):
        site.operate("dana", {"createIntent": {"productId": "video.basic.monthly"}})
        sees(browser, "You began a purchase", "perch-sheet", 4)
        click(browser, "Not now", "perch-sheet")
        number = site.inspect("dana")["purchaseIntents"][0]["number"]
        site.operate("dana", {"endIntent": {"number": number}})
        browser.until(lambda: browser.run("return !document.querySelector('perch-sheet')"), 4, "the first sheet has gone")
        browser.run("document.querySelector('perch-app').addEventListener('purchaseintent', (event) => { event.preventDefault(); window.taken = event.detail.productId; }, {once: true})")
        site.operate("dana", {"createIntent": {"productId": "video.basic.yearly"}})
        browser.until(lambda: browser.run("return window.taken") == "video.basic.yearly", 4, "taken")
        equal(browser.run("return document.querySelector('perch-sheet')"), None, "the sheet")
    with check("destination 8: the history shows a finished consumable where it is asked for"):
        site.operate("dana", {"buy": {"productId": "video.postcard"}})
        browser.until(lambda: not site.call("TransactionService/ListUnfinished", {"account": "dana"}).get("transactions"), 5, "finished")
        misses(browser, "Video postcard", "#history", 3)
        click(browser, "with finished consumables", "[aria-label=History]")
        sees(browser, "Video postcard", "#history", 3)
    with check("axe finds nothing serious on the examples"):
        from pages import axe
        for name in ("birds", "songs", "movie", "destination"):
            browser.open(f"{site.base}/console/examples/{name}.html")
            browser.settles()
            axe(browser, name)


__all__ = ["run", "json"]

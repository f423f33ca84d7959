"""Pictures of every page of the console and of every example, at 1280 and 390 pixels, light and dark, for people to look at.

    pictures.py PERCH FOLDER [--develop] [NAME…]
"""
import os
import pathlib
import sys
import tempfile

from browser import Browser
from pages import PLUS, Site

PAGES = ("accounts", "account/alice", "account/gwen", "account/nobody-yet", "clock", "products", "settings", "record", "live", "incoming", "audit")
EXAMPLES = {"birds": "backyard-birds", "songs": "songs", "movie": "flower-movie", "destination": "destination-video"}


def customers(site):
    """Customers in every state that the console marks."""
    for number in range(40):
        site.buy(f"customer-{number:03}", (PLUS, "app.perch.pro.monthly", "app.perch.plus.yearly", "app.perch.coins", "app.perch.lifetime")[number % 5])
    for name in ("alice", "gwen", "ruth", "otto", "<img src=x onerror=alert(1)>"):
        site.buy(name, "app.perch.pro.monthly" if name == "ruth" else PLUS)
    site.configure({"gracePeriod": True}, {"gracePeriodDays": 16})
    site.operate("gwen", {"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
    site.call("TestStoreService/SetClock", {"advanceByMs": str(40 * 86_400_000)})
    site.operate("otto", {"setAutoRenew": {"target": {"productId": PLUS}, "enabled": False}})
    first = site.transactions("ruth")[-1]["id"]
    site.operate("ruth", {"refund": {"target": {"transactionId": first}}})
    site.operate("alice", {"buy": {"productId": "app.perch.coins", "simulatesAskToBuy": True}})
    site.operate("alice", {"raisePrice": {"target": {"productId": PLUS}, "priceMilliunits": "9990", "consent": "PRICE_CONSENT_NEEDED"}})
    site.operate("alice", {"refund": {"target": {"transactionId": site.transactions("alice")[0]["id"]}, "reason": "REVOCATION_REASON_DEVELOPER_ISSUE"}})


def main():
    perch, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    wanted = [each for each in sys.argv[3:] if not each.startswith("--")]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        site = Site(perch, pathlib.Path(work), "pictures")
        browser = Browser()
        try:
            customers(site)
            pages = [(name.replace("/", "-"), site.page(name)) for name in PAGES]
            for name, address in pages:
                if not wanted or name in wanted:
                    shots(browser, folder, name, address)
            for name in EXAMPLES:
                if wanted and name not in wanted:
                    continue
                address = f"{site.base}/console/examples/{name}.html"
                browser.open(address)
                browser.run("localStorage.setItem('perch-example-account', 'me')")
                shots(browser, folder, f"example-{name}", address)
                opener = {"birds": "Check it out", "movie": "View options"}.get(name)
                if opener:
                    shots(browser, folder, f"example-{name}-sheet", address, opener)
        finally:
            browser.close()
            site.stop()
    print(f"{len(list(folder.glob('*.png')))} pictures are in {folder}")


def shots(browser, folder, name, address, opener=None):
    for width, height in ((1280, 900), (390, 844)):
        for dark in (False, True):
            browser.size(width, height, dark)
            browser.open("about:blank")
            browser.open(address)
            if name == "live":
                browser.until(lambda: browser.run("return document.querySelector('.chart path')?.getAttribute('d').split('L').length > 2"), 10, "a line")
            browser.settles()
            if opener:
                browser.click(opener)
                browser.until(lambda: browser.run("return document.querySelector('dialog[open]') !== null"), 5, "a sheet")
                browser.settles()
            browser.picture(folder / f"{name}-{width}-{'dark' if dark else 'light'}.png", whole=not opener)


if __name__ == "__main__":
    main()

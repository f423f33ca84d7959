"""The store views on a page: what is on the screen and can be clicked, by the point on the screen and not by the text.

A page is built from elements inside a page of the server, or, for other origins, served from another port.
"""
import base64
import http.server
import json
import os
import subprocess
import threading
import time

from checks import check, equal

PRO, PLUS, YEARLY = "app.perch.pro.monthly", "app.perch.plus.monthly", "app.perch.plus.yearly"
PLACEMENTS = {
    "automatic": ["automatic"], "picker": ["scroll-view", "leading", "trailing"], "prominent-picker": ["scroll-view", "leading", "trailing"],
    "buttons": ["scroll-view", "leading", "trailing", "bottom", "bottom-bar"], "compact-picker": ["bottom", "bottom-bar", "leading", "trailing"],
    "paged-picker": ["bottom", "bottom-bar", "leading", "trailing"], "paged-prominent-picker": ["bottom", "bottom-bar", "leading", "trailing"],
}

# What a page of a test can do. `deep` is the element at a point of the screen, through shadow trees.
HELPERS = """
window.deep = (x, y) => {
  let found = document.elementFromPoint(x, y);
  while (found?.shadowRoot) {
    const inner = found.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === found) break;
    found = inner;
  }
  return found;
};
window.all = (selector, root = document) => {
  const found = [...root.querySelectorAll(selector)];
  for (const each of root.querySelectorAll('*')) if (each.shadowRoot) found.push(...all(selector, each.shadowRoot));
  return found;
};
window.words = (root) => {
  const said = (node) => {
    if (node.nodeType === 3) return node.textContent;
    if (node.nodeType !== 1 && node.nodeType !== 11) return '';
    if (node.nodeType === 1 && (['STYLE', 'SCRIPT'].includes(node.tagName) || node.tagName !== 'SLOT' && !node.checkVisibility())) return '';
    const list = node.shadowRoot ? [node.shadowRoot] : node.tagName === 'SLOT' && node.assignedNodes().length ? node.assignedNodes() : [...node.childNodes];
    return list.map(said).join(' ');
  };
  return said(root).replace(/\\s+/g, ' ').trim();
};
/** The point at which a control can be clicked; null where something lies over it, or it is out of sight. */
window.point = (element) => {
  const box = element.getBoundingClientRect();
  const [x, y] = [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)];
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return null;
  const hit = deep(x, y);
  return hit && (hit === element || element.contains(hit) || hit.assignedSlot && element.contains(hit.assignedSlot)) ? [x, y] : null;
};
window.button = (label) => {
  const shown = all('button').filter((each) => each.checkVisibility()).reverse();
  return shown.find((each) => each.innerText.trim() === label) ?? shown.find((each) => each.innerText.trim().startsWith(label) || each.getAttribute('aria-label') === label);
};
window.started = [];
window.completed = [];
/** Whether the last click hit what was wanted, or what was drawn in its place meanwhile. */
window.hit = null;
addEventListener('click', (event) => { window.hit = event.composedPath().some((each) => each === window.wanted || window.wanted && each.isEqualNode?.(window.wanted)); }, true);
"""
KEEP = "document.addEventListener('inapppurchasestart', (event) => { window.started.push(event.detail.product.id); if (window.holds) event.preventDefault(); });" \
       "document.addEventListener('inapppurchasecompletion', (event) => window.completed.push({result: event.detail.result, reason: event.detail.error?.reason, token: event.detail.transaction?.appAccountToken, quantity: event.detail.transaction?.purchasedQuantity}));"


class Page:
    """A page with store views, and hands."""

    def __init__(self, site, browser):
        self.site, self.browser = site, browser

    def build(self, markup, account="vera", holds=False, lang="en", direction="ltr", app=""):
        """Replaces what is on the page, which is loaded once. The elements are there with their attributes, as in a file."""
        b = self.browser
        if not b.run("return window.isBuilt === arguments[0]", self.site.base):
            b.open(f"{self.site.base}/console/examples/states.html?only=none")
            b.until(lambda: b.run("return Boolean(document.getElementById('language')?.onchange)"), 10, "the page's own script has run")
            b.run(HELPERS + KEEP + "window.isBuilt = arguments[0];", self.site.base)
        b.run("""
            window.started = [];
            window.completed = [];
            const [markup, account, holds, lang, direction, app] = arguments;
            document.documentElement.lang = lang;
            document.documentElement.dir = direction;
            window.holds = holds;
            document.body.innerHTML = `<perch-app account="${account}" ${app}>${markup}</perch-app>`;
            for (const each of document.querySelectorAll('[data-tall]')) each.style.height = '1600px';
            scrollTo(0, 0);""", markup, account, holds, lang, direction, app)

    def run(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def words(self, selector="body"):
        return self.run("return words(document.querySelector(arguments[0]) ?? document.body)", selector)

    def sees(self, text, selector="body", seconds=6):
        self.browser.until(lambda: text in self.words(selector), seconds, f"{text!r} in {selector}: {self.words(selector)[:600]}")

    def misses(self, text, selector="body", seconds=6):
        self.browser.until(lambda: text not in self.words(selector), seconds, f"no {text!r} in {selector}")

    def ready(self, selector="perch-subscription-store"):
        self.browser.until(lambda: self.run("return document.querySelector(arguments[0])?.dataset.state === 'success' && all('.option, .product', document.querySelector(arguments[0]).shadowRoot).length > 0", selector), 6, f"{selector} is ready")

    def mouse(self, point, kind="mousePressed"):
        for each in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": each, "x": point[0], "y": point[1], "button": "none" if each == "mouseMoved" else "left", "clickCount": 0 if each == "mouseMoved" else 1})

    def touch(self, point):
        self.browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": point[0], "y": point[1]}]})
        self.browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def swipe(self, find, way):
        """A finger that goes over three quarters of what a script finds, to the right or, where `way` is -1, to the left."""
        left, top, width, height = self.run(f"const box = (() => {{ {find} }})().getBoundingClientRect(); return [box.left, box.top, box.width, box.height]")

        def point(part):
            return [{"x": left + width * (0.5 + way * part), "y": top + height / 2}]

        steps = [("touchStart", point(-0.375))] + [("touchMove", point(-0.375 + 0.75 * step / 12)) for step in range(1, 13)] + [("touchEnd", [])]
        for kind, points in steps:
            self.browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def key(self, name, code=None, text=None):
        fields = {"key": name, "code": code or name, "windowsVirtualKeyCode": {"Enter": 13, "Tab": 9, "ArrowDown": 40, "ArrowRight": 39, "ArrowLeft": 37, "Escape": 27, " ": 32}.get(name, 0)}
        if name == "Enter":
            text = "\r"
        self.browser.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", **fields, **({"text": text} if text else {})})
        self.browser.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", **fields})

    def press(self, find, hand=None, why=""):
        """Clicks what a script finds, at its point on the screen. What a push moved away meanwhile is looked for again."""
        def act():
            # What was scrolled is looked for again in the next frame.
            at = self.run(f"const found = (() => {{ {find} }})(); if (!found || found.disabled || found.getAttribute('aria-disabled') === 'true') return null; const at = point(found); if (!at) found.scrollIntoView({{block: 'center', inline: 'nearest'}}); window.wanted = found; window.hit = null; return at;")
            if not at:
                return False
            (hand or self.mouse)(at)
            # The click of a finger comes after its end.
            end = time.monotonic() + 10
            while (hit := self.run("return window.hit")) is None and time.monotonic() < end:
                time.sleep(0.01)
            return hit
        self.browser.until(act, 5, f"{why or find} can be clicked")

    def click(self, label, hand=None):
        self.press(f"return button({json.dumps(label)})", hand, why=label)


def option(product):
    return f"return all('[data-product=\"{product}\"]').find((each) => each.matches('.option'))"


SUBSCRIBE = "return all('.bar button.subscribe').find((each) => each.checkVisibility())"
TALL = "<div slot='marketing' data-tall><h2>Everything</h2><p>Very long.</p></div>"


def buys(page, style, placement, hand, target):
    """Chooses a plan and subscribes, and says which plan was asked for."""
    page.run("window.started.length = 0")
    if style == "buttons":
        page.press(f"return all('button.subscribe[data-product=\"{target}\"]')[0]", hand)
    else:
        if style.startswith("paged"):
            order = [PRO, PLUS, YEARLY]
            while (at := page.run("return document.querySelector('perch-subscription-store').main.selected")) != target:
                page.press(f"return all('button.turn')[{int(order.index(target) > order.index(at))}]", hand)
                page.browser.until(lambda: page.run("return document.querySelector('perch-subscription-store').main.selected") != at, 3, f"{style} turns")
        else:
            page.press(option(target), hand)
            # The chosen plan is on the screen, or named beside the button.
        page.press(SUBSCRIBE, hand)
    page.browser.until(lambda: page.run("return window.started.length"), 3, f"a purchase begins in {style} {placement}")
    return page.run("return window.started.at(-1)")


def keys_buy(page, style):
    """Goes to the yearly plan by keys alone, buys it, and says which plan was asked for."""
    focused = "const at = document.querySelector('perch-subscription-store').shadowRoot.activeElement; return "
    wanted = f"at?.matches('button.subscribe[data-product=\"{YEARLY}\"]')" if style == "buttons" else "at?.matches('input[type=radio]')"

    def tab_to(what):
        for _ in range(20):
            page.key("Tab")
            if page.run(focused + what):
                return
        raise AssertionError(f"{style}: no key comes to {what}")

    tab_to(wanted)
    if style != "buttons":
        page.key("ArrowDown")
        page.key("ArrowDown")
        equal(page.run("return all('input[type=radio]').find((each) => each.checked).value"), YEARLY, f"{style}: the plan that keys chose")
        tab_to("at?.matches('.bar button.subscribe')")
    # What has the focus is on the screen, so a customer knows what a key does.
    equal(page.run("return point(document.querySelector('perch-subscription-store').shadowRoot.activeElement) !== null"), True, f"{style}: the focused button is in sight")
    page.key("Enter")
    page.browser.until(lambda: page.run("return window.started.length"), 3, f"{style}: keys begin a purchase")
    return page.run("return window.started.at(-1)")


def matrix(page, browser, full):
    """Shows 2: all control styles and placements, with marketing content that is taller than the window."""
    hands = {"mouse": page.mouse, "touch": page.touch}
    for width, height in ((360, 640), (768, 700), (1440, 800)):
        browser.size(width, height)
        for name, hand in hands.items():
            if name == "touch" and width != 360 and not full:
                continue
            with check(f"{name} buys what is on the screen in every control style and placement at {width} pixels"):
                # Without --full: each style and each placement once.
                some = PLACEMENTS if full or width == 360 and name == "mouse" else {"picker": ["trailing"], "buttons": ["bottom-bar"], "paged-picker": ["bottom-bar"]} if name == "touch" else {"prominent-picker": ["leading"], "compact-picker": ["bottom-bar"]}
                for style, places in some.items():
                    for placement in places if full else places[-1:]:
                        page.build(f"<perch-subscription-store group-id='plus' control-style='{style}' control-placement='{placement}'>{TALL}</perch-subscription-store>", holds=True)
                        page.ready()
                        if placement == "bottom-bar" and style != "buttons":
                            assert page.run(f"return point((() => {{ {SUBSCRIBE} }})()) !== null && scrollY === 0"), f"{style}: the bottom bar is out of sight"
                        for target in (YEARLY, PLUS):
                            equal(buys(page, style, placement, hand, target), target, f"{style} {placement}")
        with check(f"keys buy what is on the screen in every control style at {width} pixels"):
            for style, places in PLACEMENTS.items():
                for placement in places if full else places[:1] if width == 360 else []:
                    page.build(f"<perch-subscription-store group-id='plus' control-style='{style}' control-placement='{placement}'>{TALL}</perch-subscription-store>", holds=True)
                    page.ready()
                    equal(keys_buy(page, style), YEARLY, f"{style} {placement}: the plan that keys bought")
    browser.size(360, 640)
    with check("a compact picker shows three plans in one row on a phone, and cuts none"):
        page.build("<perch-subscription-store group-id='plus' control-style='compact-picker'></perch-subscription-store>", holds=True)
        page.ready()
        equal(page.run("const boxes = all('.option').map((each) => each.getBoundingClientRect().top); return [boxes.length, new Set(boxes).size]"), [3, 1], "plans, and rows")
        equal(page.run("return all('.option, .price').filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.innerText)"), [], "what is cut")
    with check("a paged picker sells the page that a finger swiped to, and its dots are buttons"):
        for style in ("paged-picker", "paged-prominent-picker"):
            for direction in ("ltr", "rtl") if full or style == "paged-picker" else ("ltr",):
                page.build(f"<perch-subscription-store group-id='plus' control-style='{style}'></perch-subscription-store>", holds=True, direction=direction)
                page.ready()
                if style == "paged-picker":
                    page.swipe("return all('.paged')[0]", -1 if direction == "ltr" else 1)
                else:
                    # By script: the scroll of a finger of DevTools never ends, and a third one moves nothing.
                    page.run("const fields = all('.paged')[0], plan = all('.option')[1]; const [box, at] = [fields, plan].map((each) => each.getBoundingClientRect()); fields.scrollBy({left: at.left + at.width / 2 - box.left - box.width / 2, behavior: 'instant'})")
                browser.until(lambda: page.run("return document.querySelector('perch-subscription-store').main.selected") == PLUS, 4, f"a scroll moves {style} {direction}")
                equal(page.run("return all('.dots button').findIndex((each) => each.getAttribute('aria-current') === 'true')"), 1, "the dot of the page")
                page.press(SUBSCRIBE)
                browser.until(lambda: page.run("return window.started.at(-1)") == PLUS, 3, "the page in the middle is bought")
                page.press("return all('.dots button')[2]")
                page.press(SUBSCRIBE)
                browser.until(lambda: page.run("return window.started.at(-1)") == YEARLY, 3, "the page of the last dot is bought")
                # Without a pause, as a script does.
                page.run("const fields = all('.paged')[0]; fields.scrollTo({left: 0, behavior: 'instant'}); all('.bar button.subscribe')[0].click()")
                browser.until(lambda: page.run("return window.started.at(-1)") == PRO, 3, "the first page is bought at once")
    browser.size(1280, 900)


def groups(page, browser):
    group = "<perch-subscription-option-group label='{0}' level='{1}'><div slot='marketing'><p class='own'>About {0}</p></div></perch-subscription-option-group>"
    both = group.format("Pro", 1) + group.format("Plus", 2)
    with check("a click on a tab shows its plans and its content, keeps the focus, and throws nothing; arrow keys move"):
        page.build(f"<perch-subscription-store group-id='plus'>{both}</perch-subscription-store>", holds=True)
        page.ready()
        page.run("window.faults = []; addEventListener('error', (event) => window.faults.push(event.message))")
        for label, other in (("Plus", "Pro"), ("Pro", "Plus"), ("Plus", "Pro")):
            page.press(f"return all('[role=tab]').find((each) => each.textContent === '{label}')")
            page.sees(f"About {label}")
            page.misses(f"About {other}")
            equal(page.run("return document.querySelector('perch-subscription-store').shadowRoot.activeElement?.textContent"), label, "the focus")
        page.key("ArrowLeft")
        page.sees("About Pro")
        equal(page.run("return [document.querySelector('perch-subscription-store').shadowRoot.activeElement?.textContent, window.faults.length]"), ["Pro", 0])
        page.press(SUBSCRIBE)
        browser.until(lambda: page.run("return window.started.at(-1)") == PRO, 3, "the plan of the tab")
    with check("a link opens its plans in a sheet over the store, which buys them and goes back"):
        page.build(f"<perch-subscription-store group-id='plus' option-group-style='links'>{both}</perch-subscription-store>", holds=True)
        page.ready_links = browser.until(lambda: page.run("return all('.links button').length === 2"), 6, "two links")
        page.press("return all('.links button').find((each) => each.textContent.startsWith('Plus'))")
        browser.until(lambda: page.run("return all('dialog[open]').length === 1"), 3, "a sheet")
        page.press(f"return all('dialog[open] [data-product=\"{YEARLY}\"]').find((each) => each.matches('.option'))")
        page.press("return all('dialog[open] .bar button.subscribe')[0]")
        browser.until(lambda: page.run("return window.started.at(-1)") == YEARLY, 3, "the plan of the sheet")
        page.click("Back")
        browser.until(lambda: page.run("return all('dialog[open]').length === 0"), 3, "the sheet is closed")
        browser.until(lambda: page.run("return document.querySelector('perch-subscription-store').shadowRoot.activeElement?.textContent.startsWith('Plus')"), 3, "the focus is back on the link")
    with check("sets by level, by period and by any key, labels with spaces, content for each value, inline groups"):
        page.build("<perch-subscription-store group-id='plus'><perch-subscription-option-group-set by='level' labels='1=The whole thing; 2=A good part'>"
                   "<div slot='marketing' data-value='1'>All of it</div><div slot='marketing' data-value='2'>Much of it</div></perch-subscription-option-group-set></perch-subscription-store>", holds=True)
        page.sees("The whole thing")
        page.sees("All of it")
        page.press("return all('[role=tab]')[1]")
        page.sees("Much of it")
        page.misses("All of it")
        page.build("<perch-subscription-store group-id='plus'><perch-subscription-option-group-set by='period'></perch-subscription-option-group-set></perch-subscription-store>", lang="de")
        page.sees("Monatlich")
        page.sees("Jährlich")
        page.build("<perch-subscription-store group-id='plus'><perch-subscription-option-group-set by='isFamilyShareable' labels='true=For the family;=For one;false=For one'></perch-subscription-option-group-set></perch-subscription-store>")
        page.sees("For the family")
        page.build(f"<perch-subscription-store group-id='plus' option-group-style='inline'>{both}</perch-subscription-store>", holds=True)
        browser.until(lambda: page.run("return all('legend').map((each) => each.textContent).join() === 'Pro,Plus'"), 6, "headings")
        equal(buys(page, "picker", "inline", None, YEARLY), YEARLY)


def purchase(page, site, browser):
    with check("buttons say price, name, action or both, where they can be read"):
        for label, words in (("price", "$4.99/month"), ("display-name", "Plus Monthly"), ("action", "Try it free"), ("action multiline", "Try it free"), ("price multiline", "then $4.99/month")):
            page.build(f"<perch-subscription-store group-id='plus' control-style='buttons' button-label='{label}'></perch-subscription-store>")
            page.ready()
            shown = page.run(f"return all('button.subscribe[data-product=\"{PLUS}\"]')[0].innerText")
            assert words in shown, (label, shown)
            assert words.split(" ")[0] in page.run(f"return all('button.subscribe[data-product=\"{PLUS}\"]')[0].getAttribute('aria-label')"), label
    with check("a failure stays, in words for customers and in their language, until the next purchase"):
        armed = {"api": "STORE_KIT_API_PURCHASE"}
        site.configure({"simulatedError": {**armed, "error": "STORE_KIT_ERROR_PURCHASE_NOT_ALLOWED"}})
        for lang, words in (("en", "This account may not buy here."), ("de", "Dieses Konto darf hier nicht kaufen."), ("ja", "このアカウントでは購入できません。")):
            page.build("<perch-subscription-store group-id='plus'></perch-subscription-store><perch-product product-id='app.perch.coins'></perch-product>", account="fay", lang=lang)
            page.ready()
            page.press(SUBSCRIBE)
            page.sees(words, "perch-subscription-store")
            # Another push draws the store again, and the message stays.
            browser.driver.execute_async_script("""
                const done = arguments[0];
                const store = document.querySelector('perch-subscription-store');
                const app = document.querySelector('perch-app');
                // A new stream, the plans again, and everything drawn anew.
                const end = app.perch.watch('EntitlementService/SubscriptionStatusTask', {account: 'fay', groupId: 'plus'}, ({loading}) => {
                  if (loading) return;
                  end.close();
                  store.refresh().then(() => { app.dispatchEvent(new Event('redraw')); requestAnimationFrame(() => requestAnimationFrame(done)); });
                });""")
            assert words in page.words("perch-subscription-store"), lang
            equal(page.run("const said = all('.said').find((each) => each.textContent); return [said.getAttribute('role'), point(said) !== null]"), ["status", True], "it is in sight and is announced")
            page.press("return all('perch-product').at(-1).shadowRoot.querySelector('button.buy')")
            page.sees(words, "perch-product")
        site.configure({"simulatedError": {"api": "STORE_KIT_API_PURCHASE"}})
        page.press("return all('perch-product').at(-1).shadowRoot.querySelector('button.buy')")
        page.misses(words, "perch-product")
        page.sees("購入しました", "perch-product")
    with check("with dialogs, a payment sheet has price, offer and renewal; Cancel and Escape are userCancelled, and buy nothing"):
        site.configure({"dialogs": True})
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store><perch-product product-id='app.perch.coins' quantity='3'></perch-product>", account="pia")
        page.ready()
        page.press(option(PLUS))
        page.press(SUBSCRIBE)
        for words in ("Confirm your purchase", "Plus Monthly", "free, then $4.99/month", "After that it renews for $4.99/month until you cancel."):
            page.sees(words, "perch-subscription-store")
        page.click("Cancel")
        browser.until(lambda: page.run("return window.completed.at(-1)?.result") == "userCancelled", 3, "cancelled by the button")
        page.press(SUBSCRIBE)
        page.sees("Confirm your purchase", "perch-subscription-store")
        page.key("Escape")
        browser.until(lambda: page.run("return window.completed.length === 2 && window.completed[1].result") == "userCancelled", 3, "cancelled by the key")
        page.press("return document.querySelector('perch-product').shadowRoot.querySelector('button.buy')")
        for words in ("Quantity: 3", "Paid once."):
            page.sees(words, "perch-product")
        page.click("Cancel")
        browser.until(lambda: page.run("return window.completed.length") == 3, 3, "cancelled again")
        equal("pia" in site.call("TestStoreService/ListAccounts").get("accounts", []) and site.transactions("pia"), False, "what is bought")
        site.configure({"dialogs": False})
    with check("with dialogs, the confirmed payment sheet buys what it shows, by mouse and by keys, and a failure stays in sight"):
        site.configure({"dialogs": True})
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store><perch-product product-id='app.perch.lifetime'></perch-product>", account="pam")
        page.ready()
        page.press(option(PLUS))
        page.press(SUBSCRIBE)
        page.sees("Confirm your purchase", "perch-subscription-store")
        equal(page.run("return window.completed.length"), 0, "purchases before the customer agrees")
        page.press("return all('dialog[open] button.buy')[0]")
        browser.until(lambda: page.run("return window.completed.at(-1)?.result") == "success", 5, "bought")
        browser.until(lambda: page.run("return all('dialog[open]').length === 0"), 5, "the sheet is closed")
        page.sees("Purchased: Plus Monthly.", "perch-subscription-store")
        page.sees("Current plan", "perch-subscription-store")
        equal(site.status("pam"), "SUBSCRIBED")
        site.configure({"simulatedError": {"api": "STORE_KIT_API_PURCHASE", "error": "STORE_KIT_ERROR_PURCHASE_NOT_ALLOWED"}})
        for armed in (True, False):
            page.press("return document.querySelector('perch-product').shadowRoot.querySelector('button.buy')")
            page.sees("Paid once.", "perch-product")
            # From Cancel, which has the focus, to the button that buys.
            equal(page.run("return document.querySelector('perch-product').shadowRoot.activeElement?.textContent"), "Cancel", "the focus")
            page.key("Tab")
            page.key("Enter")
            browser.until(lambda: page.run("return all('dialog[open]').length === 0 && window.completed.at(-1).result") == ("failure" if armed else "success"), 5, "the sheet is closed")
            if armed:
                page.sees("This account may not buy here.", "perch-product")
                equal(page.run("return point(all('.said.bad').find((each) => each.textContent)) !== null"), True, "the failure is in sight")
                site.configure({"simulatedError": {"api": "STORE_KIT_API_PURCHASE"}})
        page.misses("This account may not buy here.", "perch-product")
        browser.until(lambda: page.run("return document.querySelector('perch-product').hasAttribute('data-owned')"), 5, "owned")
        site.configure({"dialogs": False})
    with check("a push that draws the view again while a button is pressed does not lose the click"):
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store><perch-product product-id='app.perch.lifetime'></perch-product>", account="kai", holds=True)
        page.ready()
        for number, find in enumerate((SUBSCRIBE, "return document.querySelector('perch-product').shadowRoot.querySelector('button.buy')")):
            at = browser.until(lambda: page.run(f"const found = (() => {{ {find} }})(); return found && point(found)"), 5, "a button")
            drawn = "const view = document.querySelector('perch-product'); return [view.shadowRoot.querySelector('button').innerText, all('.mark').length]"
            before = page.run(drawn)
            cdp = browser.driver.execute_cdp_cmd
            for kind in ("mouseMoved", "mousePressed"):
                cdp("Input.dispatchMouseEvent", {"type": kind, "x": at[0], "y": at[1], "button": "left" if kind == "mousePressed" else "none", "clickCount": 1})
            page.run("window.pushed = 0; for (const type of ['currententitlementchange', 'storeproductschange', 'subscriptionstatuschange']) document.addEventListener(type, () => { window.pushed += 1; });")
            site.operate("kai", {"buy": {"productId": ("app.perch.lifetime", YEARLY)[number]}})
            browser.until(lambda: page.run("return window.pushed"), 5, "a push")
            # As a push draws: at once, if nothing were pressed.
            page.run("for (const each of document.querySelectorAll('perch-product, perch-subscription-store')) each.redraw()")
            equal(page.run(drawn), before, "the views under the finger")
            cdp("Input.dispatchMouseEvent", {"type": "mouseReleased", "x": at[0], "y": at[1], "button": "left", "clickCount": 1})
            browser.until(lambda: page.run("return window.started.length") == number + 1, 5, "the click counts")
            browser.until(lambda: page.run(drawn) != before, 5, "what was pushed is drawn then")
            site.operate("kai", {"clearTransactions": {}})
            browser.until(lambda: page.run(drawn) == before, 5, "and drawn back")
    with check("plans that could not be read are read again, though a list is there already"):
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store>", account="nina")
        page.ready()
        page.run("""
            const app = document.querySelector('perch-app'), call = app.call;
            window.failed = 0;
            app.call = function (method, request) {
              if (!method.endsWith('ListPlanOptions') || window.failed) return call.call(this, method, request);
              window.failed = 1;
              return Promise.reject(Object.assign(new Error('away'), { isTransient: true }));
            };""")
        site.operate("nina", {"buy": {"productId": PLUS}})
        browser.until(lambda: page.run("return window.failed && document.querySelector('perch-subscription-store').all.some((each) => each.relation === 'PLAN_RELATION_CURRENT')"), 8, "the plan that was bought")
    with check("options of a purchase come from around the view: appAccountToken and quantity"):
        token = "0b7d8c4e-6c4a-4f0c-9c43-0a4d7f5e2b11"
        page.build(f"<div app-account-token='{token}'><perch-product product-id='app.perch.coins' quantity='2'></perch-product></div>", account="olaf")
        page.press("return document.querySelector('perch-product').shadowRoot?.querySelector('button.buy')")
        browser.until(lambda: page.run("return window.completed.length"), 4, "bought")
        bought = page.run("return window.completed[0]")
        equal((bought["result"], bought["token"].lower(), bought["quantity"]), ("success", token, 2))
    with check("what is owned is not sold again, and what is not verified is not owned"):
        page.build("<perch-product product-id='app.perch.lifetime'></perch-product>", account="una")
        page.press("return document.querySelector('perch-product').shadowRoot?.querySelector('button.buy')")
        page.sees("Purchased", "perch-product")
        site.configure({"simulatedError": {"api": "STORE_KIT_API_VERIFICATION", "error": "STORE_KIT_ERROR_INVALID_SIGNATURE"}})
        page.sees("could not be verified", "perch-product")
        equal(page.run("return document.querySelector('perch-product').hasAttribute('data-owned')"), False)
        site.configure({"simulatedError": {"api": "STORE_KIT_API_VERIFICATION"}})
    with check("purchases that are turned off, or that the store forbids the account, cannot be begun, and the views say so"):
        site.operate("kim", {"setPayments": {"allowed": False}})
        for account, app, words in (("vera", "purchases='off'", "Purchases are turned off here."), ("kim", "", "Purchases are not allowed for this account.")):
            page.build("<perch-product product-id='app.perch.coins'></perch-product><perch-subscription-store group-id='plus'></perch-subscription-store>", account=account, app=app)
            page.ready()
            page.sees(words, "perch-product")
            page.sees(words, "perch-subscription-store")
            equal(page.run("return all('button.buy, button.subscribe').map((each) => each.disabled).join()"), "true,true")
    with check("a purchase that waited is told to be bought as soon as it is"):
        site.configure({"askToBuy": True})
        page.build("<perch-product product-id='app.perch.coins'></perch-product>", account="ada")
        page.press("return document.querySelector('perch-product').shadowRoot?.querySelector('button.buy')")
        page.sees("Your purchase waits for approval.")
        site.configure({"askToBuy": False})
        site.operate("ada", {"decidePurchase": {"number": site.inspect("ada")["pendingPurchases"][0]["number"], "approves": True}})
        page.sees("Purchased: 100 Coins.")
        page.misses("Your purchase waits for approval.")
    with check("a plan of the next period is said to begin then, and is not sold twice"):
        site.buy("dean", PRO)
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store>", account="dean")
        page.ready()
        page.press(option(PLUS))
        page.press(SUBSCRIBE)
        page.sees("Next period")
        page.sees("The change begins with your next period.", "perch-subscription-store")
        equal("Purchased" in page.words(), False, "a purchase is claimed")
        browser.until(lambda: page.run(f"const found = (() => {{ {SUBSCRIBE} }})(); return found.getAttribute('aria-disabled') === 'true' && found.dataset.product") == PLUS, 5, "its button is off")
    with check("what a view reads is of what its page shows already, whichever thread of the server answers"):
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store>", account="lea")
        page.ready()
        before = page.run("""window.asked = []; window.fetched = window.fetch; window.fetch = (address, options) => {
                if (String(address).endsWith('ListPlanOptions')) asked.push(JSON.parse(options.body).atLeast ?? {});
                return fetched(address, options);
            };
            return document.querySelector('perch-app').perch.revision""")
        site.buy("lea", PRO)
        page.sees("Current plan")
        asked = page.run("window.fetch = fetched; return asked")
        assert asked and all(int(each.get("revision", 0)) > before and "asOfMs" in each for each in asked), (before, asked)
    with check("what the family shares is marked, and a customer with the highest plan is told that there is no other"):
        site.buy("mia", PRO)
        site.operate("mia", {"share": {"target": {"productId": PRO}, "member": "sam"}})
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store>", account="sam")
        page.sees("Shared with you")
        page.build("<perch-subscription-store group-id='plus' visible-relationships='upgrade'></perch-subscription-store>", account="mia")
        page.sees("There is no other plan for you now.")
    with check("a store whose products cannot be loaded says so, and sells when they can"):
        armed = {"api": "STORE_KIT_API_LOAD_PRODUCTS"}
        site.configure({"simulatedError": {**armed, "error": "STORE_KIT_ERROR_NETWORK_ERROR"}})
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store>", account="lou")
        page.sees("Not loaded")
        page.misses("Plus Monthly")
        site.configure({"simulatedError": armed})
        page.ready()
        page.sees("Plus Monthly")


def sheets(page, site, browser):
    with check("a billing issue asks the customer, who resolves it or not"):
        site.buy("bill")
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store>", account="bill")
        page.ready()
        site.operate("bill", {"setCharges": {"outcome": "CHARGE_OUTCOME_FAIL"}})
        site.call("TestStoreService/SetClock", {"advanceToBoundary": {"account": "bill"}})
        site.operate("bill", {"setCharges": {"outcome": "CHARGE_OUTCOME_SUCCEED"}})
        page.sees("Your payment failed", "perch-sheet")
        page.click("Resolve")
        browser.until(lambda: site.status("bill") == "SUBSCRIBED", 5, "resolved")
        browser.until(lambda: page.run("return document.querySelector('perch-sheet')") is None, 5, "the sheet is gone")
    with check("a purchase that began elsewhere opens a sheet, unless the page takes it"):
        page.build("<perch-product product-id='app.perch.coins'></perch-product>", account="ines")
        page.sees("$", "perch-product")
        site.operate("ines", {"createIntent": {"productId": PLUS}})
        page.sees("You began a purchase", "perch-sheet")
        page.click("Subscribe")
        browser.until(lambda: site.status("ines") == "SUBSCRIBED", 5, "bought")
        browser.until(lambda: page.run("return document.querySelector('perch-sheet')") is None, 5, "the sheet is gone")
        page.run("document.querySelector('perch-app').addEventListener('purchaseintent', (event) => { event.preventDefault(); window.taken = event.detail.productId; })")
        site.operate("ines", {"createIntent": {"productId": "app.perch.coins"}})
        browser.until(lambda: page.run("return window.taken") == "app.perch.coins", 5, "taken")
        equal(page.run("return document.querySelector('perch-sheet')"), None, "no sheet")
    with check("a win-back offer opens a sheet for a lapsed subscriber, who takes it at its price, or leaves it"):
        for account, label in (("wanda", "Accept offer"), ("willy", "Not now")):
            site.buy(account, PRO)
            target = {"target": {"productId": PRO}}
            site.operate(account, {"setAutoRenew": {**target, "enabled": False}})
            site.operate(account, {"expire": target})
            page.build("<perch-subscription-store group-id='plus'></perch-subscription-store>", account=account)
            page.ready()
            for words in ("Come back", "1 month free, then $9.99/month"):
                page.sees(words, "perch-sheet")
            page.press(f"return all('perch-sheet').flatMap((each) => [...each.shadowRoot.querySelectorAll('dialog[open] button')]).find((each) => each.innerText === '{label}')")
            browser.until(lambda: page.run("return document.querySelector('perch-sheet')") is None, 5, "the sheet is gone")
            if label == "Accept offer":
                browser.until(lambda: site.status(account) == "SUBSCRIBED", 5, "bought")
                bought = site.transactions(account)[-1]
                equal((bought["offer"]["type"], int(bought["price"].get("milliunits", 0))), ("OFFER_TYPE_WIN_BACK", 0), "the offer")
            else:
                equal(site.status(account), "EXPIRED", "a customer who leaves the offer")
                # The store has it too, and it is not told again.
                page.sees("1 month free, then $9.99/month", "perch-subscription-store")
                page.run("document.querySelector('perch-app').perch.retry()")
                browser.settles()
                equal(page.run("return document.querySelector('perch-sheet')"), None, "a second sheet")
    with check("a higher price asks for consent in a sheet; a customer agrees, or lets the plan end"):
        for account, label in (("paul", "Agree"), ("petra", "Do not renew")):
            site.buy(account)
            site.operate(account, {"raisePrice": {"target": {"productId": PLUS}, "priceMilliunits": "6990", "consent": "PRICE_CONSENT_NEEDED"}})
            page.build("<perch-product product-id='app.perch.coins'></perch-product>", account=account)
            page.sees("The price of Plus Monthly will rise to $6.99/month.", "perch-sheet")
            page.press(f"return all('perch-sheet').flatMap((each) => [...each.shadowRoot.querySelectorAll('dialog[open] button')]).find((each) => each.innerText === '{label}')")
            browser.until(lambda: page.run("return document.querySelector('perch-sheet')") is None, 5, "the sheet is gone")
            renewal = site.call("EntitlementService/GetSubscriptionStatus", {"account": account, "groupId": "plus"})["success"]["statuses"][0]["renewalInfo"]["renewalInfo"]
            equal((renewal.get("priceIncreaseStatus"), renewal.get("willAutoRenew", False)), ("PRICE_INCREASE_STATUS_AGREED", True) if label == "Agree" else (renewal.get("priceIncreaseStatus"), False), account)
    with check("the sheet of subscriptions cancels, and asks for a refund"):
        site.buy("mona")
        page.build("<perch-manage-subscriptions group-id='plus'></perch-manage-subscriptions>", account="mona")
        page.click("Your subscription")
        page.sees("renews", "perch-sheet")
        page.click("Cancel subscription")
        page.sees("ends", "perch-sheet")
        page.click("Request a refund")
        page.press("return button('Send')")
        page.sees("Your refund is approved.")
        browser.until(lambda: site.status("mona") == "REVOKED", 5, "refunded")
    with check("restoring is disabled while it runs, and a wrong code is said in the sheet"):
        page.build("<perch-store product-ids='app.perch.coins' store-button='restore=visible redeem-code=visible'></perch-store>", account="rea")
        page.sees("Restore purchases")
        page.run("const app = document.querySelector('perch-app'); app.perch; const call = app.client.call.bind(app.client); app.client.call = async (...all) => { if (all[0].endsWith('Sync')) await new Promise((done) => { window.goOn = done; }); return call(...all); };")
        page.click("Restore purchases")
        browser.until(lambda: page.run("return all('perch-restore').at(-1).shadowRoot.querySelector('button').disabled"), 3, "disabled")
        page.run("window.goOn()")
        page.sees("Your purchases are restored.")
        equal(page.run("return all('perch-restore').at(-1).shadowRoot.querySelector('button').disabled"), False)
        page.click("Redeem code")
        page.run("const input = all('dialog[open] input')[0]; input.value = 'NOTHING'")
        page.click("Redeem")
        page.sees("This code is not valid.")


def own(page, site, browser):
    with check("a page builds its own control from the store's parts, and a product style from a standard one"):
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store><perch-product product-id='app.perch.coins'></perch-product>", holds=True)
        page.ready()
        page.run("""
            document.querySelector('perch-subscription-store').controlStyle = (configuration) => configuration.SubscriptionPicker((option) => {
              const box = document.createElement('div');
              box.className = 'mine';
              box.textContent = `${option.displayName} ${option.price} ${option.isFamilyShareable ? 'family' : ''} ${option.isSelected ? 'chosen' : ''}`;
              return box;
            });
            document.querySelector('perch-product').productViewStyle = (configuration) => {
              if (configuration.state.loading) { const wait = document.createElement('p'); wait.textContent = 'One moment'; return wait; }
              return configuration.standard('large');
            };""")
        page.press(f"return all('label[data-product=\"{YEARLY}\"]')[0]")
        browser.until(lambda: page.run("return all('.mine').filter((each) => each.textContent.includes('chosen')).length === 1"), 3, "chosen")
        page.press("return all('button.subscribe')[0]")
        browser.until(lambda: page.run("return window.started.at(-1)") == YEARLY, 3, "the own control buys")
        equal(page.run("return document.querySelector('perch-product').shadowRoot.querySelector('.product.large') !== null"), True)
    with check("a style with a slot for loading alone shows the product as the regular style does"):
        page.build("<perch-product product-id='app.perch.coins' product-style='custom'><p slot='loading'>One moment</p></perch-product>")
        browser.until(lambda: page.run("return document.querySelector('perch-product').shadowRoot.querySelector('.product.regular button.buy') !== null"), 5, "the regular style")
    with check("an icon has a place while its product loads, and none where there is none"):
        boxes = "return all('.icon').map((each) => each.checkVisibility() && each.getBoundingClientRect().width > 0).join()"
        page.build("<perch-store product-ids='app.perch.coins app.perch.lifetime'><b slot='icon-app.perch.coins'>C</b></perch-store>")
        page.sees("Lifetime")
        browser.until(lambda: page.run(boxes) == "true,false", 5, "the icon of coins alone")
        browser.open(f"{site.base}/console/examples/states.html?only=perch-product")
        browser.run(HELPERS)
        loading = "document.querySelector('[data-state=loading] perch-product').shadowRoot.querySelector('.icon')"
        browser.until(lambda: page.run(f"return {loading}?.checkVisibility() && !{loading}.querySelector('slot').checkVisibility()"), 5, "an empty place while it loads")
    with check("narrow views break no word, on a wide page too"):
        browser.size(1280, 900)
        page.build("<perch-product product-id='app.perch.plus.monthly'></perch-product><perch-subscription-offer group-id='plus' product-id='app.perch.plus.monthly'></perch-subscription-offer>"
                   + "".join(f"<perch-subscription-store group-id='plus' control-style='{style}'></perch-subscription-store>" for style in PLACEMENTS))
        page.ready()
        page.run("for (const each of document.querySelector('perch-app').children) each.style.width = '250px'")
        broken = """return all('h3, .about, .price, button').filter((each) => each.checkVisibility() && !each.closest('.compact')).flatMap((each) => {
            const found = [];
            const walk = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) for (const { 0: word, index } of walk.currentNode.data.matchAll(/[^\\s/]+/g)) {
              const range = document.createRange();
              range.setStart(walk.currentNode, index);
              range.setEnd(walk.currentNode, index + word.length);
              if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word);
            }
            return found;
          })"""
        browser.until(lambda: page.run("return all('.option').length") > 15, 5, "all styles")
        browser.until(lambda: page.run(broken) == [], 5, "no broken word")
    with check("the picker's items and the bar let a background of full height shine through"):
        page.build("<perch-subscription-store group-id='plus' background='full-height' item-background></perch-subscription-store>")
        page.ready()
        for part in (".option", ".bar"):
            shade = page.run("const style = getComputedStyle(all(arguments[0])[0]); return [style.backgroundColor, style.backgroundImage, style.backdropFilter]", part)
            assert "/ 0." in shade[0] and shade[1] == "none" and "blur" in shade[2], (part, shade)
        page.run("document.querySelector('perch-subscription-store').style.setProperty('--perch-bar', 'none')")
        equal(page.run("return getComputedStyle(all('.bar')[0]).backgroundColor"), "rgba(0, 0, 0, 0)", "a clear bar")
    with check("a product that is loaded already skips loading"):
        page.build("")
        equal(page.run("""
            const view = document.createElement('perch-product');
            view.product = {id: 'app.perch.coins', displayName: 'Coins', displayPrice: '$1', type: 'PRODUCT_TYPE_CONSUMABLE'};
            document.querySelector('perch-app').append(view);
            return view.dataset.state;"""), "success")
    with check("buttons beside a store appear as StoreKit's do: policies where asked, sign-in with its action, cancellation in a sheet"):
        page.build("<perch-subscription-store group-id='plus'></perch-subscription-store>")
        page.ready()
        for tag in ("perch-policies", "perch-sign-in-button", "perch-cancellation"):
            equal(page.run(f"return all('{tag}').length"), 0, tag)
        page.run("document.querySelector('perch-subscription-store').signInAction = () => { window.signs = true; }; document.querySelector('perch-subscription-store').draw()")
        page.click("Sign in")
        equal(page.run("return window.signs"), True)
        page.build("<dialog><perch-store product-ids='app.perch.coins'></perch-store></dialog>")
        page.run("document.querySelector('dialog').showModal()")
        page.click("Not now")
        browser.until(lambda: page.run("return !document.querySelector('dialog').open"), 3, "closed")
    with check("products and buttons speak the page's language"):
        page.build("<perch-store product-ids='app.perch.coins' store-button='restore=visible'></perch-store><perch-subscription-store group-id='plus'></perch-subscription-store>", lang="de")
        page.sees("Käufe wiederherstellen")
        page.sees("/Monat", "perch-subscription-store")
        page.run("document.documentElement.lang = 'ja'")
        page.sees("購入を復元")
        page.sees("/月", "perch-subscription-store")
    with check("SubscriptionOfferView shows one plan with its offer, and sells it"):
        page.build(f"<perch-subscription-offer group-id='plus' product-id='{YEARLY}'></perch-subscription-offer>", holds=True)
        page.sees("$29.99 for 1 year, then $49.99/year", "perch-subscription-offer")
        page.press("return all('button.subscribe')[0]")
        browser.until(lambda: page.run("return window.started.at(-1)") == YEARLY, 3, "sold")


def catalogue(site, **changes):
    """Loads the sample's catalogue with other names of products, as an edit of its file does."""
    from pages import CATALOG
    text = CATALOG.read_text()
    for old, new in changes.values():
        assert old in text, old
        text = text.replace(old, new)
    site.call("AdminService/LoadCatalog", {"file": base64.b64encode(text.encode()).decode(), "source": "an edit"})


def idle(page, site, browser, seconds, full):
    """Shows 4: twenty watches, one stream, no other request; what changes is pushed."""
    with check(f"twenty watches are one stream, and an idle page makes no other request in {seconds} s; changes come by push"):
        products = "".join(f"<perch-product product-id='{each}'></perch-product>" for each in ("app.perch.coins", "app.perch.lifetime", *(f"no.such.{number}" for number in range(14))))
        page.build(f"<perch-subscription-store group-id='plus'></perch-subscription-store>{products}", account="ida")
        page.ready()
        page.sees("Coins")
        browser.settles()
        watches = page.run("return document.querySelector('perch-app').perch.watches.size")
        assert watches >= 20, watches
        browser.collect()
        browser.requests.clear()
        began = page.run("return performance.now()")
        browser.until(lambda: page.run("return performance.now()") > began + seconds * 1_000, seconds + 5, "the time of the page")
        browser.collect()
        equal(browser.requests, [], "requests of an idle page")
        times = {}

        def comes(what, act, look):
            """How long after the call the page has drawn it."""
            page.run(f"window.drawnAt = 0; const look = () => {{ if ({look}) window.drawnAt = Date.now(); else requestAnimationFrame(look); }}; look();")
            began = time.time() * 1_000
            act()
            browser.until(lambda: page.run("return window.drawnAt"), 3, what)
            times.setdefault(what, []).append(page.run("return window.drawnAt") - began)

        store, lifetime = "words(document.querySelector('perch-subscription-store'))", "words(document.querySelector('[product-id=\"app.perch.lifetime\"]'))"
        for turn in range(5 if full else 1):
            comes("a purchase elsewhere", lambda: site.buy("ida", YEARLY), f"{store}.includes('Current plan')")
            comes("the same of a product", lambda: site.operate("ida", {"buy": {"productId": "app.perch.lifetime"}}), f"{lifetime}.includes('Purchased')")
            comes("an expiry", lambda: site.operate("ida", {"expire": {"target": {"productId": YEARLY}}}), f"!{store}.includes('Current plan')")
            comes("a refund", lambda: site.operate("ida", {"refund": {"target": {"productId": "app.perch.lifetime"}}}), f"!{lifetime}.includes('Purchased')")
            comes("an edit of the catalogue", lambda: catalogue(site, name=('"Lifetime"', '"For ever"')), f"{lifetime}.includes('For ever')")
            comes("an edit that is taken back", lambda: catalogue(site), f"!{lifetime}.includes('For ever')")
        for what, found in times.items():
            print(f"        {what} is drawn after {', '.join(f'{each:.0f}' for each in found)} ms")
        assert not full or all(min(found) < 200 for found in times.values()), times
        browser.collect()
        equal([each for each in browser.requests if each.address.endswith("WatchService/Watch")], [], "the stream went on")


def states(page, site, browser, axe):
    with check("every element is shown in every state, and axe finds nothing serious, in three languages and right to left"):
        browser.open(f"{site.base}/console/examples/states.html")
        browser.run(HELPERS)
        for words in ("Cold Winter", "Unavailable", "Not loaded", "Purchased", "Your purchase waits for approval.", "This account may not buy here.", "There is no connection. This may be old.", "could not be verified"):
            page.sees(words)
        axe(browser, "states")
        browser.fill("Language", "ja")
        page.sees("購入済み")
        browser.fill("Direction", "rtl")
        page.sees("購入済み")
        axe(browser, "states, right to left", "[data-state=purchased]")
    with check("the states fit a phone, and 200 %"):
        for width in (360, 640):
            browser.size(width, 700)
            browser.until(lambda: page.run("return document.documentElement.scrollWidth <= innerWidth + 1"), 3, f"no sideways scroll at {width}")
        browser.size(1280, 900)


class Elsewhere:
    """A page of another origin."""

    def __init__(self):
        parent = self
        self.page = b""

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200 if self.path == "/" else 404)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(parent.page if self.path == "/" else b"")

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def elsewhere(make, browser, perch, work):
    """Shows 3: five lines on a page of another origin, by TLS, with tokens that end, an upgrade, and an hour without a network.

    VIEWS_BEFORE names a program of another version, which serves first."""
    keys = work / "view-keys"
    keys.mkdir()
    subprocess.run([perch, "token", "key", "create", "--to", str(keys / "main.jwk")], check=True, capture_output=True)

    def token(life, scope="write", account=("--account", "zoe")):
        return subprocess.run([perch, "token", "create", "--key", str(keys / "main.jwk"), "--app", "com.example.app", "--scope", scope, *account, "--expires", life], check=True, capture_output=True, text=True).stdout.strip()

    from certificates import Authority
    certificate, key = Authority(keys).sign("server", names="IP:127.0.0.1")
    other = Elsewhere()
    site = make("elsewhere", ["--token-keys", str(keys / "main.pub.jwk"), "--allow-origin", other.origin, "--tls-certificate", certificate, "--tls-key", key], os.environ.get("VIEWS_BEFORE", perch))
    operator = token("1h", "test", ())

    def operate(operation):
        site.call("TestStoreService/Operate", {"account": "zoe", "operation": operation}, token=operator)

    def plan():
        return page.run("return all('.option').find((each) => words(each).includes('Current plan'))?.dataset.product ?? ''")

    try:
        # Pauses can be made shorter, so that an hour is short. The 21 s in which a server has to say something stay as long as they are.
        other.page = f"""<!doctype html><meta charset="utf-8"><style>body {{ --perch-accent: rgb(200, 0, 100) }}</style>
<script>window.speed = 1; window.slept = 0; const wait = window.setTimeout; window.setTimeout = (call, ms = 0, ...more) => {{ if (ms === 21_000) return wait(call, ms, ...more); window.slept += ms; return wait(call, ms / window.speed, ...more); }};</script>
<script type="module" src="{site.base}/views/v1/perch-views.js"></script>
<perch-app server="{site.base}" account="zoe" store-messages="hidden"><perch-subscription-store group-id="plus"></perch-subscription-store></perch-app>
<script>const app = document.querySelector('perch-app'); window.asked = []; window.newest = '{token("1h")}'; window.renewed = null;
app.token = (again) => {{ asked.push(!!again); return again ? window.renewed : window.newest; }};
app.addEventListener('credentialsexpired', () => {{ window.expired = true; }});</script>""".encode()
        page = Page(site, browser)
        with check("five lines of HTML sell on a page of another origin, by TLS, in the page's own colours"):
            browser.open(other.origin + "/")
            browser.run(HELPERS + KEEP + "window.isSame = true;")
            page.ready()
            equal(page.run("return getComputedStyle(all('button.subscribe')[0]).backgroundColor"), "rgb(200, 0, 100)")
            page.press(SUBSCRIBE)
            browser.until(lambda: page.run("return window.completed[0]?.result") == "success", 5, "bought")
            page.sees("Current plan")
        with check("a token that ends is asked for again, and credentialsexpired says where none comes"):
            page.run("window.newest = arguments[0]; document.querySelector('perch-app').token = document.querySelector('perch-app').token", token("1s"))
            browser.until(lambda: page.run("return window.expired === true && window.asked.includes(true)"), 15, "the token ended")
            page.run("window.newest = arguments[0]; document.querySelector('perch-app').token = document.querySelector('perch-app').token", token("1h"))
            operate({"expire": {"target": {"productId": plan()}}})
            page.misses("Current plan", seconds=8)
        with check("the page goes on after the server was gone, and after its upgrade"):
            site.server.kill()
            page.sees("There is no connection", seconds=8)
            site.server.arguments[0] = str(perch)
            site.server.start()
            page.run("document.querySelector('perch-app').perch.retry()")
            page.misses("There is no connection", seconds=10)
            page.press(SUBSCRIBE)
            page.sees("Current plan", seconds=6)
            equal(page.run("return window.isSame"), True, "the page is the same")
        with check("an hour without a network is told, is no storm of calls, and ends by itself with a new token and the state of then"):
            cdp = browser.driver.execute_cdp_cmd
            cdp("Network.enable", {})
            # Its token ends in that hour.
            page.run("window.newest = arguments[0]; window.speed = 1200; window.slept = 0; window.tries = 0; const real = window.fetch; window.fetch = (...all) => { window.tries += 1; return real(...all); };", token("1s"))
            cdp("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
            page.sees("There is no connection", seconds=8)
            browser.until(lambda: page.run("return window.slept > 3_600_000"), 20, "an hour of waiting")
            tries, slept = page.run("return [window.tries, window.slept]")
            assert tries < 10 + slept / 10_000, f"{tries} calls while the page waited for {slept / 1000:.0f} s"
            before = plan()
            operate({"expire": {"target": {"productId": before}}})
            page.run("window.renewed = arguments[0]; window.asked.length = 0", token("1h"))
            cdp("Network.emulateNetworkConditions", {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
            # Fast until it is there: a wait that begins in between would take its real time.
            page.misses("There is no connection", seconds=10)
            page.run("window.speed = 1")
            browser.until(lambda: plan() == "", 10, "the plan that ended meanwhile")
            equal(page.run("return [window.isSame, window.asked.includes(true)]"), [True, True], "the page is the same, and asked for another token")
    finally:
        site.stop()
        other.stop()


def spoken(page, browser, site):
    """Shows 5: what a screen reader is told of a whole purchase, and zoom, motion and print."""
    def tree():
        """Role, name and properties of what a screen reader finds, in order."""
        nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        return [(each["role"]["value"], each.get("name", {}).get("value", ""), {item["name"]: item["value"].get("value") for item in each.get("properties", [])}) for each in nodes if not each.get("ignored")]

    def has(role, name, **properties):
        return any(each[0] == role and name in each[1] and all(str(each[2].get(key)).lower() == str(value).lower() for key, value in properties.items()) for each in tree())

    def tells(role, name, **properties):
        browser.until(lambda: has(role, name, **properties), 5, f"{role} {name!r} {properties} among {[each[:2] for each in tree() if each[1]][:60]}")

    with check("a screen reader finds plans, choice, sheet, progress and result of a purchase, each by its name"):
        site.configure({"dialogs": True})
        page.build("<perch-subscription-store group-id='plus'><h2 slot='marketing'>Everything</h2></perch-subscription-store>", account="ray")
        page.ready()
        tells("heading", "Everything")
        tells("group", "Plans")
        for name, price in (("Pro Monthly", "$9.99/month"), ("Plus Monthly", "$4.99/month"), ("Plus Yearly", "$49.99/year")):
            found = [each for each in tree() if each[0] == "radio" and name in each[1] and price in each[1]]
            equal(len(found), 1, f"radios {name} with {price}")
        equal(sum(each[0] == "radio" and str(each[2].get("checked")).lower() == "true" for each in tree()), 1, "chosen plans")
        page.press(option(PLUS))
        tells("radio", "Plus Monthly", checked=True)
        tells("button", "Plus Monthly")
        # The place of announcements is there before there is something to announce: else it is not read out.
        tells("status", "", live="polite")
        equal([each for each in tree() if each[0] in ("button", "radio", "link") and not each[1]], [], "controls without a name")
        page.press(SUBSCRIBE)
        tells("dialog", "Confirm your purchase", modal=True)
        tells("button", "Cancel", focused=True)
        for words in ("Plus Monthly", "1 week free, then $4.99/month"):
            assert any(words in each[1] for each in tree() if each[0] in ("StaticText", "paragraph")), words
        page.press("return all('dialog[open] button.buy')[0]")
        browser.until(lambda: page.run("return all('dialog[open]').length === 0"), 5, "the sheet is closed")
        page.sees("Purchased: Plus Monthly.")
        found = page.run("const said = all('.said').find((each) => each.textContent.includes('Purchased')); return [said.getAttribute('role'), said.getAttribute('aria-live')]")
        equal(found, ["status", "polite"], "how it is announced")
        tells("button", "Current plan", disabled=True)
        # The focus is not lost with the sheet.
        browser.until(lambda: page.run("return document.activeElement?.matches('perch-subscription-store')"), 5, "the focus is in the store")
        site.configure({"dialogs": False})
    with check("at 200 % nothing is cut off and everything can be reached"):
        browser.size(1280, 900)
        for width, height in ((640, 450), (320, 450)):
            browser.size(width, height)
            for style in PLACEMENTS:
                page.build(f"<perch-subscription-store group-id='plus' control-style='{style}' store-button='restore=visible policies=visible'>{TALL}</perch-subscription-store>", holds=True)
                page.ready()
                browser.until(lambda: page.run("return document.documentElement.scrollWidth <= innerWidth"), 3, f"{style} at {width} does not scroll sideways")
                cut = page.run("""return all('button, .option, h2, h3').filter((each) => each.checkVisibility() && !each.closest('.paged') && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflow !== 'visible').map((each) => each.innerText)""")
                equal(cut, [], f"{style} at {width}: what is cut off")
                page.press(SUBSCRIBE if style != "buttons" else "return all('button.subscribe')[0]")
                browser.until(lambda: page.run("return window.started.length"), 3, f"{style} at {width}: a purchase")
        browser.size(1280, 900)
    with check("nothing moves where motion is not wanted, and a loading mark turns where it is"):
        moves = "return all('*').concat(all('.spin')).flatMap((each) => each.getAnimations()).length"
        browser.open(f"{page.site.base}/console/examples/states.html")
        browser.run(HELPERS)
        browser.until(lambda: page.run("return all('.spin').length"), 5, "loading marks")
        equal(page.run(moves), 0, "animations")
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "no-preference"}]})
        browser.until(lambda: page.run(moves), 5, "a loading mark turns")
        browser.size(1280, 900)
    with check("a print has every plan with its price, and no control that paper cannot have"):
        page.build(f"<perch-subscription-store group-id='plus' control-style='paged-picker' store-button='restore=visible'>{TALL}</perch-subscription-store>", holds=True)
        page.ready()
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        for words in ("Pro Monthly", "Plus Yearly", "$49.99/year"):
            page.sees(words)
        equal(page.run("return all('.option').filter((each) => each.checkVisibility() && each.getBoundingClientRect().height > 0).map((each) => each.dataset.product).length"), 3, "plans on paper")
        equal(page.run("const boxes = all('.option').map((each) => each.getBoundingClientRect()); return boxes.every((each) => each.left >= 0 && each.right <= innerWidth)"), True, "plans are on the page")
        equal(page.run("return all('.turn, .dots, button.subscribe, perch-restore button').filter((each) => each.checkVisibility()).length"), 0, "controls")
        equal(page.run("return getComputedStyle(all('.bar')[0]).position"), "static", "the bar")
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        browser.size(1280, 900)


def run(make, site, browser, perch, work, axe, full=False, develop=False, only=()):
    page = Page(site, browser)
    try:
        parts = {
            "matrix": lambda: matrix(page, browser, full), "groups": lambda: groups(page, browser), "purchase": lambda: purchase(page, site, browser), "sheets": lambda: sheets(page, site, browser),
            "own": lambda: own(page, site, browser), "idle": lambda: idle(page, site, browser, 60 if full else 3, full), "states": lambda: states(page, site, browser, axe),
            "spoken": lambda: spoken(page, browser, site), "elsewhere": lambda: develop or elsewhere(make, browser, perch, work),
        }
        for name, part in parts.items():
            if not only or name in only:
                part()
                site.configure({"simulatedError": {"api": "STORE_KIT_API_PURCHASE"}}, {"simulatedError": {"api": "STORE_KIT_API_VERIFICATION"}}, {"dialogs": False})
    finally:
        site.stop()
        browser.size(1280, 900)

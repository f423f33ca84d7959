"""Chromium, headless, by Selenium: what the console's tests and pictures share."""
import collections
import os
import pathlib
import shutil
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from waiting import PATIENCE_SECONDS, free_port

# A request, and the page that sent it.
Request = collections.namedtuple("Request", "page address")


# What the console says in a corner for some seconds. On a machine that stands still it may be gone before a test looks, so each page
# notes it, and whether it could be read there.
HEARS = """
    window.heard = [];
    new MutationObserver((records) => {
      for (const each of records.flatMap(({addedNodes}) => [...addedNodes])) {
        if (!each.classList?.contains('toast')) continue;
        const box = each.getBoundingClientRect();
        const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        window.heard.push([each.innerText, each.contains(top)]);
      }
    }).observe(document, {childList: true, subtree: true});"""


class Browser:
    """One browser. Its windows are told apart by their handles."""

    def __init__(self, width=1280, height=900, dark=False, mobile=False, more=()):
        options = Options()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--ignore-certificate-errors", "--disable-dev-shm-usage", "--hide-scrollbars",
                         "--disable-background-networking", "--disable-component-update", "--no-first-run", "--no-proxy-server",
                         "--disable-features=Translate,OptimizationHints,MediaRouter", "--lang=en",
                         f"--window-size={width},{height}", *more):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        # A proxy, and the time zone, of this machine are no part of a test. A port of the kernel may be another's before the driver listens.
        service = Service(shutil.which("chromedriver"), port=free_port(), env={**os.environ, "TZ": "UTC"})
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_script_timeout(PATIENCE_SECONDS)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HEARS})
        self.size(width, height, dark)
        self.errors = []
        self.requests = []

    def size(self, width, height, dark=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                         {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def open(self, address):
        self.driver.get(address)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def module(self, name):
        """The address under which the page has a file of the console: only there is it the page's own."""
        return self.run("return new URL(arguments[0], document.querySelector('script[type=module]').src).href", name)

    def text(self, selector="main"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def until(self, what, seconds=10, why=""):
        """Waits until `what()` is true, for minutes if the machine is busy. `seconds`: more than that. An element that was replaced
        meanwhile is looked for again."""
        end = time.monotonic() + max(seconds, PATIENCE_SECONDS)
        while True:
            try:
                found = what()
            except Exception:  # noqa: BLE001  # The page is being built.
                found = None
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"not within {max(seconds, PATIENCE_SECONDS)} s: {why or what}; the page says: {self.text('body')[:1500]}")
            time.sleep(0.03)

    def shows(self, text, selector="body", seconds=10):
        self.until(lambda: text in self.text(selector), seconds, f"{text!r} in {selector}")

    def hides(self, text, selector="body", seconds=10):
        self.until(lambda: text not in self.text(selector), seconds, f"no {text!r} in {selector}")

    def says(self, text):
        """Waits until the console has said this in its corner, where nothing lay over it, and forgets what it has said."""
        self.until(lambda: self.run("return window.heard.some(([said, isSeen]) => isSeen && said.includes(arguments[0]))", text), why=f"{text!r} is said")
        self.run("window.heard = []")

    def settles(self, seconds=10):
        """Waits until the page is drawn: all that it asked for has come, and four looks in a row find the same elements."""
        looks = []

        def look():
            count, missing = self.run("""
                const missing = document.readyState === 'complete' ? [] : ['the document'];
                const count = (node) => {
                  let sum = 0;
                  for (const each of node.querySelectorAll('*')) {
                    sum += 1;
                    if (each.getAttribute('aria-busy') === 'true' || each.tagName === 'IMG' && each.getAttribute('src') && !each.complete) missing.push(each.outerHTML.slice(0, 200));
                    if (each.shadowRoot) sum += count(each.shadowRoot);
                  }
                  return sum;
                };
                return [count(document), missing];""")
            looks.append(count if not missing else missing)
            return not missing and len(looks) > 3 and len({str(each) for each in looks[-4:]}) == 1

        try:
            self.until(look, seconds)
        except AssertionError as error:
            raise AssertionError(f"the page does not settle: {looks[-3:]}") from error

    # A control by its visible label; arguments: label, selector of controls, selector around them.
    FIND = """
        const wanted = arguments[0];
        const root = document.querySelector(arguments[2]);
        const all = [];
        const walk = (node) => {
          for (const each of node.querySelectorAll('*')) {
            if (each.matches(arguments[1])) all.push(each);
            if (each.shadowRoot) walk(each.shadowRoot);
          }
        };
        if (root) walk(root);
        if (root?.shadowRoot) walk(root.shadowRoot);
        const visible = all.filter((each) => each.checkVisibility?.() ?? true);
        const text = (each) => (each.getAttribute('aria-label') ?? each.innerText ?? '').trim();
        return visible.find((each) => text(each) === wanted) ?? visible.find((each) => text(each).startsWith(wanted)) ?? null;"""

    def find(self, label, kind="button, a, summary, [role=tab]", within="body"):
        """A control by its visible label."""
        return self.run(self.FIND, label, kind, within)

    def click(self, label, within="body", seconds=10, kind="button, a, summary, [role=tab]"):
        def press():
            # Found and clicked at once, so that nothing replaces it in between.
            return self.run(f"const found = (() => {{ {self.FIND} }})(); if (!found || found.disabled) return false; found.scrollIntoView({{block: 'center'}}); found.click(); return true;", label, kind, within)

        self.until(press, seconds, f"a control {label!r} in {within}")

    def opens(self, label, within="main"):
        """Opens what is one click away, if it is not open."""
        self.until(lambda: self.run(f"const found = (() => {{ {self.FIND} }})(); if (!found) return false; if (!found.parentNode.open) found.click(); return found.parentNode.open;",
                                    label, "summary", within), 10, f"a summary {label!r} in {within}")

    def cells(self, within, name):
        """The cells of the row of a table that begins with a name."""
        return self.run("""
            const row = [...document.querySelectorAll(`${arguments[0]} tr`)].find((each) => each.firstElementChild?.innerText.startsWith(arguments[1]));
            return row ? [...row.querySelectorAll('td')].map((each) => each.innerText.trim()) : [];""", within, name)

    def fill(self, label, value, within="body"):
        """Sets the field with this label, as a person does."""
        self.until(lambda: self.run("""
            const [label, within, value] = arguments;
            const labels = [...document.querySelector(within).querySelectorAll('label')].filter((each) => each.checkVisibility());
            const found = labels.find((each) => each.innerText.trim().startsWith(label));
            const field = found?.control ?? [...document.querySelectorAll(`[aria-label="${label}"]`)].find((each) => each.checkVisibility());
            if (!field) return false;
            if (field.type === 'checkbox') { if (field.checked !== value) field.click(); return true; }
            const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set;
            set.call(field, value);
            field.dispatchEvent(new Event('input', {bubbles: true}));
            field.dispatchEvent(new Event('change', {bubbles: true}));
            return true;""", label, within, value), 10, f"a field {label!r}")

    def collect(self):
        """Takes the browser's errors and requests since the last time."""
        import json
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                self.errors.append(entry["message"])
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(Request(message["params"].get("documentURL", ""), message["params"]["request"]["url"]))

    def picture(self, path, whole=True):
        import base64
        if whole:
            height = self.run("return Math.max(document.documentElement.scrollHeight, innerHeight)")
            width = self.run("return innerWidth")
            clip = {"x": 0, "y": 0, "width": width, "height": min(height, 4000), "scale": 1}
            data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip})
        else:
            data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))

    def close(self):
        self.driver.quit()

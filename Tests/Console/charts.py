"""The module of charts: in the console, and in the report pages of `perch bench`."""
import json
import re
import subprocess

from checks import check, equal
from waiting import PATIENCE_SECONDS, given_time

# The fonts of the machine, then such that readers may have: high lines as Noto has them, wide and large letters.
FONTS = {
    "its own": "",
    "high": ".chart svg text { font-family: high !important }",
    "wide": ".chart svg text { font-family: monospace !important; letter-spacing: 1px }",
    "large": ".chart svg text { font-size: 13.5px !important }",
}
# Charts of every unit and length, with the values that once cut a label or divided by zero.
EVERY = """
    const done = arguments[2];
    const address = performance.getEntriesByType('resource').find(({ name }) => name.endsWith('/chart.js')).name;
    const style = new CSSStyleSheet();
    style.replaceSync(arguments[1]);
    document.adoptedStyleSheets = [style];
    const high = new FontFace('high', "local('DejaVu Sans'), local('Noto Sans'), local('Liberation Sans')", { ascentOverride: '107%', descentOverride: '30%' });
    document.fonts.add(high);
    // A module of its own for each font, since one measures each label once.
    high.load().catch(() => null).then(() => import(`${address}?${arguments[0]}`)).then(({ chart }) => {
      const wrong = [];
      const place = document.createElement('div');
      document.body.append(place);
      const rows = (count, end, y) => Array.from({ length: count }, (_, at) => [end * (at + 1) / count, y(at)]);
      const cases = [];
      for (const unit of ['perSecond', 'nanoseconds', 'bytes', 'share', 'count']) {
        for (const top of [0, 0.004, 1, 999, 1_234_567, 2e10]) cases.push([`${unit} up to ${top}`, { unit, series: [{ name: 'a', points: rows(4, 4, (at) => top * at / 3) }] }]);
      }
      for (const end of [0.4, 1, 4, 37, 200, 599, 600, 3_601, 86_400]) cases.push([`${end} s`, { unit: 'count', series: [{ name: 'a', lines: [rows(30, end, (at) => at), rows(3, end / 2, () => 7)] }, { name: 'b', thin: true, points: rows(2, end, (at) => at) }] }]);
      const quantiles = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1];
      for (const top of [1, 900, 123_456, 8e9]) cases.push([`percentiles up to ${top}`, { unit: 'nanoseconds', percentiles: true, series: [{ name: 'a', points: quantiles.map((each) => [each, 1 + top * each]) }] }]);
      cases.push(['nothing', { unit: 'bytes', series: [{ name: '', points: [] }] }], ['one point', { unit: 'bytes', series: [{ name: '', points: [[3, 5]] }] }],
        ['gaps', { unit: 'count', from: 100, to: 160, marks: [[100, '1 min ago'], [160, 'now']], series: [{ name: '', points: [[90, 1], [110, null], [120, 3], [130, 4], [140, null], [150, 2], [160, 3]] }] }]);
      for (const [name, options] of cases) {
        const drawn = chart({ title: name, ...options });
        place.replaceChildren(drawn);
        const drawing = drawn.querySelector('svg');
        const [, , width, height] = drawing.getAttribute('viewBox').split(' ').map(Number);
        const boxes = [...drawing.querySelectorAll('text')].map((each) => [each.textContent, each.getBBox()]);
        for (const [text, box] of boxes) if (box.x < 0 || box.x + box.width > width || box.y < 0 || box.y + box.height > height) wrong.push(`${name}: ${text} is cut`);
        boxes.forEach(([text, box], at) => boxes.slice(at + 1).forEach(([other, more]) => {
          if (box.x < more.x + more.width && more.x < box.x + box.width && box.y < more.y + more.height && more.y < box.y + box.height) wrong.push(`${name}: ${text} lies on ${other}`);
        }));
        const marks = boxes.filter(([, box]) => box.y + box.height < height - 12).map(([text]) => text);
        if (new Set(marks).size !== marks.length) wrong.push(`${name}: a mark comes twice: ${marks}`);
        if (/NaN|Infinity|undefined/.test(drawn.innerHTML)) wrong.push(`${name}: a number is none`);
        const lines = options.series.flatMap((each) => each.lines ?? [each.points]).filter((each) => each.some(([, y]) => y !== null)).length;
        const shapes = drawing.querySelectorAll('path, circle').length;
        if (shapes !== lines) wrong.push(`${name}: ${shapes} lines, not ${lines}`);
      }
      place.remove();
      document.adoptedStyleSheets = [];
      done(wrong);
    }, (error) => done([String(error)]));"""


def run(site, browser, perch, work):
    browser.open(site.page("live"))
    browser.until(lambda: browser.run("return document.querySelector('.chart svg') !== null"), why="a chart")
    for name, style in FONTS.items():
        with check(f"charts: no label is cut or lies on another, and every line is drawn: letters that are {name}"):
            equal(browser.driver.execute_async_script(EVERY, name.split()[0], style), [], "what is wrong")
    page = work / "report.html"
    with check("report: a page of the bench draws its charts, asks for nothing, and is readable without scripts"):
        def measured(seconds):
            """A round in which the machine stood still may have no line in a chart."""
            done = subprocess.run([perch, "bench", "hot", "--watchers", "5", "--rate", "50", "--duration", f"{seconds}s", "--warmup", "200ms",
                                   "--pairs", "2", "--report", str(page)], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
            equal(done.returncode, 0, done.stdout + done.stderr)
            blocks = re.findall(r'<script type="application/json">(.*?)</script>', page.read_text(), re.DOTALL)
            return all(line for block in blocks for each in json.loads(block)["series"] for line in each["lines"])
        given_time(measured, 2)
        # The page before may have calls under way: it ends first, and requests are told by their page.
        browser.open("about:blank")
        browser.collect()
        before = len(browser.errors), len(browser.requests)
        browser.open(page.as_uri())
        browser.until(lambda: browser.run("return document.querySelectorAll('.chart svg[role=img] path').length") >= 6, why="charts")
        charts = browser.run("return [...document.querySelectorAll('.chart')].map((each) => [each.querySelectorAll('svg path, svg circle').length, each.querySelector('p').innerText, each.querySelector('svg').ariaLabel])")
        assert len(charts) >= 5, charts
        for lines, caption, label in charts:
            equal(lines, 2, f"lines of {label}, one for each round")
            assert caption.startswith("Perch ") and label.endswith(caption), (caption, label)
        equal(browser.run("return document.querySelectorAll('.chart script').length"), 0, "blocks that were not drawn")
        browser.collect()
        equal(browser.errors[before[0]:], [], "errors")
        equal({each.address for each in browser.requests[before[1]:] if each.page == page.as_uri()}, {page.as_uri()}, "requests")
        try:
            browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
            browser.open(page.as_uri())
            text = browser.driver.find_element("css selector", "body").text
            for _, caption, _ in charts:
                assert caption in text, f"{caption!r} is not in {text!r}"
            assert "Conclusion" in text and "push_p99" in text and "{" not in text, text
        finally:
            browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        browser.open("about:blank")


__all__ = ["run"]

// Line charts as SVG, in the reader's colours: of the console, and of the reports of `perch bench`.

const svg = (name, fields = {}, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(fields)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

/** A number in a unit: `perSecond`, `nanoseconds`, `bytes`, `share` (of one), `count`. */
export function unitText(value, unit) {
  if (value === undefined || value === null || Number.isNaN(value)) return '–';
  const round = (number) => (number >= 100 ? Math.round(number).toLocaleString('en') : number >= 10 ? number.toFixed(1).replace(/\.0$/, '') : String(Number(number < 1 ? number.toPrecision(2) : number.toFixed(2))));
  const scaled = (steps, base) => {
    let at = 0;
    while (at < steps.length - 1 && Math.abs(value) >= base ** (at + 1)) at += 1;
    return `${round(value / base ** at)}${steps[at] ? ' ' + steps[at] : ''}`;
  };
  switch (unit) {
    case 'nanoseconds': return scaled(['ns', 'µs', 'ms', 's'], 1000);
    case 'bytes': return scaled(['B', 'KiB', 'MiB', 'GiB'], 1024);
    case 'share': return `${round(value * 100)} %`;
    case 'perSecond': return `${scaled(['', 'k', 'M'], 1000)}/s`;
    default: return scaled(['', 'k', 'M', 'G'], 1000);
  }
}

/** Round steps from 0 to `top` or beyond; of bytes, round in their own unit. */
export function ticks(top, unit = '') {
  const raw = (top || 1) / 4;
  const base = unit === 'bytes' ? 1024 ** Math.floor(Math.log(raw) / Math.log(1024)) : 1;
  const scale = base * 10 ** Math.floor(Math.log10(raw / base));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * scale >= raw) * scale;
  return Array.from({ length: Math.ceil((top || 1) / step) + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** Powers of ten around what lies between `low` and `high`. */
function decades(low, high) {
  const made = [10 ** Math.floor(Math.log10(Math.max(low, 1)))];
  while (made[made.length - 1] < high) made.push(made[made.length - 1] * 10);
  return made;
}

const sizes = new Map();

/** How far each text reaches from its anchor, in a chart's own units: as wide as the reader's fonts make it. */
function measured(texts) {
  const unknown = [...new Set(texts)].filter((text) => !sizes.has(text));
  if (unknown.length) {
    if (sizes.size > 1_000) sizes.clear();
    const drawn = unknown.map((text) => svg('text'));
    drawn.forEach((each, at) => { each.textContent = unknown[at]; });
    const place = document.createElement('div');
    place.className = 'chart';
    place.style.cssText = 'position:absolute;visibility:hidden;top:0;left:0;width:340px';
    place.append(svg('svg', { viewBox: '0 0 340 190' }, ...drawn));
    document.body.append(place);
    drawn.forEach((each, at) => {
      const { width, y, height } = each.getBBox();
      sizes.set(unknown[at], { width, up: -y, down: y + height });
    });
    place.remove();
  }
  return texts.map((text) => sizes.get(text));
}

/** The place of a quantile on HdrHistogram's axis: each further nine has the same width. */
const nines = (quantile) => (quantile >= 1 ? 5 : Math.min(5, -Math.log10(1 - quantile)));
const nineMarks = [[0, '0'], [0.9, '90 %'], [0.99, '99 %'], [0.999, '99.9 %'], [0.9999, '99.99 %'], [1, 'max']];

/**
 * A chart. A series has one colour, and one line or several: `{ name, points: [[x, y | null], …] or lines: [points, …], thin }`.
 * Null breaks a line. `marks` are the labels of the x axis, `[[x, text], …]`. With `percentiles` each x is a quantile, and y is
 * logarithmic.
 * @param {{title: string, unit: string, series: object[], from?: number, to?: number, marks?: [number, string][], percentiles?: boolean, label?: string}} options
 */
export function chart({ title, unit, series, from, to, marks, percentiles = false, label }) {
  const [width, height, right] = [340, 190, 16];
  const place = percentiles ? nines : (value) => value;
  const lines = series.flatMap(({ lines, points, thin }, of) => (lines ?? [points]).map((each) => ({ of, thin, points: each.map(([x, y]) => [place(x), y ?? null]) })));
  const known = lines.flatMap(({ points }) => points).filter(([, y]) => y !== null);
  const span = (at) => known.reduce(([low, high], each) => [Math.min(low, each[at]), Math.max(high, each[at])], [Infinity, -Infinity]);
  const [low, high] = known.length ? span(1) : [0, 0];
  const first = from ?? 0;
  const last = percentiles ? 5 : to ?? (known.length ? Math.max(span(0)[1], first) : 1);
  const ys = percentiles ? decades(low, high) : ticks(high, unit);
  const scaled = percentiles ? (value) => Math.log10(Math.max(value, ys[0])) : (value) => value;
  const [least, most] = [scaled(ys[0]), scaled(ys[ys.length - 1])];
  const names = ys.map((each) => unitText(each, unit));
  const xs = percentiles ? nineMarks.map(([at, name]) => [nines(at), name]) : marks ?? ticks(last).filter((each) => each <= last).map((each) => [each, `${each} s`]);
  const [besides, belows] = [measured(names), measured(xs.map(([, name]) => name))];
  const [up, down] = ['up', 'down'].map((side) => Math.max(0, ...[...besides, ...belows].map((each) => each[side])));
  const left = 12 + Math.max(...besides.map((each) => each.width));
  // The lowest label of the y axis stands above those of the x axis, and no label leaves the drawing.
  const floor = height - Math.max(6, down + 1);
  const [top, bottom] = [Math.max(10, up - 3), Math.max(26, height - floor + up + down + 5)];
  const x = (value) => left + ((value - first) / (last - first || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((scaled(value) - least) / (most - least || 1)) * (height - bottom - top);
  // Lines that are too close for a label each have one at every second, or third.
  const every = Math.max(1, Math.ceil((up + down) / ((height - bottom - top) / Math.max(1, ys.length - 1))));
  const text = (content, at, down, anchor) => {
    const made = svg('text', { x: at.toFixed(1), y: down.toFixed(1), 'text-anchor': anchor });
    made.textContent = content;
    return made;
  };
  const newest = series.map((each) => `${each.name ? each.name + ' ' : ''}${unitText((each.lines ?? [each.points])[0].at(-1)?.[1], unit)}`).join(', ');
  const drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label ?? `${title}: ${newest}` });
  if (!known.length) drawing.append(text('no values yet', (left + width - right) / 2, height / 2, 'middle'));
  else ys.forEach((each, at) => drawing.append(svg('line', { class: 'grid', x1: left, x2: width - right, y1: y(each), y2: y(each) }), ...at % every ? [] : [text(names[at], left - 8, y(each) + 4, 'end')]));
  let free = width;
  for (const [of, [at, name]] of [...xs.entries()].reverse()) {
    // A label that an edge would cut begins or ends there instead, and one that would touch the next is left out.
    const { width: wide } = belows[of];
    const begin = Math.max(0, Math.min(x(at) - wide / 2, width - 1 - wide));
    if (begin + wide > free) continue;
    drawing.append(text(name, begin, floor, 'start'));
    free = begin - 4;
  }
  // The first series is drawn last, so that it is on top.
  for (const { of, thin, points } of lines.reverse()) {
    const shown = points.filter(([at, value]) => value !== null && at >= first);
    if (shown.length === 1) drawing.append(svg('circle', { class: `d${of % 3}`, r: 3, cx: x(shown[0][0]).toFixed(1), cy: y(shown[0][1]).toFixed(1) }));
    if (shown.length < 2) continue;
    let path = '';
    let isDown = false;
    for (const [at, value] of points) {
      if (value === null || at < first) { isDown = false; continue; }
      path += `${isDown ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
    }
    drawing.append(svg('path', { class: `l${of % 3}${thin ? ' thin' : ''}`, d: path }));
  }
  const element = (tag, className, ...children) => {
    const made = document.createElement(tag);
    made.className = className;
    made.append(...children);
    return made;
  };
  const whole = element('div', 'chart', element('h2', '', title));
  whole.append(element('div', 'key', ...series.flatMap(({ name }, at) => (name ? [element('i', `k${at % 3}`), name] : []))));
  whole.append(drawing);
  return whole;
}

/** Draws the charts of a report. Each is a title, a caption in words, and a block of JSON with the options of `chart`. */
export function drawReport() {
  for (const block of document.querySelectorAll('.chart > script[type="application/json"]')) {
    const place = block.parentElement;
    const caption = place.querySelector('p');
    const drawn = chart({ ...JSON.parse(block.textContent), label: `${place.querySelector('h2').textContent}: ${caption.textContent}` });
    drawn.append(caption);
    place.replaceWith(drawn);
  }
}

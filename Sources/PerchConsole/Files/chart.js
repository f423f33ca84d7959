// Line charts as SVG, in the reader's colours: of the console, and of the reports of `perch bench`.

const svg = (name, fields = {}, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(fields)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

/** A number in a unit: `perSecond`, `nanoseconds`, `bytes`, `share` (of one), `count`, `seconds`. */
export function unitText(value, unit) {
  if (value === undefined || value === null || Number.isNaN(value)) return '–';
  const round = (number) => (number >= 100 ? Math.round(number).toLocaleString('en') : number >= 10 ? number.toFixed(1).replace(/\.0$/, '') : number.toFixed(2).replace(/\.?0+$/, ''));
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
    case 'seconds': return `${round(value)} s`;
    default: return scaled(['', 'k', 'M', 'G'], 1000);
  }
}

/** Round steps that cover 0 to `top`; of bytes, round in their own unit. */
export function ticks(top, unit = '') {
  const raw = (top || 1) / 4;
  const base = unit === 'bytes' ? 1024 ** Math.floor(Math.log(raw) / Math.log(1024)) : 1;
  const scale = base * 10 ** Math.floor(Math.log10(raw / base));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * scale >= raw) * scale;
  return Array.from({ length: Math.ceil((top || 1) / step) + 1 }, (_, at) => at * step);
}

/**
 * A chart. A series is `{ name, points: [[x, y | null], …], thin }`; null breaks its line.
 * @param {{title: string, unit: string, series: object[], from?: number, to?: number, xText?: (x: number) => string}} options
 */
export function chart({ title, unit, series, from, to, xText = (x) => `${x} s` }) {
  const [width, height, left, bottom, top] = [420, 190, 62, 22, 8];
  const all = series.flatMap((each) => each.points).filter(([, y]) => y !== null && y !== undefined);
  const [first, last] = [from ?? Math.min(...all.map(([x]) => x), 0), to ?? Math.max(...all.map(([x]) => x), 1)];
  const marks = ticks(Math.max(...all.map(([, y]) => y), 0), unit);
  const high = marks[marks.length - 1];
  const x = (value) => left + ((value - first) / (last - first || 1)) * (width - left - 8);
  const y = (value) => height - bottom - (value / high) * (height - bottom - top);
  const newest = series.map((each) => `${each.name ? each.name + ' ' : ''}${unitText(each.points.at(-1)?.[1], unit)}`).join(', ');
  const drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}: ${newest}` });
  for (const mark of marks) {
    const label = svg('text', { x: left - 8, y: y(mark) + 4, 'text-anchor': 'end' });
    label.textContent = unitText(mark, unit);
    drawing.append(svg('line', { class: 'grid', x1: left, x2: width - 8, y1: y(mark), y2: y(mark) }), label);
  }
  for (const [at, anchor] of [[first, 'start'], [last, 'end']]) {
    const label = svg('text', { x: x(at), y: height - 5, 'text-anchor': anchor });
    label.textContent = xText(at);
    drawing.append(label);
  }
  series.forEach((each, at) => {
    let path = '';
    let isDown = false;
    for (const [place, value] of each.points) {
      if (value === null || value === undefined || place < first) { isDown = false; continue; }
      path += `${isDown ? 'L' : 'M'}${x(place).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
    }
    if (path) drawing.append(svg('path', { class: `l${at % 3}${each.thin ? ' thin' : ''}`, d: path }));
  });
  const place = document.createElement('div');
  place.className = 'chart';
  const heading = document.createElement('h2');
  heading.textContent = title;
  place.append(heading, drawing);
  if (series.length > 1) {
    const key = document.createElement('div');
    key.className = 'key';
    series.forEach((each, at) => { const mark = document.createElement('i'); mark.className = `k${at % 3}`; key.append(mark, each.name); });
    place.append(key);
  }
  return place;
}

// The server, now and over the last quarter of an hour, from its own figures.
import { h, session, Page, number, missing } from './kit.js';
import { chart, unitText } from './chart.js';

const quarter = 15 * 60;

class LivePage extends Page {
  open() {
    this.append(h('h1', {}, 'Live'), (this.about = h('p.what')), (this.tiles = h('div.tiles', { role: 'group', 'aria-label': 'Figures' })), (this.charts = h('div.charts')), (this.findings = h('section.card', { 'aria-label': 'Findings', hidden: true })), (this.allPlace = h('details.card', {}, h('summary', {}, 'Every figure'))));
    if (!session.allows('admin')) return this.tiles.replaceWith(missing('Your token does not have the scope `admin` of the server, which its figures need.'));
    this.table = h('tbody');
    this.allPlace.append(h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Figures' }, h('table.wide', {}, this.table)));
    this.on(this.allPlace, 'toggle', () => { if (this.allPlace.open) this.#read(); });
    this.follow(() => this.#read(), 1000);
    // Rates need two looks.
    setTimeout(() => { if (!this.ended) this.#read(); }, 1000);
  }

  async #read() {
    let status;
    try {
      status = await session.perch.call('AdminService/GetServerStatus', {}, { timeoutMs: 3_000 });
    } catch (error) {
      if (error.code === 'permission_denied') this.tiles.replaceChildren(missing(error.message));
      return;
    }
    if (this.ended) return;
    const figures = new Map();
    for (const metric of status.metrics ?? []) {
      const list = figures.get(metric.name) ?? [];
      list.push(metric);
      figures.set(metric.name, list);
    }
    this.#sample(figures);
    this.about.textContent = `Perch ${status.version}, revision ${status.revision ?? 0}, epoch ${status.epoch ?? 0}`;
    this.#draw(figures);
    this.#findings(status.findings ?? []);
    if (this.allPlace.open) {
      this.table.replaceChildren(...(status.metrics ?? []).map((each) => h('tr', {}, h('th', { scope: 'row' }, h('code', {}, each.name), each.labels ? h('div.soft', {}, each.labels) : ''), h('td.num', {}, number(each.value).toLocaleString('en')), h('td.why', {}, each.help))));
    }
  }

  /** The sum of a figure over its labels. */
  #sum(figures, name, label = '') { return (figures.get(name) ?? []).filter((each) => (each.labels ?? '').includes(label)).reduce((sum, each) => sum + number(each.value), 0); }

  #sample(figures) {
    const at = Date.now() / 1000;
    const sum = (name, label) => this.#sum(figures, name, label);
    const sample = {
      at, pushes: sum('perch_values_pushed_total') + sum('perch_events_pushed_total'), changes: sum('perch_store_changes_total'),
      calls: sum('perch_calls_opened_total'), cpu: sum('process_cpu_seconds_total'),
      p50: sum('perch_push_seconds', 'quantile="0.5"') || null, p99: sum('perch_push_seconds', 'quantile="0.99"') || null,
      memory: sum('process_resident_memory_bytes'), connections: sum('perch_connections'), streams: sum('perch_calls'),
    };
    const { history } = LivePage;
    const before = history.at(-1);
    if (before && at - before.at < 0.5) return;
    if (before) {
      const span = at - before.at;
      const rate = (name) => Math.max(0, (sample[name] - before[name]) / span);
      sample.rates = { pushes: rate('pushes'), changes: rate('changes'), calls: rate('calls'), cpu: rate('cpu') };
    }
    history.push(sample);
    while (history.length > 2 && history[0].at < at - quarter) history.shift();
  }

  #draw(figures) {
    const { history } = LivePage;
    const last = history.at(-1);
    const tile = (value, label) => h('div.tile', {}, h('b', {}, value), h('span', {}, label));
    const refused = (figures.get('perch_refusals_total') ?? []).reduce((sum, each) => sum + number(each.value), 0);
    this.tiles.replaceChildren(
      tile(unitText(last.connections, 'count'), 'connections'), tile(unitText(last.streams, 'count'), 'streams and calls open'),
      tile(unitText(last.rates?.pushes ?? 0, 'perSecond'), 'pushes'), tile(unitText(last.rates?.changes ?? 0, 'perSecond'), 'changes'),
      tile(last.p99 === null || last.p99 === undefined ? '–' : unitText(last.p99 * 1e9, 'nanoseconds'), 'p99, commit to push'), tile(unitText(last.memory, 'bytes'), 'memory'), tile(unitText(refused, 'count'), 'refusals at limits'));
    const to = last.at;
    const from = Math.max(to - quarter, Math.min(history[0].at, to - 60));
    const marks = [[from, `${Math.round((to - from) / 60 * 10) / 10} min ago`], [to, 'now']];
    const line = (title, unit, series) => chart({ title, unit, from, to, marks, series: series.map(([name, value]) => ({ name, points: history.map((each) => [each.at, value(each) ?? null]) })) });
    this.charts.replaceChildren(
      line('Pushes', 'perSecond', [['', (each) => each.rates?.pushes]]), line('Commit to push, since the start', 'nanoseconds', [['median', (each) => (each.p50 ?? null) === null ? null : each.p50 * 1e9], ['p99', (each) => (each.p99 ?? null) === null ? null : each.p99 * 1e9]]),
      line('Changes and calls', 'perSecond', [['changes', (each) => each.rates?.changes], ['calls', (each) => each.rates?.calls]]), line('Connections, streams', 'count', [['connections', (each) => each.connections], ['streams', (each) => each.streams]]),
      line('Memory', 'bytes', [['', (each) => each.memory]]), line('CPU (100 % is one core)', 'share', [['', (each) => each.rates?.cpu]]));
  }

  #findings(findings) {
    const odd = findings.filter((each) => each.level !== 'ok');
    this.findings.hidden = odd.length === 0;
    this.findings.replaceChildren(h('h2', {}, 'What the server finds'), ...odd.map((each) => h('p.note', { class: each.level === 'problem' ? 'bad' : 'warn' }, h('b', {}, each.subject), `: ${each.message}. ${each.remedy ?? ''}`)));
  }
}
/** Kept while the console is open, also while another page is shown. */
LivePage.history = [];

customElements.define('perch-live-page', LivePage);

// The app's clock: freeze it, let it run, move it forward, and choose how fast periods pass.
import { h, session, Page, instant, utc, zone, number, attempt, length, missing, offering } from './kit.js';
import { accountsOf } from './find.js';

export const rates = [
  [0, 'real time'], [1, 'one hour is one day'], [2, '30 minutes are one day'], [3, '5 minutes are one day'], [4, 'one minute is one day'], [5, '30 seconds are one day'],
  [6, 'one second is one day'], [10, 'a month is an hour'], [11, 'a month is 30 minutes'], [12, 'a month is 15 minutes'], [13, 'a month is 5 minutes'],
  [15, 'a month is 30 seconds'], [1000, 'each renewal every 15 minutes'], [1001, 'each renewal every 5 minutes'], [1002, 'each renewal every minute'],
  [1003, 'each renewal every 30 seconds'], [1004, 'each renewal every 10 seconds'], [1005, 'each renewal every 2 seconds'],
];
const steps = [['1 minute', 60_000], ['1 hour', 3_600_000], ['1 day', 86_400_000], ['1 week', 604_800_000], ['30 days', 2_592_000_000], ['1 month'], ['1 year', 31_536_000_000]];

/** The change of the clock that is meant by one of `steps`. A month follows the calendar, as renewals do. */
function forward(label) {
  const ms = new Map(steps).get(label);
  if (ms) return { advanceByMs: String(ms) };
  const month = new Date(session.now());
  const day = month.getUTCDate();
  month.setUTCMonth(month.getUTCMonth() + 1);
  if (month.getUTCDate() !== day) month.setUTCDate(0);
  return { advanceToMs: String(month.getTime()) };
}

/** Moves the clock, and says what became of renewals. Null: it was refused. */
async function move(change) {
  const answer = await attempt(() => session.perch.call('TestStoreService/SetClock', change, { timeoutMs: 60_000 }));
  if (!answer) return null;
  session.took(answer.clock);
  const parts = [[answer.renewedCount, 'renewed'], [answer.failedCount, 'failed to charge']].filter(([count]) => number(count)).map(([count, what]) => `${count} ${what}`);
  const settled = number(answer.settledCount);
  return settled ? `${settled} renewal attempt${settled === 1 ? '' : 's'} settled${parts.length ? `: ${parts.join(', ')}` : ''}.` : 'The clock is set. No renewal was due.';
}
export const advance = (label) => move(forward(label));

class ClockPage extends Page {
  open() {
    this.append(h('h1', {}, 'Clock'), h('p.what', {}, 'Time makes things happen: renewals, ends of trials, grace periods and retries. It moves for every customer of this app, and never back.'));
    if (!session.isTest || !session.allows('test')) return this.append(missing('Only test apps have a clock of their own, and the scope `test` moves it.'));
    this.now = h('p.big', { 'aria-live': 'off' });
    this.state = h('span.badge');
    this.rate = h('select', { onchange: () => this.#setRate() }, rates.map(([value, label]) => h('option', { value: String(value) }, label)));
    this.account = h('input', { name: 'account', placeholder: 'alice', required: true });
    this.date = h('input', { type: 'datetime-local', step: 1, required: true });
    this.ahead = h('output', {}, 'nothing');
    this.slider = h('input', { type: 'range', min: 0, max: 100, value: 0, 'aria-label': 'Forward by', oninput: () => this.#slide(), onchange: () => this.#endSlide() });
    this.said = h('p.what', { role: 'status' });
    this.freezer = h('button.primary', { onclick: () => this.#set(session.clock?.frozen ? { resume: {} } : { freeze: {} }) });
    this.append(
      h('section.card', { 'aria-label': 'Now' }, h('div.bar.mid', {}, this.now, this.state), h('div.ops', {}, this.freezer, steps.map(([label]) => h('button', { onclick: () => this.#set(forward(label)) }, `+ ${label}`))), this.said),
      h('section.card', { 'aria-label': 'Slide' }, h('h2', {}, 'Slide'), h('p.what', {}, 'Forward by ', this.ahead, '. The clock moves while you slide; it never moves back.'), this.slider),
      h('div.cols', {},
        h('section.card', { 'aria-label': 'Boundary' }, h('h2', {}, 'To the next boundary of an account'),
          h('form.bar', { onsubmit: (event) => { event.preventDefault(); this.#set({ advanceToBoundary: { account: this.account.value } }); } },
            h('label.field.grow', {}, 'Account', offering(this.account, accountsOf)), h('button', {}, 'Go'))),
        h('section.card', { 'aria-label': 'Instant' }, h('h2', {}, 'To an instant'),
          h('form.bar', { onsubmit: (event) => { event.preventDefault(); this.#set({ advanceToMs: String(Date.parse(this.date.value)) }); } },
            h('label.field.grow', {}, `In ${zone(session.now())}`, this.date), h('button', {}, 'Go')))),
      h('section.card', { 'aria-label': 'Time rate' }, h('h2', {}, 'How long a period lasts'), h('label.field.short', {}, 'Time rate', this.rate),
        h('p.what', {}, 'It holds for periods that begin from now on.')));
    this.on(session, 'clock', () => this.#show());
    const tick = setInterval(() => this.#show(), 200);
    this.until(() => clearInterval(tick));
    session.readClock();
    this.#show();
  }

  #show() {
    if (!session.clock) return;
    const now = session.now();
    this.now.textContent = `${instant(now)} ${zone(now)}`;
    this.now.title = utc(now);
    const ahead = now - Date.now();
    this.state.className = 'badge ' + (session.clock.frozen ? 'warn' : 'good');
    this.state.textContent = session.clock.frozen ? 'frozen' : Math.abs(ahead) < 2_000 ? 'runs with this machine' : `runs, ${length(ahead)} ${ahead > 0 ? 'ahead' : 'behind'}`;
    this.freezer.textContent = session.clock.frozen ? 'Let it run' : 'Freeze';
    if (document.activeElement !== this.rate) this.rate.value = String(session.clock.timeRate ?? 0);
    if (!this.date.value) this.date.value = instant(now).replace(' ', 'T');
  }

  async #set(change) {
    const said = await move(change);
    if (said === null) return false;
    this.said.textContent = said;
    return true;
  }

  /** A hundredth of the slider is a day. Moves that have not gone out yet go together. */
  async #slide() {
    this.ahead.textContent = `${this.slider.value} days`;
    if (this.isSliding) return;
    this.isSliding = true;
    this.slid ??= 0;
    while (Number(this.slider.value) > this.slid) {
      const step = Number(this.slider.value) - this.slid;
      this.slid += step;
      if (!(await this.#set({ advanceByMs: String(step * 86_400_000) }))) break;
    }
    this.isSliding = false;
    if (this.mustEnd) this.#endSlide();
  }

  #endSlide() {
    if (this.isSliding) { this.mustEnd = true; return; }
    this.mustEnd = false;
    this.slider.value = '0';
    this.slid = 0;
    this.ahead.textContent = 'nothing';
  }

  #setRate() {
    attempt(() => session.perch.call('TestStoreService/Configure', { settings: [{ timeRate: Number(this.rate.value) }] }), 'The time rate is set');
  }
}

customElements.define('perch-clock-page', ClockPage);

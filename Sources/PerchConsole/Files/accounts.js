// All accounts of the app: paged from the server, windowed on the screen, sorted and filtered here.
import { h, session, Page, stateBadge, entitles, utc, number, relative, forecastText, accountLink, rich } from './kit.js';
import { find, finder, otherKinds } from './find.js';

// A page of 50 keeps a loop for about a millisecond. Pushes wait that long, so the next page comes after a pause.
const [pageSize, pauseMs] = [50, 5];
const filters = [
  ['all', 'All states', () => true],
  ['entitled', 'Entitled', (row) => entitles(row.state) || row.owned > 0],
  ['subscribed', 'Subscribed', (row) => row.state === 'RENEWAL_STATE_SUBSCRIBED'],
  ['grace', 'Grace period', (row) => row.state === 'RENEWAL_STATE_IN_GRACE_PERIOD'],
  ['retry', 'Billing retry', (row) => row.state === 'RENEWAL_STATE_IN_BILLING_RETRY_PERIOD'],
  ['expired', 'Expired', (row) => row.state === 'RENEWAL_STATE_EXPIRED'],
  ['revoked', 'Revoked or refunded', (row) => row.state === 'RENEWAL_STATE_REVOKED' || row.refunded],
  ['pending', 'Purchase waits', (row) => row.pending > 0],
  ['off', 'Renewal off', (row) => entitles(row.state) && !row.renews],
  ['family', 'Family shared', (row) => row.family],
  ['never', 'Never subscribed', (row) => !row.state],
];
const sorts = {
  key: null,
  product: (a, b) => (a.product < b.product ? -1 : a.product > b.product ? 1 : 0),
  state: (a, b) => (a.state < b.state ? -1 : a.state > b.state ? 1 : 0),
  next: (a, b) => a.next - b.next,
};

/** One row, small, because there may be a hundred thousand. */
function rowOf(key, summary = {}) {
  return {
    key, state: summary.state ?? '', product: summary.productId ?? '', transaction: summary.transactionId ?? '', original: summary.originalTransactionId ?? '',
    renews: !!summary.willAutoRenew, forecast: summary.nextChange ?? null, next: summary.nextChange ? number(summary.nextChange.atMs) : Infinity,
    family: !!summary.familyShared, refunded: !!summary.refunded, price: !!summary.priceIncreasePending, owned: summary.ownedCount ?? 0,
    pending: summary.pendingCount ?? 0, token: summary.appAccountToken ?? '', revision: summary.revision ?? '0',
  };
}

export function badges(row) {
  const list = [];
  if (entitles(row.state) && !row.renews) list.push(['renewal off', 'warn']);
  if (row.state === 'RENEWAL_STATE_IN_GRACE_PERIOD') list.push(['grace', 'warn']);
  if (row.state === 'RENEWAL_STATE_IN_BILLING_RETRY_PERIOD') list.push(['retry', 'warn']);
  if (row.pending) list.push([`${row.pending} waiting`, 'warn']);
  if (row.price) list.push(['price increase', 'warn']);
  if (row.refunded) list.push(['refunded', 'bad']);
  if (row.family) list.push(['family', '']);
  if (row.owned) list.push([`owns ${row.owned}`, 'good']);
  return list;
}

/** What no later call mends: a person has to. */
const isRefused = ({ code }) => code === 'unauthenticated' || code === 'permission_denied';
/** How long to wait after so many failures in a row. */
const backoffMs = (failures) => Math.min(8_000, 500 * 2 ** failures);

/** All accounts of one app, read once and then kept current by its changes, also while another page is shown. It ends with its app or its token. */
class List {
  constructor() {
    this.app = session.perch.app;
    this.name = session.nameOf(session.app);
    this.pages = [];
    this.dirty = new Set();
    this.isLoading = true;
    this.ending = new AbortController();
    this.changed = () => {};
    this.inSight = () => new Set();
    const on = (type, listener) => session.addEventListener(type, listener, { signal: this.ending.signal });
    on('heard', ({ detail }) => this.#hear(detail));
    on('app', () => { if (session.nameOf(session.app) !== this.name) this.ending.abort(); });
    on('access', () => this.ending.abort());
    this.#load();
  }
  get ended() { return this.ending.signal.aborted; }
  /** The list of the session's app. */
  static get current() {
    const key = [session.nameOf(session.app), session.token].join('\n');
    if (List.key !== key || List.kept.ended) {
      List.kept?.ending.abort();
      [List.key, List.kept] = [key, new List()];
    }
    return List.kept;
  }

  async #fetch(page) {
    const request = { app: this.app, pageSize, withSummaries: true };
    if (page.token) request.pageToken = page.token;
    const answer = await session.perch.call('TestStoreService/ListAccounts', request, { signal: this.ending.signal });
    const summaries = answer.summaries ?? [];
    return { rows: (answer.accounts ?? []).map((key, at) => rowOf(key, summaries[at])).filter((row) => row.key), next: answer.nextPageToken ?? '' };
  }

  async #load() {
    let [token, failures] = ['', 0];
    do {
      const page = { token, rows: [] };
      try {
        const { rows, next } = await this.#fetch(page);
        page.rows = rows;
        token = next;
      } catch (error) {
        if (this.ended) return;
        this.problem = error.message;
        if (isRefused(error)) break;
        this.changed(0);
        await new Promise((done) => setTimeout(done, backoffMs(failures += 1)));
        continue;
      }
      if (this.ended) return;
      [this.problem, failures] = ['', 0];
      this.pages.push(page);
      this.changed(this.pages.length > 1 ? 250 : 0);
      await new Promise((done) => setTimeout(done, pauseMs));
    } while (token);
    this.isLoading = false;
    this.changed(0);
  }

  /** Notes which pages a change of the app touches. One without an account is about all: the clock, the catalogue, or a stream that began. */
  #hear(account) {
    // The server orders keys by bytes. For others than ASCII that may not be this order.
    const isPlain = account && /^[ -~]+$/.test(account);
    let place = -1;
    if (isPlain) for (let low = 0, high = this.pages.length - 1; low <= high;) {
      const middle = (low + high) >> 1;
      if ((this.pages[middle].rows[0]?.key ?? '') <= account) [place, low] = [middle, middle + 1]; else high = middle - 1;
    }
    for (const page of isPlain ? [this.pages[Math.max(0, place)]] : this.pages) if (page) this.dirty.add(page);
    this.#freshen();
  }

  /** Reads touched pages again: those in sight at once, the others a few a second. */
  async #freshen() {
    if (this.isFreshening) return;
    this.isFreshening = true;
    let failures = 0;
    try {
      while (this.dirty.size && !this.ended) {
        const inSight = this.inSight();
        const seen = [...this.dirty].find((page) => page.rows.some((row) => inSight.has(row)) || page === this.pages[this.pages.length - 1]);
        const page = seen ?? [...this.dirty][0];
        this.dirty.delete(page);
        try {
          if (this.#replace(page, await this.#fetch(page))) this.changed(0);
          failures = 0;
        } catch (error) {
          if (this.ended) return;
          if (isRefused(error)) {
            this.problem = error.message;
            this.dirty.clear();
            return this.changed(0);
          }
          this.dirty.add(page);
          failures += 1;
        }
        await new Promise((done) => setTimeout(done, failures ? backoffMs(failures) : seen ? 50 : 150));
      }
    } finally {
      this.isFreshening = false;
    }
  }

  /** Puts fresh rows into a page, which ends where the next one begins. True: something changed. */
  #replace(page, { rows, next }) {
    const at = this.pages.indexOf(page);
    if (at < 0) return false;
    const following = this.pages[at + 1]?.rows[0]?.key;
    const end = following === undefined ? -1 : rows.findIndex((row) => row.key === following);
    const isFull = rows.length === pageSize && next;
    if (end >= 0) rows = rows.slice(0, end);
    else if (isFull && (following === undefined ? !this.isLoading : page.rows.length)) {
      // More accounts than before: the rest is a page of its own.
      if (following === undefined || !rows.some((row) => row.key === page.rows.at(-1)?.key)) {
        const rest = { token: next, rows: [] };
        this.pages.splice(at + 1, 0, rest);
        this.dirty.add(rest);
      }
    }
    const isSame = rows.length === page.rows.length && rows.every((row, place) => row.revision === page.rows[place].revision && row.key === page.rows[place].key
      && row.state === page.rows[place].state && row.next === page.rows[place].next);
    if (isSame) return false;
    const known = new Map(page.rows.map((row) => [row.key, row]));
    for (const row of rows) row.isFresh = known.size > 0 && known.get(row.key)?.revision !== row.revision;
    page.rows = rows;
    return true;
  }
}

class AccountsPage extends Page {
  open() {
    this.view = [];
    const asked = new URLSearchParams(location.hash.split('?')[1] ?? '');
    this.sort = asked.get('sort') ?? 'key';
    this.append(h('h1', {}, 'Accounts'));
    if (!session.allows('test')) return this.#findOnly();
    this.count = h('span.what', { role: 'status' });
    this.search = h('input', { type: 'search', value: asked.get('q') ?? '', placeholder: 'account, product, transaction, order, token or customer number', oninput: () => this.#changed(), 'aria-label': 'Search accounts' });
    this.filter = h('select', { onchange: () => this.#changed(), 'aria-label': 'Filter by state' }, filters.map(([value, label]) => h('option', { value, selected: value === asked.get('state') }, label)));
    const name = (sort, label) => h('span', { role: 'columnheader', 'aria-sort': this.sort === sort ? 'ascending' : 'none' }, sort ? h('button', { onclick: () => this.#sortBy(sort) }, label) : label);
    this.names = h('div.names', { role: 'row' }, name('key', 'Account'), name('product', 'Product'), name('state', 'State'), name('', 'Badges'), name('next', 'Next change'));
    this.space = h('div', { role: 'presentation' });
    this.rows = h('div.rows', { role: 'rowgroup', 'aria-label': 'Accounts', onscroll: () => { this.#draw(); this.#keepSoon(); }, onkeydown: (event) => this.#key(event) }, this.space);
    this.grid = h('div.grow', { role: 'table', 'aria-label': 'Accounts' }, h('div', { role: 'rowgroup' }, this.names), this.rows);
    // Above the rows, which fill the window.
    this.elsewhere = h('p.said', { role: 'status' });
    this.append(this.count,
      h('form.bar', { onsubmit: (event) => { event.preventDefault(); this.#openSearched(); } },
        h('label.field.grow', {}, 'Search', this.search), h('label.field', {}, 'State', this.filter), h('button', { type: 'submit' }, 'Open account')),
      this.elsewhere, this.grid);
    this.selected = 0;
    this.drawn = new Map();
    this.list = List.current;
    this.list.changed = (wait) => this.#changed(wait);
    this.list.inSight = () => new Set([...this.drawn.keys()].map((at) => this.view[at]));
    this.until(() => Object.assign(this.list, { changed: () => {}, inSight: () => new Set() }));
    this.on(window, 'resize', () => this.#draw());
    // A click may leave the page: its entry of the history is written before.
    window.addEventListener('click', () => this.#keep(), { capture: true, signal: this.ending.signal });
    const tick = setInterval(() => this.#draw(), 1000);
    this.until(() => clearInterval(tick));
    // What products are called, where the token may read the catalogue.
    this.titles = new Map();
    if (session.allows('admin')) session.catalogue().then(({ products }) => {
      for (const { id, displayName } of products) if (displayName) this.titles.set(id, displayName);
      for (const line of this.drawn.values()) line.row = null;
      this.#changed();
    }, () => {});
    this.#select();
    this.#draw(true);
    // Back to where the person was in the list.
    const top = history.state?.top ?? 0;
    if (top) { this.rows.scrollTop = top; this.#draw(); }
    this.#changed();
  }

  /** A token that may look at each account, and not list them. */
  #findOnly() {
    const { account } = session.claims;
    if (account) {
      this.firstChild.textContent = 'Your account';
      return this.append(h('div.first', {}, h('p', {}, h('a', { href: accountLink(account) }, account)), h('p.what', {}, 'Your token is for this account alone.')));
    }
    this.firstChild.textContent = 'Find a customer';
    this.append(h('div.first', {}, finder({ label: 'Customer' }), h('p.what', {}, 'By what the customer can tell you: the name of the account, an e-mail address, an order, a transaction.'),
      h('p.what', {}, ...rich('Your token may look at each account, and not list them: that needs the scope `test`.'))));
    this.querySelector('input').focus();
  }

  /** The same page by another address: its search, filter and order. */
  go() {
    const asked = new URLSearchParams(location.hash.split('?')[1] ?? '');
    if (!this.list) return;
    this.search.value = asked.get('q') ?? '';
    this.filter.value = asked.get('state') ?? 'all';
    this.#sortBy(asked.get('sort') ?? 'key');
  }

  /** The address has the search, the filter and the order; the entry of the history has the place. */
  #keep() {
    clearTimeout(this.keeping);
    const kept = new URLSearchParams();
    for (const [name, value, none] of [['q', this.search.value, ''], ['state', this.filter.value, 'all'], ['sort', this.sort, 'key']]) if (value !== none) kept.set(name, value);
    const text = kept.toString();
    if (!this.ended && /^#?(\/accounts|$)/.test(location.hash.split('?')[0])) history.replaceState({ top: this.rows.scrollTop }, '', `#/accounts${text ? `?${text}` : ''}`);
  }

  /** Browsers refuse a page that writes its entry at every step of a scroll. */
  #keepSoon() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.#keep(), 200);
  }

  #openSearched() {
    const text = this.search.value.trim();
    const found = this.found?.text === text ? this.found.account : '';
    const only = this.view.length === 1 ? this.view[0].key : text;
    const account = this.view.some((row) => row.key === text) ? text : found || only;
    if (account) location.hash = accountLink(account);
  }

  /** Asks whose a text is: a row has only its newest transaction, and may not have come yet. */
  async #find(text) {
    if (this.ended || this.search.value.trim() !== text) return;
    this.found = { text };
    const { customers: [first], problem } = await find(text, this.ending.signal, { kinds: otherKinds });
    const found = { text, account: first?.account, unclaimed: first?.unclaimed, problem, isDone: true };
    if (this.ended || this.found.text !== text) return;
    this.found = found;
    this.#tell();
  }

  /** Says what the rows do not: whose the searched text is, or that nothing has it. */
  #tell() {
    const text = this.search.value.trim();
    const found = this.found?.text === text ? this.found : {};
    const isSought = text.length > 0;
    const open = () => h('a', { href: accountLink(text) }, `Open “${text}”`);
    let said = [];
    if (found.account) {
      if (this.view.length !== 1 || this.view[0].key !== found.account) said = [`${text} belongs to `, h('a', { href: accountLink(found.account) }, found.account), '.'];
    } else if (found.unclaimed) said = ['The App Store reported it, and no account has claimed it.'];
    else if (this.list.problem) said = [this.list.problem];
    else if (this.view.length || this.list.isLoading) said = [];
    else if (found.problem) said = ['No row matches. Whose it is could not be asked: ', rich(found.problem), '. ', open(), '.'];
    else if (isSought && !found.isDone) said = ['Asking whose it is…'];
    else if (text) said = ['No account matches. ', open(), session.isTest ? ' anyway: its first purchase makes it.' : ' anyway.'];
    else if (this.list.pages.some((page) => page.rows.length)) said = ['No account is in this state.'];
    else said = session.isTest ? ['No customer has bought yet. ', h('a', { href: accountLink('alice') }, 'Open alice'), ' and buy something for her.'] : ['Nothing was reported for this app yet.'];
    this.elsewhere.replaceChildren(...said.flat());
    this.elsewhere.hidden = !said.length;
    this.grid.hidden = !this.view.length;
    if (this.sought === text) return;
    this.sought = text;
    clearTimeout(this.asking);
    if (isSought) this.asking = setTimeout(() => this.#find(text), 300);
  }

  #sortBy(sort) {
    this.sort = sort;
    [...this.names.children].forEach((cell, at) => cell.setAttribute('aria-sort', ['key', 'product', 'state', '', 'next'][at] === sort ? 'ascending' : 'none'));
    this.#changed();
  }

  #changed(wait = 0) {
    if (this.waits) return;
    this.waits = true;
    setTimeout(() => {
      this.waits = false;
      if (this.ended) return;
      this.#select();
      this.#draw(true);
      this.#keepSoon();
    }, wait);
  }

  #select() {
    const text = this.search.value.trim().toLowerCase();
    const accepts = filters.find(([value]) => value === this.filter.value)?.[2] ?? (() => true);
    const isAll = this.filter.value === 'all' && !text;
    let total = 0;
    const view = [];
    for (const page of this.list.pages) {
      total += page.rows.length;
      for (const row of page.rows) {
        if (!isAll && (!accepts(row) || text && !(row.key.toLowerCase().includes(text) || row.product.toLowerCase().includes(text) || this.titles.get(row.product)?.toLowerCase().includes(text)
          || row.transaction === text || row.original === text || row.token === text))) continue;
        view.push(row);
      }
    }
    if (sorts[this.sort]) view.sort(sorts[this.sort]);
    this.view = view;
    const all = total.toLocaleString('en');
    this.count.textContent = (isAll ? `${all} account${total === 1 ? '' : 's'}` : `${view.length.toLocaleString('en')} of ${all} accounts`) + (this.list.isLoading ? ', still reading' : '');
    this.grid.setAttribute('aria-rowcount', view.length + 1);
    this.#tell();
  }

  get height() { return innerWidth <= 832 ? 60 : 36; }

  #draw(isNew = false) {
    const height = this.height;
    this.space.style.height = `${this.view.length * height}px`;
    const first = Math.max(0, Math.floor(this.rows.scrollTop / height) - 6);
    const last = Math.min(this.view.length, Math.ceil((this.rows.scrollTop + this.rows.clientHeight) / height) + 6);
    for (const [at, line] of this.drawn) if (at >= this.view.length || (at < first || at >= last) && line !== document.activeElement) { line.remove(); this.drawn.delete(at); }
    for (let at = first; at < last; at += 1) {
      let line = this.drawn.get(at);
      if (!line) {
        line = h('a.line', { role: 'row', tabindex: '-1' }, ['key2', '', '', 'badges', 'soft'].map((kind) => h('span', { role: 'cell', class: kind })));
        this.drawn.set(at, line);
        this.rows.append(line);
      }
      this.#fill(line, this.view[at], at, height, isNew);
    }
  }

  #fill(line, row, at, height) {
    line.style.transform = `translateY(${at * height}px)`;
    line.setAttribute('aria-rowindex', at + 2);
    line.tabIndex = at === Math.min(this.selected, this.view.length - 1) ? 0 : -1;
    const when = row.forecast ? `${forecastText(row.forecast)} ${relative(row.next - session.now())}` : '';
    if (line.row === row && line.when === when) return;
    if (line.row !== row) {
      const [key, product, state, marks] = line.children;
      const isUpdate = line.row?.key === row.key;
      line.row = row;
      line.href = accountLink(row.key);
      line.title = row.key;
      key.textContent = row.key;
      product.textContent = this.titles.get(row.product) ?? row.product;
      product.title = row.product;
      state.replaceChildren(row.state ? stateBadge(row.state) : row.owned ? h('span.badge.good', {}, 'owner') : stateBadge(''));
      marks.replaceChildren(...badges(row).map(([label, kind]) => h('span.badge', { class: kind }, label)));
      line.lastChild.title = row.forecast ? utc(row.next) : '';
      if (row.isFresh && isUpdate) { line.classList.remove('fresh'); void line.offsetWidth; line.classList.add('fresh'); }
    }
    line.when = when;
    line.lastChild.textContent = when;
  }

  /** The focus itself moves, so that a screen reader reads the row; Enter follows its link. */
  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -Infinity, End: Infinity }[event.key];
    if (!step) return;
    event.preventDefault();
    this.selected = Math.max(0, Math.min(this.view.length - 1, this.selected + step));
    const [top, height] = [this.selected * this.height, this.height];
    if (top < this.rows.scrollTop) this.rows.scrollTop = top;
    if (top + height > this.rows.scrollTop + this.rows.clientHeight) this.rows.scrollTop = top + height - this.rows.clientHeight;
    this.#draw();
    this.drawn.get(this.selected)?.focus({ preventScroll: true });
    this.#draw();
  }
}

customElements.define('perch-accounts-page', AccountsPage);

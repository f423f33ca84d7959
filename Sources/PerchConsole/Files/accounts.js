// All accounts of the app: paged from the server, windowed on the screen, sorted and filtered here.
import { h, session, Page, stateBadge, entitles, instant, number, relative, forecastText, accountLink, missing } from './kit.js';

const pageSize = 250;
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

class AccountsPage extends Page {
  open() {
    this.pages = [];
    this.view = [];
    this.sort = 'key';
    this.isLoading = true;
    this.count = h('span.what', { role: 'status' });
    this.search = h('input', { type: 'search', placeholder: 'account, product, transaction or token', oninput: () => this.#changed(), 'aria-label': 'Search accounts' });
    this.filter = h('select', { onchange: () => this.#changed(), 'aria-label': 'Filter by state' }, filters.map(([value, label]) => h('option', { value }, label)));
    const name = (sort, label) => h('span', { role: 'columnheader', 'aria-sort': 'none' }, sort ? h('button', { onclick: () => this.#sortBy(sort) }, label) : label);
    this.names = h('div.names', { role: 'row' }, name('key', 'Account'), name('product', 'Product'), name('state', 'State'), name('', 'Badges'), name('next', 'Next change'));
    this.space = h('div', { role: 'presentation' });
    this.rows = h('div.rows', { tabindex: '0', role: 'rowgroup', 'aria-label': 'Accounts', onscroll: () => this.#draw(), onkeydown: (event) => this.#key(event) }, this.space);
    this.grid = h('div', { role: 'table', 'aria-label': 'Accounts' }, h('div', { role: 'rowgroup' }, this.names), this.rows);
    this.elsewhere = h('p');
    this.append(h('h1', {}, 'Accounts'), this.count,
      h('form.bar', { onsubmit: (event) => { event.preventDefault(); this.#openSearched(); } },
        h('label.field.grow', {}, 'Search', this.search), h('label.field', {}, 'State', this.filter), h('button', { type: 'submit' }, 'Open account')),
      this.grid, this.elsewhere);
    this.selected = 0;
    this.drawn = new Map();
    if (!session.isTest) return this.grid.replaceWith(missing('Accounts of apps of the App Store are listed where the server has a list of them; open one by its key.'));
    if (!session.allows('test')) return this.grid.replaceWith(missing('Your token does not have the scope `test`, which the list of accounts needs. Open an account by its key.'));
    this.#load();
    this.every(1000, () => this.#freshen());
    this.on(session.perch, 'change', () => this.#freshen());
    this.on(window, 'resize', () => this.#draw());
    const tick = setInterval(() => this.#draw(), 1000);
    this.until(() => clearInterval(tick));
  }

  #openSearched() {
    const text = this.search.value.trim();
    const only = this.view.length === 1 ? this.view[0].key : text;
    if (only) location.hash = accountLink(this.view.some((row) => row.key === text) ? text : only);
  }

  async #fetch(page) {
    const request = { pageSize, withSummaries: true };
    if (page.token) request.pageToken = page.token;
    const answer = await session.perch.call('TestStoreService/ListAccounts', request, { signal: this.ending.signal });
    const summaries = answer.summaries ?? [];
    return { rows: (answer.accounts ?? []).map((key, at) => rowOf(key, summaries[at])), next: answer.nextPageToken ?? '' };
  }

  async #load() {
    let token = '';
    do {
      const page = { token, rows: [] };
      try {
        const { rows, next } = await this.#fetch(page);
        page.rows = rows;
        token = next;
      } catch (error) {
        if (this.ended) return;
        this.elsewhere.textContent = error.message;
        await new Promise((done) => setTimeout(done, 1000));
        continue;
      }
      if (this.ended) return;
      this.elsewhere.textContent = '';
      this.pages.push(page);
      this.#changed(this.pages.length > 1 ? 250 : 0);
    } while (token);
    this.isLoading = false;
    this.#changed();
  }

  /** Reads the pages in sight again, and one other in turn. */
  async #freshen() {
    if (!this.pages.length || this.isFreshening) return;
    this.isFreshening = true;
    try {
      const wanted = new Set();
      for (const row of this.drawn.keys()) {
        const page = this.pages.find((each) => each.rows.includes(this.view[row]));
        if (page && wanted.size < 3) wanted.add(page);
      }
      this.turn = ((this.turn ?? -1) + 1) % this.pages.length;
      wanted.add(this.pages[this.turn]);
      if (!this.isLoading) wanted.add(this.pages[this.pages.length - 1]);
      let isNew = false;
      for (const page of wanted) isNew = this.#replace(page, await this.#fetch(page)) || isNew;
      if (isNew && !this.ended) this.#changed();
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
      if (following === undefined || !rows.some((row) => row.key === page.rows.at(-1)?.key)) this.pages.splice(at + 1, 0, { token: next, rows: [] });
    }
    const isSame = rows.length === page.rows.length && rows.every((row, place) => row.revision === page.rows[place].revision && row.key === page.rows[place].key
      && row.state === page.rows[place].state && row.next === page.rows[place].next);
    if (isSame) return false;
    const known = new Map(page.rows.map((row) => [row.key, row]));
    for (const row of rows) row.isFresh = known.size > 0 && known.get(row.key)?.revision !== row.revision;
    page.rows = rows;
    return true;
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
    }, wait);
  }

  #select() {
    const text = this.search.value.trim().toLowerCase();
    const accepts = filters.find(([value]) => value === this.filter.value)?.[2] ?? (() => true);
    const isAll = this.filter.value === 'all' && !text;
    let total = 0;
    const view = [];
    for (const page of this.pages) {
      total += page.rows.length;
      for (const row of page.rows) {
        if (!isAll && (!accepts(row) || text && !(row.key.toLowerCase().includes(text) || row.product.toLowerCase().includes(text)
          || row.transaction === text || row.original === text || row.token === text))) continue;
        view.push(row);
      }
    }
    if (sorts[this.sort]) view.sort(sorts[this.sort]);
    this.view = view;
    const all = total.toLocaleString('en');
    this.count.textContent = (isAll ? `${all} account${total === 1 ? '' : 's'}` : `${view.length.toLocaleString('en')} of ${all} accounts`) + (this.isLoading ? ', still reading' : '');
    this.grid.setAttribute('aria-rowcount', view.length + 1);
    this.elsewhere.textContent = '';
    if (view.length === 0 && !this.isLoading) {
      this.elsewhere.append(text ? h('span', {}, 'No account matches. ', h('a', { href: accountLink(this.search.value.trim()) }, `Open “${this.search.value.trim()}”`), ' anyway: its first purchase makes it.')
        : total ? 'No account is in this state.' : h('span', {}, 'No customer has bought yet. ', h('a', { href: accountLink('alice') }, 'Open alice'), ' and buy something for her.'));
    }
  }

  get height() { return innerWidth <= 832 ? 60 : 36; }

  #draw(isNew = false) {
    const height = this.height;
    this.space.style.height = `${this.view.length * height}px`;
    const first = Math.max(0, Math.floor(this.rows.scrollTop / height) - 6);
    const last = Math.min(this.view.length, Math.ceil((this.rows.scrollTop + this.rows.clientHeight) / height) + 6);
    for (const [at, line] of this.drawn) if (at < first || at >= last) { line.remove(); this.drawn.delete(at); }
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
    line.setAttribute('aria-selected', at === this.selected && document.activeElement === this.rows);
    const when = row.forecast ? `${forecastText(row.forecast)} ${relative(row.next - session.now())}` : '';
    if (line.row === row && line.when === when) return;
    if (line.row !== row) {
      const [key, product, state, marks] = line.children;
      const isUpdate = line.row?.key === row.key;
      line.row = row;
      line.href = accountLink(row.key);
      line.title = row.key;
      key.textContent = row.key;
      product.textContent = row.product;
      state.replaceChildren(row.state ? stateBadge(row.state) : row.owned ? h('span.badge.good', {}, 'owner') : stateBadge(''));
      marks.replaceChildren(...badges(row).map(([label, kind]) => h('span.badge', { class: kind }, label)));
      line.lastChild.title = row.forecast ? instant(row.next) + ' UTC' : '';
      if (row.isFresh && isUpdate) { line.classList.remove('fresh'); void line.offsetWidth; line.classList.add('fresh'); }
    }
    line.when = when;
    line.lastChild.textContent = when;
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === 'Enter' && this.view[this.selected]) location.hash = accountLink(this.view[this.selected].key);
    if (!step) return;
    event.preventDefault();
    this.selected = Math.max(0, Math.min(this.view.length - 1, this.selected + step));
    const [top, height] = [this.selected * this.height, this.height];
    if (top < this.rows.scrollTop) this.rows.scrollTop = top;
    if (top + height > this.rows.scrollTop + this.rows.clientHeight) this.rows.scrollTop = top + height - this.rows.clientHeight;
    this.#draw();
  }
}

customElements.define('perch-accounts-page', AccountsPage);

// All accounts of the app: paged from the server, windowed on the screen, sorted and filtered here.
import { h, session, Page, stateBadge, entitles, instant, number, relative, forecastText, accountLink, missing, rich } from './kit.js';

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

class AccountsPage extends Page {
  open() {
    this.pages = [];
    this.view = [];
    this.sort = 'key';
    this.isLoading = true;
    this.count = h('span.what', { role: 'status' });
    this.search = h('input', { type: 'search', placeholder: 'account, product, transaction, token or customer number', oninput: () => this.#changed(), 'aria-label': 'Search accounts' });
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
    if (!session.allows('test')) return this.grid.replaceWith(missing('Your token does not have the scope `test`, which the list of accounts needs. Open an account by its key.'));
    this.dirty = new Set();
    this.watch('EntitlementService/AppChanges', {}, (change) => this.#hear(change));
    this.#load();
    this.on(window, 'resize', () => this.#draw());
    const tick = setInterval(() => this.#draw(), 1000);
    this.until(() => clearInterval(tick));
  }

  #openSearched() {
    const text = this.search.value.trim();
    const found = this.found?.text === text ? this.found.account : '';
    const only = this.view.length === 1 ? this.view[0].key : text;
    const account = this.view.some((row) => row.key === text) ? text : found || only;
    if (account) location.hash = accountLink(account);
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
      await new Promise((done) => setTimeout(done, pauseMs));
    } while (token);
    this.isLoading = false;
    this.#changed();
  }

  /** Notes which pages a change of the app touches. A message without an account is about all: the clock, the catalogue, or a stream that began. */
  #hear({ account, failure }) {
    if (failure) return void (this.elsewhere.textContent = failure.message);
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
    try {
      while (this.dirty.size && !this.ended) {
        const inSight = new Set([...this.drawn.keys()].map((at) => this.view[at]));
        const seen = [...this.dirty].find((page) => page.rows.some((row) => inSight.has(row)) || page === this.pages[this.pages.length - 1]);
        const page = seen ?? [...this.dirty][0];
        this.dirty.delete(page);
        try {
          if (this.#replace(page, await this.#fetch(page))) this.#changed();
        } catch {
          if (!this.ended) this.dirty.add(page);
        }
        await new Promise((done) => setTimeout(done, seen ? 50 : 150));
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

  /** The calls that may know whose a text is. A number is a transaction, or else a customer's number at Apple. */
  #questions(text) {
    if (/^\d{1,20}$/.test(text)) return [{ transactionId: text }, { appTransactionId: text }];
    return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text) ? [{ appAccountToken: text }] : [];
  }

  /** Asks whose a text is: a row has only its newest transaction, and may not have come yet. */
  async #find(text) {
    if (this.ended || this.search.value.trim() !== text) return;
    const found = (this.found = { text });
    try {
      if (!session.allows('admin')) throw new Error('a token with the scope `admin` is needed');
      for (const question of this.#questions(text)) {
        try {
          Object.assign(found, await session.perch.call('AdminService/FindAccount', question, { signal: this.ending.signal, timeoutMs: 5_000 }));
          break;
        } catch (error) {
          if (error.reason !== 'ACCOUNT_UNKNOWN') throw error;
        }
      }
    } catch (error) {
      found.problem = error.message;
    }
    found.isDone = true;
    if (!this.ended && this.found === found) this.#tell();
  }

  /** Says what the rows do not: whose the searched text is, or that nothing has it. */
  #tell() {
    const text = this.search.value.trim();
    const found = this.found?.text === text ? this.found : {};
    const isSought = this.#questions(text).length > 0;
    const open = () => h('a', { href: accountLink(text) }, `Open “${text}”`);
    let said = [];
    if (found.account) {
      if (this.view.length !== 1 || this.view[0].key !== found.account) said = [`${text} belongs to `, h('a', { href: accountLink(found.account) }, found.account), '.'];
    } else if (found.unclaimed) said = ['The App Store reported it, and no account has claimed it.'];
    else if (this.view.length || this.isLoading) said = [];
    else if (found.problem) said = ['No row matches. Whose it is could not be asked: ', rich(found.problem), '. ', open(), '.'];
    else if (isSought && !found.isDone) said = ['Asking whose it is…'];
    else if (text) said = ['No account matches. ', open(), session.isTest ? ' anyway: its first purchase makes it.' : ' anyway.'];
    else if (this.pages.some((page) => page.rows.length)) said = ['No account is in this state.'];
    else said = session.isTest ? ['No customer has bought yet. ', h('a', { href: accountLink('alice') }, 'Open alice'), ' and buy something for her.'] : ['Nothing was reported for this app yet.'];
    this.elsewhere.replaceChildren(...said.flat());
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
    this.#tell();
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

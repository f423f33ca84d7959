// What the console's pages share: elements, texts, and the session with the server.
import { Perch, PerchError } from './perch.js';

/**
 * Makes an element: `h('button.primary', { onclick }, 'Buy')`. Texts become text nodes, so nothing in them is ever markup.
 * @param {string} what @param {object} [props] @param {...any} children
 */
export function h(what, props = {}, ...children) {
  const [tag, ...classes] = what.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'selected') element[name] = value;
    else if (name === 'class') element.className += ' ' + value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// MARK: Texts

const clean = (text, prefix) => (text ?? '').replace(prefix, '').toLowerCase().replace(/_/g, ' ');

export const stateNames = {
  RENEWAL_STATE_SUBSCRIBED: ['subscribed', 'good'],
  RENEWAL_STATE_EXPIRED: ['expired', ''],
  RENEWAL_STATE_IN_BILLING_RETRY_PERIOD: ['billing retry', 'warn'],
  RENEWAL_STATE_IN_GRACE_PERIOD: ['grace period', 'warn'],
  RENEWAL_STATE_REVOKED: ['revoked', 'bad'],
};
export const entitles = (state) => state === 'RENEWAL_STATE_SUBSCRIBED' || state === 'RENEWAL_STATE_IN_GRACE_PERIOD';
export const stateBadge = (state, none = 'never subscribed') => {
  const [name, kind] = stateNames[state] ?? [none, ''];
  return h('span.badge', { class: kind }, name);
};
export const word = (value) => clean(value, /^(RENEWAL_STATE|PRODUCT_TYPE|OFFER_TYPE|OFFER_PAYMENT_MODE|PERIOD_UNIT|EXPIRATION_REASON|OWNERSHIP_TYPE|PENDING_REASON|PLAN_RELATION|CAUSE|FORECAST_KIND|REVOCATION_REASON|REVOCATION_TYPE|STORE_KIT_API|STORE_KIT_ERROR|MESSAGE_REASON|ENVIRONMENT|TRANSACTION_REASON|EFFECTIVE_REASON)_/);

export const number = (value) => Number(value ?? 0);
const two = (value) => String(value).padStart(2, '0');
/** An instant of the app's clock, in UTC as everywhere in Perch. */
export function instant(ms, { seconds = true } = {}) {
  if (ms === undefined || ms === null) return '';
  const date = new Date(Number(ms));
  if (Number.isNaN(date.valueOf())) return String(ms);
  const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  return `${day} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${seconds ? ':' + two(date.getUTCSeconds()) : ''}`;
}
/** A sentence of the server, with its instants as the pages have them. */
export const readable = (text) => (text ?? '').replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z/g, '$1 $2 UTC');
/** A text with code between backticks. */
export const rich = (text) => text.split('`').map((part, at) => (at % 2 ? h('code', {}, part) : part));
export function length(ms) {
  const s = Math.round(Math.abs(ms) / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 && s < 600 ? ` ${s % 60} s` : ''}`;
  if (s < 172_800) return `${Math.floor(s / 3600)} h${Math.floor((s % 3600) / 60) ? ` ${Math.floor((s % 3600) / 60)} min` : ''}`;
  return `${Math.round(s / 86_400)} days`;
}
export const relative = (ms) => (ms >= 0 ? `in ${length(ms)}` : `${length(ms)} ago`);
export function money(value) {
  if (!value) return '';
  const amount = Number(value.milliunits ?? 0) / 1000;
  try { return new Intl.NumberFormat('en', { style: 'currency', currency: value.currency || 'USD' }).format(amount); } catch { return `${amount} ${value.currency}`; }
}
export function period(value, count = 1) {
  if (!value) return '';
  const n = number(value.value) * count;
  const unit = word(value.unit);
  return n === 1 ? unit : `${n} ${unit}s`;
}
const counted = (value) => `${number(value?.value)} ${word(value?.unit)}${number(value?.value) === 1 ? '' : 's'}`;
export function offerText(offer) {
  if (!offer) return '';
  const mode = offer.paymentMode;
  const price = offer.displayPrice ?? '';
  if (mode === 'OFFER_PAYMENT_MODE_FREE_TRIAL') return `${counted(offer.period)} free`;
  if (mode === 'OFFER_PAYMENT_MODE_PAY_UP_FRONT') return `${price} for ${counted(offer.period)}`;
  if (mode === 'OFFER_PAYMENT_MODE_PAY_AS_YOU_GO') return `${price} each ${period(offer.period)}, ${number(offer.periodCount) || 1} times`;
  return word(mode);
}
export function forecastText(forecast) {
  if (!forecast) return 'nothing by itself';
  const kinds = {
    FORECAST_KIND_RENEWAL: 'renews', FORECAST_KIND_EXPIRY: 'ends', FORECAST_KIND_GRACE_END: 'grace period ends', FORECAST_KIND_RETRY_END: 'retries end',
    FORECAST_KIND_OFFER_WINDOW: 'an offer window changes', FORECAST_KIND_MESSAGE: 'a message changes',
  };
  return kinds[forecast.kind] ?? 'changes';
}

// MARK: Session

const kept = (key) => { try { return sessionStorage.getItem(key) ?? ''; } catch { return ''; } };
const keep = (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* in memory alone */ } };

/** The session: the server, its apps, the chosen one and its clock. Events: `app`, `clock`, `access`. */
class Session extends EventTarget {
  constructor() {
    super();
    this.token = kept('perch-token');
    this.perch = new Perch({ token: () => this.token, clientId: 'console-' + Math.random().toString(36).slice(2, 8) });
    this.apps = [];
    this.scope = this.#scopeOf(this.token);
    this.clock = null;
    this.perch.addEventListener('credentials', () => { this.needsToken = true; this.#tell('access'); });
    this.perch.addEventListener('change', () => this.readClock());
  }

  #tell(type) { this.dispatchEvent(new Event(type)); }

  /** What the token says of its scope; the server decides what is allowed. */
  #scopeOf(token) {
    if (!token) return '';
    try { return JSON.parse(atob(token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))).scope ?? ''; } catch { return ''; }
  }
  allows(scope) {
    if (!this.token) return true;
    const order = ['read', 'write', 'test', 'admin'];
    const held = this.scope.split(' ').map((each) => order.indexOf(each));
    return Math.max(...held) >= order.indexOf(scope);
  }

  async signIn(token) {
    this.token = token.trim();
    this.scope = this.#scopeOf(this.token);
    keep('perch-token', this.token);
    this.needsToken = false;
    await this.begin();
  }
  signOut() { keep('perch-token', ''); location.reload(); }

  /** Learns which apps there are. Without the scope to list them, the token's one app is the app. */
  async begin() {
    try {
      this.apps = (await this.perch.call('AdminService/ListApps')).apps ?? [];
    } catch (error) {
      if (error.code === 'unauthenticated') return;
      if (error.code !== 'permission_denied') throw error;
      this.apps = [];
    }
    // The app of an example is in no list: its page names it.
    const named = new URLSearchParams(location.search).get('app');
    if (named && !this.apps.some((each) => each.bundleId === named)) this.apps.push({ bundleId: named, environment: 'ENVIRONMENT_XCODE' });
    const chosen = kept('perch-app');
    const app = this.apps.find((each) => (named ? each.bundleId === named : this.nameOf(each) === chosen)) ?? this.apps[0];
    this.choose(app);
    await this.readClock();
  }

  nameOf(app) { return app ? `${app.bundleId} (${word(app.environment)})` : ''; }
  choose(app) {
    this.app = app ?? null;
    keep('perch-app', this.nameOf(app));
    this.perch.app = app ? { bundleId: app.bundleId, environment: app.environment } : null;
    this.products = null;
    this.#tell('app');
  }
  get isTest() { return !this.app || this.app.environment === 'ENVIRONMENT_XCODE'; }

  async readClock() {
    if (!this.isTest || !this.allows('test')) return;
    try {
      const { clock } = await this.perch.call('TestStoreService/GetClock', {}, { timeoutMs: 3_000 });
      this.took(clock);
    } catch { /* the next reading may come */ }
  }
  took(clock) {
    this.clock = { ...clock, nowMs: number(clock.nowMs), heardAt: performance.now() };
    this.#tell('clock');
  }
  /** Now, on the app's clock. */
  now() {
    if (!this.clock) return Date.now();
    return this.clock.frozen ? this.clock.nowMs : this.clock.nowMs + performance.now() - this.clock.heardAt;
  }

  /** The app's products and groups, read once until the catalogue changes. */
  async catalogue() {
    if (!this.products) {
      this.products = (async () => {
        const { productIds = [], groupIds = [], ...rest } = await this.perch.call('AdminService/GetCatalog');
        const answer = productIds.length ? await this.perch.call('EntitlementService/GetProducts', { productIds }) : {};
        return { productIds, groupIds, products: answer.success?.products ?? [], ...rest };
      })().catch((error) => { this.products = null; throw error; });
    }
    return this.products;
  }
}

export const session = new Session();

// MARK: Pages

/** A page: an element whose watches and timers end with it. */
export class Page extends HTMLElement {
  connectedCallback() {
    this.ending = new AbortController();
    this.open();
  }
  disconnectedCallback() { this.ending.abort(); }
  get ended() { return this.ending.signal.aborted; }
  /** Ends something with the page. */
  until(end) { this.ending.signal.addEventListener('abort', end); }
  on(target, type, listener) { target.addEventListener(type, listener, { signal: this.ending.signal }); }
  every(ms, action) {
    let isBusy = false;
    const timer = setInterval(async () => {
      if (isBusy || document.hidden) return;
      isBusy = true;
      try { await action(); } catch { /* the next one may do */ } finally { isBusy = false; }
    }, ms);
    this.until(() => clearInterval(timer));
  }
  watch(method, request, listener, options) {
    const watch = session.perch.watch(method, request, listener, options);
    this.until(() => watch.close());
    return watch;
  }
}

/** A short message that says what happened. */
export function toast(text, isBad = false) {
  let place = document.querySelector('.toasts');
  if (!place) document.body.append((place = h('div.toasts', { role: 'status', 'aria-live': 'polite' })));
  const message = h('div.toast', { class: isBad ? 'bad' : '' }, text);
  place.append(message);
  setTimeout(() => message.remove(), isBad ? 8_000 : 3_500);
}

/** Runs an action of the user, and says what went wrong. */
export async function attempt(action, done) {
  try {
    const result = await action();
    if (done) toast(typeof done === 'function' ? done(result) : done);
    return result;
  } catch (error) {
    if (!(error instanceof PerchError)) throw error;
    toast(error.message + (error.reason ? ` (${error.reason})` : ''), true);
    return null;
  }
}

/** A part of a page that needs what this server may not have. */
export const missing = (what) => h('p.note', {}, rich(what));

/**
 * Asks in a dialog. Fields: `{ name, label, type, value, options, hint }`. Null: cancelled.
 * @returns {Promise<Object<string, any> | null>}
 */
export function ask(title, fields, { submit = 'OK', danger = false, text = '' } = {}) {
  return new Promise((done) => {
    const inputs = fields.map((field) => {
      const props = { name: field.name, value: field.value ?? '', placeholder: field.hint, required: field.required, ...field.props };
      if (field.type === 'check') return h('label.check', {}, h('input', { type: 'checkbox', name: field.name, checked: !!field.value }), field.label);
      const input = field.options
        ? h('select', { name: field.name }, field.options.map(([value, label]) => h('option', { value, selected: value === field.value }, label)))
        : h('input', { type: field.type ?? 'text', ...props });
      return h('label.field', {}, field.label, input);
    });
    const dialog = h('dialog', { 'aria-label': title },
      h('h2', {}, title), text ? h('p.what', {}, rich(text)) : null,
      h('form', { method: 'dialog', onsubmit: (event) => { event.preventDefault(); finish(new FormData(event.target)); } },
        inputs,
        h('div.bar', {}, h('button', { type: 'button', onclick: () => finish(null) }, 'Cancel'), h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, submit))));
    const finish = (data) => {
      dialog.close();
      dialog.remove();
      if (!data) return done(null);
      done(Object.fromEntries(fields.map((field) => [field.name, field.type === 'check' ? data.has(field.name) : data.get(field.name)])));
    };
    dialog.addEventListener('cancel', () => finish(null));
    document.body.append(dialog);
    dialog.showModal();
  });
}

export const accountLink = (account) => `#/account/${encodeURIComponent(account)}`;

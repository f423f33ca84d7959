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
/** The name of this browser's zone at an instant, such as `UTC` or `GMT+1`. */
export const zone = (ms = Date.now()) => new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(Number(ms)).find(({ type }) => type === 'timeZoneName').value;
/** An instant of the app's clock, in this browser's zone. */
export function instant(ms, { seconds = true } = {}) {
  if (ms === undefined || ms === null) return '';
  const date = new Date(Number(ms));
  if (Number.isNaN(date.valueOf())) return String(ms);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}${seconds ? ':' + two(date.getSeconds()) : ''}`;
}
/** The same in UTC, for who compares it with a log. */
export const utc = (ms) => new Date(Number(ms)).toISOString().replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');
/** A day as people say it, with its year where it is another than today's, and with the time of day where that matters. */
export function day(ms, withTime = Math.abs(Number(ms) - session.now()) < 172_800_000, language = 'en-GB') {
  const date = new Date(Number(ms));
  if (Number.isNaN(date.valueOf())) return String(ms);
  const year = date.getFullYear() === new Date(session.now()).getFullYear() ? {} : { year: 'numeric' };
  const time = withTime ? { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } : {};
  return new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long', ...year, ...time }).format(date).replace(/ (at|um) /, ', ');
}
/** A day that says UTC where the pointer rests on it. */
export const when = (ms, withTime) => h('time', { datetime: new Date(Number(ms)).toISOString(), title: utc(ms) }, day(ms, withTime));
/** A sentence of the server, with its instants and states as the pages have them. */
export const readable = (text) => (text ?? '').replace(/\bin[A-Z]\w+Period\b/g, (state) => state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) => `${instant(Date.parse(at))} ${zone(Date.parse(at))}`);
/** A name within a sentence. One that is written from right to left, or turns the direction, leaves the words around it where they are. */
export const isolated = (name) => (/[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/.test(name) ? `\u2068${name.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')}\u2069` : name);
/** A text with code between backticks. */
export const rich = (text) => text.split('`').map((part, at) => (at % 2 ? h('code', {}, part) : part));
export function length(ms) {
  const s = Math.round(Math.abs(ms) / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 && s < 600 ? ` ${s % 60} s` : ''}`;
  if (s < 172_800) return `${Math.floor(s / 3600)} h${Math.floor((s % 3600) / 60) ? ` ${Math.floor((s % 3600) / 60)} min` : ''}`;
  return `${Math.round(s / 86_400)} days`;
}
export function relative(ms, language) {
  if (!language) return ms > 0 ? `in ${length(ms)}` : `${length(ms)} ago`;
  const [unit, size] = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000]].find(([, each]) => Math.abs(ms) >= each) ?? ['second', 1000];
  return new Intl.RelativeTimeFormat(language).format(Math.round(ms / size), unit);
}
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
    FORECAST_KIND_RENEWAL: session.isTest ? 'renews' : 'renewal is due', FORECAST_KIND_EXPIRY: 'ends', FORECAST_KIND_GRACE_END: 'grace period ends', FORECAST_KIND_RETRY_END: 'retries end',
    FORECAST_KIND_OFFER_WINDOW: 'an offer window changes', FORECAST_KIND_MESSAGE: 'a message changes',
  };
  return kinds[forecast.kind] ?? 'changes';
}

/** Whether a family member bought it. */
export const isShared = (t) => t.ownershipType === 'OWNERSHIP_TYPE_FAMILY_SHARED';
/** What a signed value says. Its signature is not looked at. */
export const payloadOf = (jws, revive) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(jws.split('.')[1].replace(/-/g, '+').replace(/_/g, '/')), (each) => each.charCodeAt(0))), revive);

// MARK: Session

const kept = (key) => { try { return sessionStorage.getItem(key) ?? ''; } catch { return ''; } };
const keep = (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* in memory alone */ } };

/** The client of the console. Its stream is the one that all windows of the browser share, where there are shared workers. */
class WindowPerch extends Perch {
  #port() {
    if (this.port !== undefined) return this.port;
    this.heard = new Map();
    this.count = 0;
    try {
      const worker = new SharedWorker(new URL('streams.js', import.meta.url), { type: 'module' });
      this.port = worker.port;
      worker.onerror = () => {
        // A part that the worker has after all would be a second stream.
        for (const begin of this.heard.keys()) worker.port.postMessage({ end: begin });
        this.port = null;
        for (const hear of [...this.heard.values()]) hear({ error: { code: 'unavailable', message: 'the shared stream does not begin' } });
      };
      this.port.onmessage = ({ data }) => this.heard.get(data.id)?.(data);
      const lock = crypto.randomUUID?.();
      if (lock) navigator.locks?.request(lock, () => { this.port?.postMessage({ lock }); return new Promise(() => {}); });
    } catch { this.port = null; }
    return this.port;
  }

  async call(method, request = {}, options) {
    await this.before?.(method, request);
    return super.call(method, request, options);
  }

  async stream(method, request, take, signal, again) {
    const port = this.#port();
    if (!port) return super.stream(method, request, take, signal, again);
    const begin = (this.count += 1);
    const { token } = session;
    try {
      return await new Promise((done, failed) => {
        const refused = (error) => failed(Object.assign(new PerchError(error.code, error.message, error.reason, error.details)));
        this.heard.set(begin, ({ message, error }) => (error ? refused(error) : take(message)));
        signal.addEventListener('abort', () => { port.postMessage({ end: begin }); failed(signal.reason); });
        if (signal.aborted) failed(signal.reason); else port.postMessage({ begin, token, watches: request.watches });
      });
    } catch (error) {
      if (error.code === 'unauthenticated' && token === session.token) this.dispatchEvent(new CustomEvent('credentials', { detail: error }));
      throw error;
    } finally {
      this.heard.delete(begin);
    }
  }
}

/** The session: the server, its apps, the chosen one, its clock and its changes. Events: `app`, `clock`, `access`, `heard` (a change of the app). */
class Session extends EventTarget {
  constructor() {
    super();
    this.token = kept('perch-token');
    this.perch = new WindowPerch({ token: () => this.token, clientId: 'console-' + Math.random().toString(36).slice(2, 8) });
    this.apps = [];
    this.claims = this.#claimsOf(this.token);
    this.clock = null;
    // Another store may come back.
    this.perch.addEventListener('offline', () => { this.perch.revision = 0; });
    this.perch.addEventListener('online', () => this.readClock());
    // An answer about the token before says nothing of the one that is there now.
    const current = () => (this.token ? 'Bearer ' + this.token : '');
    this.perch.addEventListener('credentials', ({ authorization = current() }) => { if (authorization === current()) { this.needsToken = true; this.#tell('access'); } });
    this.perch.addEventListener('change', ({ detail }) => { if (/SetClock|Configure|LoadCatalog/.test(detail.method)) this.readClock(); });
  }

  #tell(type) { this.dispatchEvent(new Event(type)); }

  /** What the token says of itself; the server decides what is allowed. */
  #claimsOf(token) { try { return payloadOf(token); } catch { return {}; } }
  /** The strongest scope of the token. */
  get scope() { return ['admin', 'test', 'write', 'read'].find((each) => (this.claims.scope ?? '').split(' ').includes(each)) ?? ''; }
  /** Who is signed in, and what they may do. */
  get who() { return this.token ? `${this.claims.sub ?? 'a token without a name'} · ${this.scope || 'no scope'}` : ''; }
  allows(scope) {
    const order = ['read', 'write', 'test', 'admin'];
    return !this.token || order.indexOf(this.scope) >= order.indexOf(scope);
  }

  async signIn(token) {
    this.token = token.trim();
    this.claims = this.#claimsOf(this.token);
    keep('perch-token', this.token);
    this.needsToken = false;
    await this.begin();
    this.perch.retry();
  }
  /** Whoever comes next begins at the beginning, in their own language. */
  signOut() {
    keep('perch-token', '');
    try { localStorage.removeItem('perch-language'); } catch { /* it was kept for this window alone */ }
    location.hash = '';
    location.reload();
  }

  /** Learns which apps there are. Without the scope to list them, they are those that the token names. */
  async begin() {
    try {
      this.apps = (await this.perch.call('AdminService/ListApps')).apps ?? [];
    } catch (error) {
      if (error.code === 'unauthenticated') return;
      if (error.code !== 'permission_denied') throw error;
      const { app, environment = 'xcode' } = this.claims;
      this.apps = [app ?? []].flat().filter((each) => each !== '*').map((bundleId) => ({ bundleId, environment: `ENVIRONMENT_${environment.toUpperCase()}` }));
    }
    // The app of an example is in no list: its page names it.
    const asked = new URLSearchParams(location.search);
    const named = asked.get('app');
    if (named && !this.apps.some((each) => each.bundleId === named)) this.apps.push({ bundleId: named, environment: `ENVIRONMENT_${(asked.get('environment') ?? 'xcode').toUpperCase()}` });
    const chosen = kept('perch-app');
    const app = this.apps.find((each) => (named ? each.bundleId === named : this.nameOf(each) === chosen)) ?? this.apps[0];
    this.choose(app);
    await this.readClock();
  }

  nameOf(app) { return app ? `${app.bundleId} (${{ ENVIRONMENT_XCODE: 'test', ENVIRONMENT_SANDBOX: 'App Store sandbox', ENVIRONMENT_PRODUCTION: 'App Store' }[app.environment] ?? word(app.environment)})` : ''; }
  choose(app) {
    this.app = app ?? null;
    keep('perch-app', this.nameOf(app));
    this.perch.app = app ? { bundleId: app.bundleId, environment: app.environment } : null;
    this.products = null;
    this.clock = null;
    this.#listen();
    this.#tell('app');
  }
  /** Hears of every change of the app, where the token may. An empty account: the app itself, its clock or settings, or a stream that began without a place. */
  #listen() {
    this.changes?.close();
    this.changes = null;
    if (this.needsToken || this.claims.account) return;
    let place = '';
    this.changes = this.perch.watch('EntitlementService/AppChanges', {}, ({ account = '', cursor = '', cause }) => {
      // The first message of a stream has the place where it begins alone.
      const isKnown = !account && !cause && cursor === place;
      place = cursor;
      if (isKnown) return;
      if (!account) { this.products = null; this.readClock(); }
      this.dispatchEvent(new CustomEvent('heard', { detail: account }));
    });
  }
  get isTest() { return !this.app || this.app.environment === 'ENVIRONMENT_XCODE'; }

  async readClock() {
    if (!this.isTest || !this.allows('test')) return;
    try {
      const { clock } = await this.perch.call('TestStoreService/GetClock', {}, { timeoutMs: 3_000 });
      this.took(clock);
    } catch { /* the next reading may come */ }
  }
  /** Who may not read the clock learns it from any answer. */
  hear(position) {
    if (this.isTest && !this.allows('test') && position?.asOfMs) this.clock = { nowMs: number(position.asOfMs), heardAt: performance.now() };
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
  /** Reads now, and where the stream says another revision or that the server lives: changes of `ms` together are read once. */
  follow(read, ms) {
    let isWaiting = false;
    this.on(session.perch, 'revision', async () => {
      if (isWaiting || document.hidden) return;
      isWaiting = true;
      await new Promise((done) => setTimeout(done, ms));
      isWaiting = false;
      if (!this.ended) read();
    });
    return read();
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
    const said = typeof done === 'function' ? done(result) : done;
    // A page that says it where it happened needs no message beside it.
    if (said && session.dispatchEvent(new CustomEvent('did', { detail: said, cancelable: true }))) toast(said);
    return result;
  } catch (error) {
    if (!(error instanceof PerchError)) throw error;
    toast(error.message + (error.reason ? ` (${error.reason})` : ''), true);
    return null;
  }
}

/** A field that offers names while a person types: itself, and their list. */
export function offering(input, suggest) {
  const list = h('datalist', { id: `of-${input.name}` });
  input.setAttribute('list', list.id);
  let timer;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const text = input.value;
      const names = text ? await suggest(text) : [];
      if (text === input.value) list.replaceChildren(...names.map((value) => h('option', { value })));
    }, 200);
  });
  return [input, list];
}

/** The language of what the server tells of customers, which a window keeps until somebody signs out. */
const languages = [['en', 'English'], ['de', 'Deutsch']];
export const language = () => { try { return localStorage.getItem('perch-language') ?? (/^de/.test(navigator.language) ? 'de' : 'en'); } catch { return 'en'; } };
export function languageButtons(changed) {
  const buttons = languages.map(([code, name]) => h('button.link', { type: 'button', lang: code, 'aria-pressed': String(code === language()), onclick: () => {
    try { localStorage.setItem('perch-language', code); } catch { /* for this window alone */ }
    for (const each of buttons) each.setAttribute('aria-pressed', String(each.lang === language()));
    changed();
  } }, name));
  return h('p.languages', {}, buttons);
}

/** A part of a page that needs what this server may not have. */
export const missing = (what) => h('p.note', {}, rich(what));

/**
 * Asks in a dialog. Fields: `{ name, label, type, value, options, hint, suggest, isMore }`; those with `isMore` are one click away. `text` says
 * beforehand what will happen: a text, or a function of the values. Null: cancelled.
 * @returns {Promise<Object<string, any> | null>}
 */
export function ask(title, fields, { submit = 'OK', danger = false, text = '', more: moreLabel = 'Options' } = {}) {
  return new Promise((done) => {
    const first = fields.find((field) => field.required && !field.value && !field.options && !field.isMore);
    const inputs = fields.map((field) => {
      const props = { autofocus: field === first, name: field.name, value: field.value ?? '', placeholder: field.hint, required: field.required, ...field.props };
      if (field.type === 'check') return h('label.check', {}, h('input', { type: 'checkbox', name: field.name, checked: !!field.value }), field.label);
      const input = field.options
        ? h('select', { name: field.name }, field.options.map(([value, label]) => h('option', { value, selected: value === field.value }, label)))
        : h('input', { type: field.type ?? 'text', ...props });
      if (!field.suggest) return h('label.field', {}, field.label, input);
      return h('label.field', {}, field.label, offering(input, field.suggest));
    });
    const form = h('form', { method: 'dialog', oninput: () => tell(), onsubmit: (event) => { event.preventDefault(); finish(new FormData(event.target)); } });
    const effect = h('p.effect', { role: 'status' });
    let told = 0;
    const tell = async () => {
      const turn = (told += 1);
      const said = typeof text === 'function' ? text(Object.fromEntries(new FormData(form))) : text;
      const words = said instanceof Promise ? await said : said;
      if (turn !== told) return;
      effect.replaceChildren(...rich(words));
      effect.hidden = !words && typeof text !== 'function';
    };
    const more = inputs.filter((_, at) => fields[at].isMore);
    const dialog = h('dialog', { 'aria-label': title },
      h('h2', {}, title),
      (form.append(
        ...inputs.filter((_, at) => !fields[at].isMore), more.length ? h('details', {}, h('summary', {}, moreLabel), h('div.options', {}, more)) : '', effect,
        h('div.bar', {}, h('button', { type: 'button', onclick: () => finish(null) }, 'Cancel'), h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, submit))), form));
    tell();
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

export const accountLink = (account, transaction) => `#/account/${encodeURIComponent(account)}${transaction ? `/${transaction}` : ''}`;

/** A button that is shown in any case: where the token lacks its scope, it says which one it needs. */
export function action(label, scope, onclick, { kind = '', why = '' } = {}) {
  const isAllowed = session.allows(scope);
  return h('button', { type: 'button', class: kind, disabled: !isAllowed || !!why, title: why || (isAllowed ? null : `Your token may not do this: who runs Perch gives tokens with the scope ${scope}`), onclick }, label, isAllowed ? '' : h('small', {}, `needs ${scope}`));
}

/** A text to take along: a key, a number, an address. */
export const copyable = (text, label = text) => h('span.copy', {}, h('code', {}, label),
  h('button.link', { type: 'button', 'aria-label': `Copy ${label || text}`, onclick: () => navigator.clipboard?.writeText(text).then(() => toast(`${label || text} is copied`), (error) => toast(error.message, true)) }, 'copy'));

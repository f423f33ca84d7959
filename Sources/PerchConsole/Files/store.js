// Store views: what StoreKit's views do in SwiftUI, as elements on Perch's live streams. This module has the customer, products and
// the buttons beside them; store-subscription.js has subscriptions, store-sheets.js the sheets, store-texts.js the languages.
//
//     <perch-app account="alice">
//       <perch-store product-ids="coins gems" store-button="restore=visible"></perch-store>
//     </perch-app>
//
// Events bubble from the view. `inapppurchasestart` {product} and `inapppurchasecompletion` {product, result, transaction} replace
// the default when a handler cancels them; `storeproductschange`, `subscriptionstatuschange` and `currententitlementchange` have
// the task's state as `detail`: {loading}, {failure} or {success}. Design: StoreViews.md.
import { Perch } from './perch.js';
import { drawUnpressed } from './press.js';
import { errorText, everyText, offerText, periodText, priceText, text } from './store-texts.js';

export const sheet = (css) => { const made = new CSSStyleSheet(); made.replaceSync(css); return made; };
const base = sheet(`
:host{--ink:var(--perch-ink,light-dark(#1a1c20,#e8eaee));--soft:var(--perch-soft,light-dark(#5d636e,#a3aab6));--line:var(--perch-line,light-dark(#dfe2e7,#333842));
--card:var(--perch-card,light-dark(#fff,#1c1f25));--ground:var(--perch-ground,light-dark(#fcfcfb,#14161a));--accent:var(--perch-accent,light-dark(#2563c9,#7aa9ff));
--on-accent:var(--perch-on-accent,light-dark(#fff,#10131a));--tint:var(--perch-tint,light-dark(#eef3fc,#20293a));--bad:var(--perch-bad,light-dark(#b42318,#ff8a7a));
--edge:var(--perch-control,light-dark(#868c97,#7a8190));--radius:var(--perch-radius,12px);display:block;position:relative;color:var(--ink);font:var(--perch-font,15px/1.45 system-ui,sans-serif);overflow-wrap:break-word}
:host([hidden]),[hidden]{display:none!important}
*{box-sizing:border-box}h2,h3,p{margin:0}h2{font-size:1.25rem;line-height:1.25}.soft{color:var(--soft)}.bad{color:var(--bad)}
button{font:inherit;cursor:pointer;border:1px solid var(--edge);border-radius:99px;background:var(--card);color:var(--ink);padding:.35rem 1rem;min-height:2.2rem;max-width:100%}
button:disabled,button[aria-disabled=true]{opacity:.55;cursor:default}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
button.buy{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
button.link{border:0;background:none;color:var(--accent);padding:.2rem .4rem}
.icon{width:3rem;height:3rem;border-radius:22%;background:var(--tint);display:grid;place-items:center;overflow:hidden;flex:none;font-size:1.6rem}
.icon.blank slot{display:none}.icon.border{border:1px solid var(--line);box-shadow:0 1px 4px #0002}.icon img{width:100%;height:100%;object-fit:cover}
.product{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center;padding:.6rem 0}.product .texts{flex:1 1 9rem;min-width:0}.product>button,.product>.spin{margin-inline-start:auto}.product h3{font-size:1rem}
.product.compact{padding:.3rem 0}.product.compact .icon{width:2.2rem;height:2.2rem;font-size:1.2rem}.product.compact .about{display:none}.product.compact .texts{flex-basis:5rem}
.product.large{flex-flow:column;text-align:center;gap:.6rem;padding:1rem}.product.large>*{flex:none;margin-inline:0}.product.large .icon{width:8rem;height:8rem;font-size:4.5rem}.product.large h3{font-size:1.25rem}
.spin{display:inline-block;width:1.4rem;height:1.4rem;border-radius:50%;border:3px solid var(--line);border-top-color:var(--accent)}
@media(prefers-reduced-motion:no-preference){.spin{animation:spin 1s linear infinite}@keyframes spin{to{transform:rotate(1turn)}}}
.aux{display:flex;flex-wrap:wrap;gap:.3rem .8rem;justify-content:center;padding:.5rem 0}.aux:empty{display:none}
.said{display:flex;gap:.6rem;align-items:center;justify-content:space-between;border-radius:var(--radius);background:var(--tint);padding:.5rem .8rem;margin:.5rem 0}.said:empty{padding:0;margin:0;background:none}.said span{min-width:0}
.said.bad{background:light-dark(#fdeeec,#38211f)}.said button{flex:none;min-height:1.8rem;padding:.1rem .7rem}
dialog{border:1px solid var(--line);border-radius:calc(var(--radius) + 2px);background:var(--card);color:var(--ink);padding:1.1rem 1.3rem;width:min(30rem,calc(100vw - 1.5rem));max-height:calc(100dvh - 1.5rem);overflow:auto;text-align:start}
dialog>h2{margin-bottom:.5rem}dialog::backdrop{background:#0007}dialog form{display:grid;gap:.6rem;margin-top:.6rem}dialog input,dialog textarea{font:inherit;max-width:100%;padding:.4rem .6rem;border:1px solid var(--edge);border-radius:8px;background:var(--ground);color:var(--ink)}
dialog input[type=radio]{accent-color:var(--accent);margin-inline-end:.5rem}.end{display:flex;flex-wrap:wrap;gap:.5rem;justify-content:flex-end;margin-top:.8rem}.pay{display:grid;gap:.5rem;margin-top:.7rem}.pay .sum{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.2rem 1rem;font-weight:600;border-top:1px solid var(--line);padding-top:.5rem}
@media print{button{border:0;background:none!important;color:var(--ink)!important;padding:0}.aux,.spin{display:none}}`);

/** Makes an element; texts become text nodes. */
export function h(what, props = {}, ...children) {
  const [tag, ...classes] = what.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'checked' || name === 'value') element[name] = value;
    else if (name === 'style') element.style.cssText = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

export const list = (words) => (words ?? '').split(/[\s,]+/).filter(Boolean);
/** The nearest element that `test` accepts: the element itself, or what is around it, out of shadow trees too. */
export function around(element, test) {
  for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) if (test(at)) return at;
  return null;
}

/** The token of the console that this page belongs to. */
const stored = () => { try { return sessionStorage.getItem('perch-token'); } catch { return null; } };

/** The later one of two positions of one app. Those of another epoch follow a restore, and replace what was before it. */
const later = (one, other) => (!one || !other ? other ?? one : one.epoch !== other.epoch ? other
  : { ...other, ...(BigInt(one.revision ?? 0) > BigInt(other.revision ?? 0) ? { revision: one.revision } : {}), ...(BigInt(one.asOfMs ?? 0) > BigInt(other.asOfMs ?? 0) ? { asOfMs: one.asOfMs } : {}) });

/**
 * The customer of the views inside: one server, one account, and the tasks that they share. Each task is watched once, however many
 * views show it, and all of them on one stream.
 *
 * Attributes: `account`, `server`, `app-bundle-id`, `app-environment`, `client-id`, `lang`, `purchases="off"`; `store-messages="hidden"`
 * and `purchase-intents="hidden"` leave the store's sheets to the page. Properties: `token` (a text, or a function that renews it),
 * `inAppPurchaseOptions` (an object or a function of the product), `signInAction`.
 */
export class PerchApp extends HTMLElement {
  static observedAttributes = ['account', 'server', 'lang', 'purchases'];
  #shared = new Map();
  #token;

  constructor() {
    super();
    // What a page set before this module was loaded.
    for (const name of ['token', 'inAppPurchaseOptions', 'signInAction', 'client']) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
  }
  get perch() {
    if (this.client) return this.client;
    const [bundleId, environment] = [this.getAttribute('app-bundle-id'), this.getAttribute('app-environment')];
    const server = this.getAttribute('server') ?? '';
    this.client = new Perch({
      base: server, token: async (again) => this.#newest(again) ?? (server ? null : stored()), clientId: this.getAttribute('client-id') ?? undefined,
      app: bundleId ? { bundleId, ...(environment ? { environment: `ENVIRONMENT_${environment.toUpperCase()}` } : {}) } : undefined,
    });
    this.client.addEventListener('credentials', ({ detail }) => this.#tell('credentialsexpired', { error: detail }));
    for (const type of ['online', 'offline']) this.client.addEventListener(type, () => { this.toggleAttribute('data-offline', type === 'offline'); this.#tell(type, {}); this.#draw(); });
    return this.client;
  }
  /** The bearer token, or a function (also async) that gives it; called with true where the server refused the last one. */
  get token() { return this.#token ?? null; }
  set token(token) { this.#token = token; this.client?.retry(); }
  async #newest(again) {
    try { return typeof this.#token === 'function' ? await this.#token(!!again) : this.#token; } catch { return null; }
  }
  get signInAction() { return this.#signIn; }
  set signInAction(action) { this.#signIn = action; this.#draw(); }
  #signIn;
  get account() { return this.getAttribute('account') ?? ''; }
  get isOffline() { return this.hasAttribute('data-offline'); }
  get isOff() { return this.getAttribute('purchases') === 'off'; }
  /** Whether the store forbids the account's payments, as Screen Time does. Asked for once, and again after a purchase was refused. */
  async #mayPay() {
    const { account } = this;
    const answer = await this.call('TransactionService/GetAppTransaction').catch(() => ({}));
    if (account !== this.account || this.isForbidden === !!answer.paymentsForbidden) return;
    this.isForbidden = !!answer.paymentsForbidden;
    this.#draw();
  }
  /** The language of a view: its own, that of what is around it, the page's. */
  language(view = this) { return around(view, (each) => each.getAttribute?.('lang'))?.getAttribute('lang') || document.documentElement.lang || 'en'; }
  /** The catalogue's locale for it; empty for the app's own. */
  locale(view) { const language = this.language(view); return language === 'en' ? '' : language.replace('-', '_'); }
  text(key, values, view) { return text(this.language(view), key, values); }

  connectedCallback() {
    this.#observer = new MutationObserver(() => this.#relocate());
    this.#observer.observe(document.documentElement, { attributes: true, attributeFilter: ['lang'] });
    queueMicrotask(() => this.isConnected && this.#listen());
  }
  #observer;
  attributeChangedCallback(name, before, after) {
    if (before === after || !this.isConnected) return;
    if (name === 'lang') return this.#relocate();
    if (name === 'purchases') return this.#draw();
    if (name === 'server' && this.client) { this.client.close(); this.client = null; }
    this.#shown = null;
    // Another customer: every task begins again.
    for (const task of this.#shared.values()) { task.watch?.close(); task.state = { loading: {} }; task.open(); for (const each of task.listeners) each(task.state); }
    this.#listen();
    this.dispatchEvent(new Event('accountchange'));
  }
  disconnectedCallback() {
    this.#observer?.disconnect();
    for (const end of this.#ends) end();
    this.#ends = [];
    for (const task of this.#shared.values()) task.watch?.close();
    this.#shared.clear();
  }
  #ends = [];
  /** The sheets of the store, where the page does not show them itself. */
  #listen() {
    for (const end of this.#ends) end();
    this.#ends = [];
    this.isForbidden = false;
    if (!this.account || this.closest('[read-only]')) return;
    this.#mayPay();
    if (this.getAttribute('store-messages') !== 'hidden') this.#ends.push(this.messages((state) => PerchApp.sheets?.messages(this, state)));
    if (this.getAttribute('purchase-intents') !== 'hidden') this.#ends.push(this.purchaseIntents((state) => PerchApp.sheets?.intents(this, state)));
  }
  #relocate() { this.dispatchEvent(new Event('languagechange')); }
  #draw() { this.dispatchEvent(new Event('redraw')); }
  #tell(type, detail) { return this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true })); }

  #task(method, request, isOfAccount, listener) {
    const key = method + JSON.stringify(request);
    let task = this.#shared.get(key);
    if (!task) {
      task = { listeners: new Set(), state: { loading: {} } };
      task.open = () => {
        task.watch = null;
        // A customer who is not known yet has nothing to load.
        if (isOfAccount && !this.account) return;
        task.watch = this.perch.watch(method, isOfAccount ? { account: this.account, ...request } : request, (state) => {
          task.state = state;
          this.#shown = later(this.#shown, state.info?.position);
          for (const each of [...task.listeners]) each(state);
        });
      };
      this.#shared.set(key, task);
      task.open();
    }
    task.listeners.add(listener);
    listener(task.state);
    return () => {
      task.listeners.delete(listener);
      // A view that is drawn again asks again at once.
      setTimeout(() => { if (task.listeners.size === 0 && this.#shared.get(key) === task) { task.watch?.close(); this.#shared.delete(key); } }, 0);
    };
  }

  /** @param {string[]} ids */
  storeProductsTask(ids, listener, locale = this.locale()) { return this.#task('EntitlementService/ProductsTask', { productIds: ids, ...(locale ? { locale } : {}) }, false, listener); }
  subscriptionStatusTask(groupId, listener) { return this.#task('EntitlementService/SubscriptionStatusTask', { groupId }, true, listener); }
  currentEntitlementTask(productId, listener) { return this.#task('EntitlementService/CurrentEntitlementTask', { productId }, true, listener); }
  entitlementsTask(listener) { return this.#task('EntitlementService/EntitlementsTask', {}, true, listener); }
  purchaseIntents(listener) { return this.#task('TransactionService/PurchaseIntents', {}, true, listener); }
  messages(listener) { return this.#task('TransactionService/Messages', {}, true, listener); }
  /** Every event of the account's transactions, once; with `key`, also across reloads. */
  transactionUpdates(listener, key = '') {
    const kept = key ? localStorage.getItem(key) ?? '' : '';
    const watch = this.perch.updates(this.account, (event) => {
      listener(event);
      if (key && event.cursor) localStorage.setItem(key, event.cursor);
    }, { cursor: kept });
    return () => watch.close();
  }

  /** A read is of what the page shows already, or later: it may come to a thread or node of the server that has not seen it yet. */
  call(method, request = {}) {
    const atLeast = /\/(Get|List)/.test(method) && this.#shown ? { atLeast: this.#shown } : {};
    return this.perch.call(method, { account: this.account, ...atLeast, ...request });
  }
  /** The newest position of what the page shows. */
  #shown = null;
  finish(transaction) { return this.call('TransactionService/Finish', { transactionId: transaction.id ?? '0' }); }
  /** Whether the app asks its customers before they buy: its setting of dialogs. */
  async showsDialogs() { return !!(await this.perch.call('EntitlementService/GetAppPolicies', {})).showsDialogs; }

  /** Options of a purchase from what is around a view: `inAppPurchaseOptions`, `app-account-token`, `quantity`. */
  #optionsAround(view, product) {
    const made = {};
    const from = around(view, (each) => each.inAppPurchaseOptions);
    const own = from?.inAppPurchaseOptions;
    Object.assign(made, typeof own === 'function' ? own.call(from, product) : own);
    const token = around(view, (each) => each.hasAttribute?.('app-account-token'))?.getAttribute('app-account-token');
    const quantity = Number(view.getAttribute?.('quantity') ?? 0);
    if (token) made.appAccountToken ??= token;
    if (quantity) made.quantity ??= quantity;
    return made;
  }

  /**
   * Buys, as the views do: start, payment sheet where the app asks its customers, completion. A handler may take over the first and
   * the last. `terms` {price, offer, atRenewal} is what the sheet says of an offer. A product is bought once at a time.
   */
  async purchase(product, options = {}, view = this, terms = {}) {
    const tell = (type, detail) => view.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true }));
    const say = (key, isBad) => view.say?.(text(this.language(view), key, { name: product.displayName || product.id }), isBad);
    if (this.#buying.has(product.id) || this.isOff) { if (this.isOff) say('off', true); return null; }
    this.#buying.add(product.id);
    try {
      view.say?.('');
      if (!tell('inapppurchasestart', { product })) return null;
      const order = { ...this.#optionsAround(view, product), ...options };
      const result = await this.#buy(product, order, view, terms);
      if (!tell('inapppurchasecompletion', result)) return result;
      if (result.error?.reason === 'PURCHASE_NOT_ALLOWED') this.#mayPay();
      if (result.result === 'failure') { console.info('perch: the purchase failed:', result.error.reason || result.error.code, result.error.message); view.say?.(errorText(this.language(view), result.error), true); }
      if (result.result === 'pending') this.#await(product, view, say);
      if (result.result === 'success') say(!result.isVerified ? 'unverified' : terms.atRenewal ? 'atRenewal' : 'thanks', !result.isVerified);
      return result;
    } finally { this.#buying.delete(product.id); }
  }
  #buying = new Set();
  /** A purchase that waits is told to be bought as soon as it is, unless something else was said meanwhile. */
  #await(product, view, say) {
    say('waiting');
    const sentence = view.message?.firstChild;
    const end = this.transactionUpdates(({ transaction, kind }) => {
      if (kind !== 'TRANSACTION_EVENT_KIND_PURCHASED' || transaction?.transaction?.productId !== product.id) return;
      queueMicrotask(end);
      if (sentence?.isConnected) say('thanks');
    });
    this.#ends.push(end);
  }
  async #buy(product, order, view, terms) {
    let payment;
    try {
      if (await this.showsDialogs()) {
        payment = await PerchApp.sheets?.payment(this, product, order, view, terms);
        if (payment && !payment.agrees) return { product, result: 'userCancelled' };
      }
      const answer = await this.call('TransactionService/Purchase', { order: { productId: product.id, ...order }, ...(payment ? { confirmed: true } : {}) });
      const kind = { PURCHASE_RESULT_SUCCESS: 'success', PURCHASE_RESULT_PENDING: 'pending', PURCHASE_RESULT_USER_CANCELLED: 'userCancelled' }[answer.result] ?? 'unknown';
      return { product, result: kind, transaction: answer.transaction?.transaction, isVerified: !answer.transaction?.verificationError, alreadyHeld: !!answer.alreadyHeld };
    } catch (error) {
      return error.reason === 'STOREKIT_USER_CANCELLED' ? { product, result: 'userCancelled' } : { product, result: 'failure', error };
    } finally { payment?.close(); }
  }
}

/** A view inside a `perch-app`. What it shows is drawn anew with each state; its message and its sheets stay. */
export class View extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: 'open' });
    this.shadowRoot.adoptedStyleSheets = [base, ...(this.constructor.sheets ?? [])];
    this.root = h('div');
    this.message = h('div.said', { part: 'message', role: 'status', 'aria-live': 'polite' });
    this.notes = h('div');
    this.shadowRoot.append(this.root, this.notes, this.message);
  }
  get app() { return around(this, (each) => each instanceof PerchApp); }
  get language() { return this.app?.language(this) ?? 'en'; }
  t(key, values) { return text(this.language, key, values); }
  connectedCallback() {
    this.ends = [];
    const { app } = this;
    if (!app) return;
    const again = () => { if (this.isConnected) { this.disconnectedCallback(); this.connectedCallback(); } };
    const draw = () => { this.note(); this.redraw(); };
    for (const [type, action] of [['languagechange', again], ['redraw', draw]]) {
      app.addEventListener(type, action);
      this.ends.push(() => app.removeEventListener(type, action));
    }
    this.begin();
    this.note();
  }
  /** What holds for all of a view stands below it; not below each product of a shop, or each button of a store. */
  get noted() { return []; }
  note() { this.notes.replaceChildren(...this.noted.map(([part, key, role]) => h('p.soft', { part, class: `soft ${part}`, role }, this.t(key)))); }
  disconnectedCallback() { for (const end of this.ends ?? []) end?.(); this.ends = []; }
  attributeChangedCallback(name, before, after) { if (before !== after && this.isConnected && this.ends) { this.disconnectedCallback(); this.connectedCallback(); } }
  tell(type, detail = {}) { return this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true })); }
  /** Draws what a push has changed. */
  redraw() { drawUnpressed(this, () => { if (this.isConnected) this.draw?.(); }); }
  get canBuy() { return !around(this, (each) => each.hasAttribute?.('read-only')) && !this.app?.isOff && !this.app?.isForbidden; }
  /** Whether it stands in a sheet, which a customer may close. */
  get isPresented() { return !!around(this, (each) => each !== this && (each.tagName === 'DIALOG' || each.hasAttribute('popover') || each.getAttribute('role') === 'dialog')); }
  show(...nodes) {
    const focused = this.shadowRoot.activeElement?.dataset?.key;
    this.root.replaceChildren(...nodes.flat().filter(Boolean));
    if (!this.message.isConnected) this.shadowRoot.append(this.message);
    if (focused) this.focusOn(focused);
  }
  focusOn(key) { [...this.shadowRoot.querySelectorAll('[data-key]')].find((each) => each.dataset.key === key)?.focus({ preventScroll: true }); }
  /** A sentence under the view, for what the customer has to know. It stays until the next purchase, or until it is dismissed. */
  say(sentence, isBad = false) {
    this.message.classList.toggle('bad', isBad);
    this.message.replaceChildren(...(sentence ? [h('span', {}, sentence), h('button', { 'aria-label': this.t('dismiss'), onclick: () => this.say('') }, '×')] : []));
  }
  fail(error, otherwise) { console.info('perch:', error.reason || error.code, error.message); this.say(errorText(this.language, error, otherwise), true); }
  dialog(title, ...content) {
    const dialog = h('dialog', { part: 'dialog', 'aria-label': title }, h('h2', {}, title), content);
    dialog.addEventListener('close', () => dialog.remove());
    this.shadowRoot.append(dialog);
    dialog.showModal();
    return dialog;
  }
}

/** A view that sells says what keeps a customer from buying. */
export class Selling extends View {
  get noted() {
    const { app } = this;
    if (!app || around(this, (each) => each !== this && each instanceof PerchStore)) return [];
    return [app.isOffline && ['offline', 'offline', 'status'], app.isOff ? ['off', 'off'] : app.isForbidden && ['off', 'forbidden']].filter(Boolean);
  }
}

const images = new Map();
async function promotionalIcon(app, product) {
  const key = `${app.getAttribute('server') ?? ''} ${product.promotionalImageHash}`;
  if (!images.has(key)) {
    images.set(key, app.perch.call('EntitlementService/GetImage', { imageId: product.promotionalImageId }).then(({ content, contentType }) =>
      URL.createObjectURL(new Blob([Uint8Array.from(atob(content), (each) => each.charCodeAt(0))], { type: contentType }))));
    images.get(key).catch(() => images.delete(key));
  }
  return images.get(key);
}
/** A box around a slot, which is not there while nothing is in the slot. */
export function filled(box, name, fallback) {
  const slot = h('slot', { name }, fallback);
  const look = () => { if (slot.parentNode === box) box.hidden = !fallback && slot.assignedNodes({ flatten: true }).length === 0; };
  slot.addEventListener('slotchange', look);
  box.append(slot);
  look();
  return box;
}
/** An icon: the promotional image where it is wanted and there is one, else the slot. */
export function iconOf(view, product, { promotional, border, isBlank }) {
  const icon = filled(h('div', { class: `icon${border ? ' border' : ''}${isBlank ? ' blank' : ''}`, part: 'icon', 'aria-hidden': 'true' }), 'icon');
  if (product?.promotionalImageHash && promotional) promotionalIcon(view.app, product).then((address) => { icon.hidden = false; icon.replaceChildren(h('img', { src: address, alt: '' })); }, () => {});
  return icon;
}

/**
 * ProductView. Attributes: `product-id`, `product-style` (compact, regular, large, custom), `prefers-promotional-icon`,
 * `product-icon-border`, `quantity`. Properties: `product` (one that is loaded already), `productViewStyle` (a function of a
 * configuration, which gives a node). Slots: `icon`, `placeholder` (the icon while loading), and in the custom style one for each
 * state: `loading`, `unavailable`, `success`, `failure`; a state without a slot is shown as the regular style does. In the slot of
 * success, texts of elements with `data-product="displayName"` (description, displayPrice) are set, and `data-buy` buys.
 */
export class PerchProduct extends Selling {
  static observedAttributes = ['product-id', 'product-style', 'prefers-promotional-icon', 'product-icon-border'];
  #given = null;
  #owned = null;
  #style = null;
  constructor() {
    super();
    for (const name of ['product', 'productViewStyle']) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
  }
  /** The product that is shown; setting one skips loading. */
  get product() { return this.shown ?? null; }
  set product(product) { this.#given = product; if (this.isConnected) { this.disconnectedCallback(); this.connectedCallback(); } }
  get productViewStyle() { return this.#style; }
  set productViewStyle(style) { this.#style = style; this.draw(); }

  begin() {
    const id = this.#given?.id ?? this.getAttribute('product-id');
    if (!id) return;
    this.state = { loading: {} };
    if (this.#given) return this.#took(id, { success: { products: [this.#given] } });
    // A shop that loads all of its products at once gives them to its views.
    const shop = around(this, (each) => each instanceof PerchStore);
    const listen = (state) => this.#took(id, state);
    this.ends.push(shop?.loads(id) ? shop.share(listen) : this.app.storeProductsTask([id], listen, this.app.locale(this)));
  }

  #took(id, state) {
    let next = state;
    if (state.success) {
      const product = (state.success.products ?? []).find((each) => each.id === id);
      next = product ? { success: product } : { unavailable: {} };
    }
    this.shown = next.success ?? (state.failure ? this.shown : null);
    this.state = next;
    if (this.shown && !this.#owned && this.shown.type === 'PRODUCT_TYPE_NON_CONSUMABLE') {
      this.#owned = this.app.currentEntitlementTask(id, (entitlement) => {
        // A transaction that is not verified entitles to nothing.
        const transaction = entitlement.success?.transaction;
        this.isUnverified = !!transaction?.verificationError;
        this.isOwned = !!transaction && !this.isUnverified;
        this.tell('currententitlementchange', entitlement);
        this.redraw();
      });
      this.ends.push(this.#owned);
    }
    this.redraw();
    this.tell('storeproductschange', next);
  }
  disconnectedCallback() { super.disconnectedCallback(); this.#owned = null; }

  draw() {
    const { shown, state } = this;
    if (!state) return;
    const style = this.getAttribute('product-style') ?? 'regular';
    const name = state.loading ? 'loading' : state.unavailable ? 'unavailable' : state.failure && !shown ? 'failure' : 'success';
    this.setAttribute('data-state', name);
    this.toggleAttribute('data-owned', !!this.isOwned);
    if (this.#style) {
      const node = this.#style({
        state, product: shown, isOwned: !!this.isOwned, hasPromotionalIcon: !!shown?.promotionalImageHash, purchase: (options) => this.buy(null, options),
        icon: () => this.#icon(shown), standard: (kind = 'regular') => this.#standard(name, kind),
      });
      return this.show(node);
    }
    if (style !== 'custom' || !this.querySelector(`:scope > [slot="${name}"]`)) return this.show(this.#standard(name, style === 'custom' ? 'regular' : style));
    this.show(h('slot', { name }));
    if (name === 'success') this.#fillCustom(shown);
  }

  #standard(name, style) {
    const { shown: product } = this;
    const about = (title, sentence, isSoft) => h('div.texts', {}, h('h3', { part: 'title', class: isSoft ? 'soft' : '' }, title), sentence ? h('p.soft', { part: 'description' }, sentence) : null);
    const box = (...nodes) => h('div', { class: `product ${style}`, part: 'product', 'aria-busy': name === 'loading' ? 'true' : null }, nodes);
    if (name === 'unavailable') return box(this.#icon(null), about(this.t('unavailable'), this.t('notSold')));
    if (name === 'failure') return box(this.#icon(null), about(this.t('notLoaded'), errorText(this.language, this.state.failure)));
    if (name === 'loading') return box(h('slot', { name: 'placeholder' }, this.#icon(null, true)), about('…', '', true), h('span.spin', { role: 'img', 'aria-label': this.t('loading') }));
    return box(this.#icon(product), h('div.texts', {}, h('h3', { part: 'title' }, product.displayName || product.id), style === 'compact' ? null : h('p.soft.about', { part: 'description' }, h('bdi', {}, product.description ?? '')),
      this.isUnverified ? h('p.bad', {}, this.t('unverified')) : null), this.#button(product));
  }

  #icon(product, isBlank) { return iconOf(this, product, { promotional: this.hasAttribute('prefers-promotional-icon'), border: this.hasAttribute('product-icon-border'), isBlank }); }

  #button(product) {
    // Not disabled: the focus of who has just bought stays on it.
    if (this.isOwned) return h('button', { part: 'button', 'data-key': 'buy', 'aria-disabled': 'true' }, this.t('purchased'));
    const price = priceText(this.language, product.displayPrice, product.subscription?.period) || this.t('buy');
    return h('button.buy', { part: 'button', 'data-key': 'buy', 'aria-label': this.t('buyFor', { name: product.displayName || product.id, price }), disabled: !this.canBuy, onclick: (event) => this.buy(event.currentTarget) }, price);
  }

  async buy(button, options = {}) {
    button?.setAttribute('aria-disabled', 'true');
    const result = await this.app.purchase(this.shown, options, this);
    if (button?.isConnected) button.removeAttribute('aria-disabled');
    if (button && !this.shadowRoot.activeElement) this.focusOn('buy');
    return result;
  }

  #fillCustom(product) {
    for (const element of this.querySelectorAll('[slot=success] [data-product], [slot=success][data-product]')) element.textContent = product[element.dataset.product] ?? '';
    for (const button of this.querySelectorAll('[data-buy]')) {
      button.disabled = !!this.isOwned || !this.canBuy;
      button.onclick = () => this.buy(button);
    }
  }
}

/** The auxiliary buttons, each `automatic`, `visible` or `hidden`: `store-button="restore=visible cancellation=hidden"`. */
export function auxiliary(view, automatic = {}) {
  const said = Object.fromEntries(list(view.getAttribute('store-button')).map((each) => each.split('=')));
  const shows = (kind) => ({ visible: true, hidden: false })[said[kind] ?? 'automatic'] ?? automatic[kind] ?? false;
  return { policies: shows('policies') ? h('perch-policies', { exportparts: 'dialog, policy' }) : null, others: [['restore', 'perch-restore'], ['redeem-code', 'perch-offer-code'], ['sign-in', 'perch-sign-in-button'], ['cancellation', 'perch-cancellation']]
    .filter(([kind]) => shows(kind)).map(([, tag]) => h(tag, { exportparts: 'auxiliary, message, dialog' })) };
}

/** StoreView. `product-ids`, `product-style`, `prefers-promotional-icon`, `product-icon-border`, `store-button`; slots `icon-ID`, `placeholder`, `header`. */
export class PerchStore extends Selling {
  static observedAttributes = ['product-ids', 'product-style', 'store-button', 'prefers-promotional-icon', 'product-icon-border'];
  begin() {
    const ids = list(this.getAttribute('product-ids'));
    this.listeners = new Set();
    const marks = Object.fromEntries(['prefers-promotional-icon', 'product-icon-border'].map((name) => [name, this.hasAttribute(name)]));
    const views = ids.map((id) => h('perch-product', { 'product-id': id, 'product-style': this.getAttribute('product-style') ?? 'regular', ...marks, exportparts: 'product, icon, title, description, button, message, dialog' },
      h('slot', { name: `icon-${id}`, slot: 'icon' }), this.querySelector(':scope > [slot=placeholder]') ? h('slot', { name: 'placeholder', slot: 'placeholder' }) : null));
    // A shop with views of its own lays them out itself; white space is none.
    const isOwn = [...this.children].some((each) => !each.slot);
    const { policies, others } = auxiliary(this, { cancellation: this.isPresented });
    this.show(h('slot', { name: 'header' }), isOwn ? h('slot') : h('div', {}, views), h('div.aux', { part: 'auxiliaries' }, others, policies));
    this.ends.push(this.app.storeProductsTask(ids, (state) => {
      this.state = state;
      for (const each of this.listeners) each(state);
      this.setAttribute('data-state', state.loading ? 'loading' : state.failure ? 'failure' : 'success');
      this.tell('storeproductschange', state);
    }, this.app.locale(this)));
  }
  loads(id) { return !!this.listeners && list(this.getAttribute('product-ids')).includes(id); }
  /** One task for all products, so that the whole shop loads together. */
  share(listener) {
    this.listeners.add(listener);
    if (this.state) listener(this.state);
    return () => this.listeners.delete(listener);
  }
}

class Restore extends View {
  begin() { this.draw(); }
  draw() {
    this.show(h('button.link', { part: 'auxiliary', 'data-key': 'restore', 'aria-busy': this.isRestoring ? 'true' : null, 'aria-disabled': this.isRestoring ? 'true' : null, disabled: !!this.isRestoring, onclick: () => this.restore() }, this.t(this.isRestoring ? 'restoring' : 'restore')));
  }
  async restore() {
    if (this.isRestoring) return;
    this.isRestoring = true;
    this.say('');
    this.draw();
    let error = null;
    // A customer whom the store does not know yet has nothing to restore.
    try { await this.app.call('TransactionService/Sync'); } catch (found) { if (found.reason !== 'ACCOUNT_UNKNOWN') error = found; }
    this.isRestoring = false;
    this.draw();
    this.focusOn('restore');
    if (!this.tell('restorecompletion', { error })) return;
    if (error) this.fail(error); else this.say(this.t('restored'));
  }
}
class OfferCode extends View {
  begin() { this.show(h('button.link', { part: 'auxiliary', 'data-key': 'code', onclick: () => this.ask() }, this.t('redeemCode'))); }
  ask() {
    const input = h('input', { 'aria-label': this.t('code'), required: true, autocapitalize: 'characters', autocomplete: 'off' });
    const said = h('p.bad', { role: 'alert' });
    const send = h('button.buy', {}, this.t('redeem'));
    const dialog = this.dialog(this.t('redeemCode'), h('form', { onsubmit: async (event) => {
      event.preventDefault();
      send.disabled = true;
      try {
        const answer = await this.app.call('TransactionService/RedeemOfferCode', { code: input.value.trim() });
        dialog.close();
        if (this.tell('offercoderedemption', { appliesAtRenewal: !!answer.appliesAtRenewal, transaction: answer.transaction?.transaction })) this.say(this.t(answer.appliesAtRenewal ? 'redeemedLater' : 'redeemed'));
      } catch (error) { said.textContent = errorText(this.language, /OFFER|CODE/.test(error.reason ?? '') ? {} : error, 'code'); }
      send.disabled = false;
    } }, input, said, h('div.end', {}, h('button', { type: 'button', onclick: () => dialog.close() }, this.t('cancel')), send)));
  }
}
class SignIn extends View {
  begin() { this.show(h('button.link', { part: 'auxiliary', onclick: () => { if (this.tell('signin')) around(this, (each) => each.signInAction)?.signInAction(); } }, this.t('signIn'))); }
}
class Cancellation extends View {
  begin() { this.show(h('button.link', { part: 'auxiliary', onclick: () => { if (this.tell('storecancel')) around(this, (each) => each.tagName === 'DIALOG')?.close(); } }, this.t('notNow'))); }
}
class Policies extends View {
  async begin() {
    let policies;
    try { policies = await this.app.perch.call('EntitlementService/GetAppPolicies', { locale: this.app.locale(this) }); } catch { return; }
    const page = (title, words, url) => (words || url ? h('button.link', { part: 'policy', style: 'color:var(--perch-policy,var(--accent))', onclick: () => {
      const dialog = this.dialog(title, h('p', { style: 'white-space:pre-line' }, words ?? ''), url ? h('p', {}, h('a', { href: /^https?:/.test(url) ? url : '#', target: '_blank', rel: 'noreferrer noopener' }, url)) : null, h('div.end', {}, h('button', { onclick: () => dialog.close() }, this.t('done'))));
    } }, title) : null);
    this.show(page(this.t('terms'), policies.licenceAgreement), page(this.t('privacy'), policies.privacyPolicyText, policies.privacyPolicyUrl));
  }
}

for (const [tag, type] of Object.entries({
  'perch-app': PerchApp, 'perch-product': PerchProduct, 'perch-store': PerchStore, 'perch-restore': Restore, 'perch-offer-code': OfferCode,
  'perch-sign-in-button': SignIn, 'perch-cancellation': Cancellation, 'perch-policies': Policies,
})) customElements.get(tag) ?? customElements.define(tag, type);

export { errorText, everyText, offerText, periodText, priceText, text };

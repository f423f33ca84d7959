// Store views: what StoreKit's views do in SwiftUI, as elements on Perch's live streams.
//
//     <perch-app account="alice">
//       <perch-store product-ids="coins gems" store-button="restore=visible"></perch-store>
//     </perch-app>
//
// Events bubble from the view. `inapppurchasestart` {product} and `inapppurchasecompletion` {product, result, transaction} replace
// the default when a handler cancels them; `storeproductschange`, `subscriptionstatuschange` and `currententitlementchange` have
// the task's state as `detail`: {loading}, {failure} or {success}. `signin`, `managesubscriptions` and `storecancel` likewise.
import { Perch } from './perch.js';

export const sheet = (text) => { const made = new CSSStyleSheet(); made.replaceSync(text); return made; };
const base = sheet(`
:host{display:block;color:var(--ink);font:15px/1.45 system-ui,sans-serif}:host([hidden]){display:none}
*{box-sizing:border-box}h2,h3,p{margin:0}.soft{color:var(--soft)}.bad{color:var(--bad)}
button{font:inherit;cursor:pointer;border:1px solid var(--line);border-radius:99px;background:var(--card);color:var(--ink);padding:.35rem 1rem;min-height:2.2rem}
button:disabled{opacity:.55;cursor:default}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
button.buy{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
button.link{border:0;background:none;color:var(--accent);padding:.2rem .4rem}
.icon{width:3rem;height:3rem;border-radius:22%;background:var(--tint);display:grid;place-items:center;overflow:hidden;flex:none;font-size:1.6rem}
.icon img{width:100%;height:100%;object-fit:cover}
.product{display:flex;gap:.8rem;align-items:center;padding:.6rem 0}.product .texts{flex:1;min-width:0}.product h3{font-size:1rem}
.product.compact{padding:.3rem 0}.product.compact .icon{width:2.2rem;height:2.2rem;font-size:1.2rem}.product.compact .about{display:none}
.product.large{flex-direction:column;text-align:center;gap:.6rem;padding:1rem}.product.large .icon{width:8rem;height:8rem;font-size:4.5rem}.product.large h3{font-size:1.25rem}
.spin{width:1.4rem;height:1.4rem;border-radius:50%;border:3px solid var(--line);border-top-color:var(--accent)}
@media(prefers-reduced-motion:no-preference){.spin{animation:spin 1s linear infinite}@keyframes spin{to{transform:rotate(1turn)}}}
.aux{display:flex;flex-wrap:wrap;gap:.3rem .8rem;justify-content:center;padding:.5rem 0}.close{position:absolute;top:.6rem;right:.6rem;z-index:1}
dialog{border:1px solid var(--line);border-radius:12px;background:var(--card);color:var(--ink);padding:1.1rem 1.3rem;width:min(30rem,calc(100vw - 2rem))}
dialog form{display:grid;gap:.6rem;margin-top:.6rem}dialog input{font:inherit;padding:.4rem .6rem;border:1px solid var(--line);border-radius:8px;background:var(--ground);color:var(--ink)}
.end{display:flex;gap:.5rem;justify-content:flex-end;margin-top:.8rem}`);

/** Makes an element; texts become text nodes. */
export function h(what, props = {}, ...children) {
  const [tag, ...classes] = what.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'checked' || name === 'value') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

export const list = (text) => (text ?? '').split(/[\s,]+/).filter(Boolean);
const words = (unit) => (unit ?? '').replace('PERIOD_UNIT_', '').toLowerCase();
export const periodText = (period, count = 1) => { const n = Number(period?.value ?? 1) * count; return n === 1 ? words(period?.unit) : `${n} ${words(period?.unit)}s`; };
export const freePeriod = (period) => { const n = Number(period?.value ?? 1); return `${n} ${words(period?.unit)}${n === 1 ? '' : 's'}`; };

/**
 * The customer of the views inside: one server, one account, and the tasks that they share. Each task is watched once, however many
 * views show it.
 */
export class PerchApp extends HTMLElement {
  static observedAttributes = ['account'];
  #shared = new Map();

  get perch() {
    this.client ??= new Perch({ base: this.getAttribute('server') ?? '', token: () => sessionStorage.getItem('perch-token'), clientId: this.getAttribute('client-id') ?? undefined });
    return this.client;
  }
  get account() { return this.getAttribute('account') ?? ''; }
  attributeChangedCallback(name, before, after) {
    if (before === null || before === after) return;
    // Another customer: every task begins again.
    for (const task of this.#shared.values()) { task.watch.close(); task.state = { loading: {} }; task.open(); for (const each of task.listeners) each(task.state); }
    this.dispatchEvent(new Event('accountchange'));
  }
  disconnectedCallback() { for (const task of this.#shared.values()) task.watch.close(); this.#shared.clear(); }

  #task(method, request, isOfAccount, listener) {
    const key = method + JSON.stringify(request);
    let task = this.#shared.get(key);
    if (!task) {
      task = { listeners: new Set(), state: { loading: {} } };
      task.open = () => {
        task.watch = this.perch.watch(method, isOfAccount ? { account: this.account, ...request } : request, (state) => {
          task.state = state;
          for (const each of task.listeners) each(state);
        });
      };
      this.#shared.set(key, task);
      task.open();
    }
    task.listeners.add(listener);
    listener(task.state);
    return () => {
      task.listeners.delete(listener);
      if (task.listeners.size === 0) { task.watch.close(); this.#shared.delete(key); }
    };
  }

  /** @param {string[]} ids */
  storeProductsTask(ids, listener) { return this.#task('EntitlementService/ProductsTask', { productIds: ids }, false, listener); }
  subscriptionStatusTask(groupId, listener) { return this.#task('EntitlementService/SubscriptionStatusTask', { groupId }, true, listener); }
  currentEntitlementTask(productId, listener) { return this.#task('EntitlementService/CurrentEntitlementTask', { productId }, true, listener); }
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

  call(method, request = {}) { return this.perch.call(method, { account: this.account, ...request }); }
  finish(transaction) { return this.call('TransactionService/Finish', { transactionId: transaction.id ?? '0' }); }

  /** Buys, as the views do: start, then completion, each of which a handler may take over. */
  async purchase(product, options = {}, view = this) {
    const tell = (type, detail) => view.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true }));
    if (!tell('inapppurchasestart', { product })) return null;
    let result;
    try {
      const answer = await this.call('TransactionService/Purchase', { order: { productId: product.id, ...options } });
      const kind = { PURCHASE_RESULT_SUCCESS: 'success', PURCHASE_RESULT_PENDING: 'pending', PURCHASE_RESULT_USER_CANCELLED: 'userCancelled' }[answer.result] ?? 'unknown';
      const isVerified = !answer.transaction?.verificationError;
      result = { product, result: kind, transaction: answer.transaction?.transaction, isVerified, alreadyHeld: !!answer.alreadyHeld };
    } catch (error) {
      result = { product, result: 'failure', error };
    }
    if (tell('inapppurchasecompletion', result)) {
      if (result.result === 'failure') view.say?.(result.error.message, true);
      if (result.result === 'pending') view.say?.('Your purchase waits for approval.');
    }
    return result;
  }
}

/** A view inside a `perch-app`. */
export class View extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: 'open' });
    this.shadowRoot.adoptedStyleSheets = [base, ...(this.constructor.sheets ?? [])];
  }
  get app() { return this.closest('perch-app') ?? this.getRootNode().host?.app; }
  connectedCallback() { this.ends = []; if (this.app) this.begin(); }
  disconnectedCallback() { for (const end of this.ends ?? []) end?.(); this.ends = []; }
  attributeChangedCallback() { if (this.isConnected && this.ends) { this.disconnectedCallback(); this.connectedCallback(); } }
  tell(type, detail = {}) { return this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true })); }
  get canBuy() { return !this.closest('[read-only]'); }
  /** A line under the view, for what the customer has to know. */
  say(text, isBad = false) {
    this.shadowRoot.querySelector('.said')?.remove();
    this.shadowRoot.append(h(isBad ? 'p.said.bad' : 'p.said.soft', { role: 'status' }, text));
  }
  dialog(title, ...content) {
    const dialog = h('dialog', { 'aria-label': title }, h('h2', {}, title), content);
    dialog.addEventListener('close', () => dialog.remove());
    this.shadowRoot.append(dialog);
    dialog.showModal();
    return dialog;
  }
}

const images = new Map();
async function promotionalIcon(app, product) {
  const key = product.promotionalImageHash;
  if (!images.has(key)) {
    images.set(key, app.perch.call('EntitlementService/GetImage', { imageId: product.promotionalImageId }).then(({ content, contentType }) =>
      URL.createObjectURL(new Blob([Uint8Array.from(atob(content), (each) => each.charCodeAt(0))], { type: contentType }))));
  }
  return images.get(key);
}

/**
 * ProductView. Attributes: `product-id`, `product-style` (compact, regular, large, custom), `prefers-promotional-icon`. Slots: `icon`,
 * `placeholder` (the icon while loading), and in the custom style one for each state: `loading`, `unavailable`, `success`, `failure`. In the slot of success,
 * texts of elements with `data-product="displayName"` (description, displayPrice) are set, and `data-buy` buys.
 */
export class PerchProduct extends View {
  static observedAttributes = ['product-id', 'product-style', 'prefers-promotional-icon'];

  begin() {
    const id = this.getAttribute('product-id');
    if (!id) return;
    this.state = { loading: {} };
    // A shop that loads all of its products at once gives them to its views.
    const shop = this.getRootNode().host?.closest?.('perch-store') ?? this.closest('perch-store');
    const listen = (state) => this.#took(id, state);
    this.ends.push(shop?.shares ? shop.share(listen) : this.app.storeProductsTask([id], listen));
  }

  #took(id, state) {
    let next = state;
    if (state.success) {
      const product = (state.success.products ?? []).find((each) => each.id === id);
      next = product ? { success: product } : { unavailable: {} };
    }
    this.product = next.success ?? (state.failure ? this.product : null);
    this.state = next;
    if (this.product && !this.#owned && this.product.type === 'PRODUCT_TYPE_NON_CONSUMABLE') {
      this.#owned = this.app.currentEntitlementTask(id, (entitlement) => {
        this.isOwned = !!entitlement.success?.transaction;
        this.tell('currententitlementchange', entitlement);
        this.#show();
      });
      this.ends.push(this.#owned);
    }
    this.#show();
    this.tell('storeproductschange', next);
  }
  #owned = null;
  disconnectedCallback() { super.disconnectedCallback(); this.#owned = null; }

  #show() {
    const style = this.getAttribute('product-style') ?? 'regular';
    const { product, state } = this;
    const place = this.shadowRoot;
    const name = state.loading ? 'loading' : state.unavailable ? 'unavailable' : state.failure && !product ? 'failure' : 'success';
    this.setAttribute('data-state', name);
    if (style === 'custom') {
      place.replaceChildren(h('slot', { name }));
      if (name === 'success') this.#fillCustom(product);
      return;
    }
    if (name === 'unavailable') return place.replaceChildren(h('div.product.unknown', {}, this.#icon(null), h('div.texts', {}, h('h3', {}, 'Unavailable'), h('p.soft', {}, 'This product is not sold here.'))));
    if (name === 'failure') return place.replaceChildren(h('div.product', {}, this.#icon(null), h('div.texts', {}, h('h3', {}, 'Not loaded'), h('p.soft', {}, state.failure.message))));
    if (name === 'loading') return place.replaceChildren(h('div.product', { class: `product ${style}`, 'aria-busy': 'true' }, h('slot', { name: 'placeholder' }, this.#icon(null)), h('div.texts', {}, h('h3.soft', {}, '…')), h('span.spin', { role: 'img', 'aria-label': 'loading' })));
    place.replaceChildren(h('div', { class: `product ${style}` }, this.#icon(product),
      h('div.texts', {}, h('h3', {}, product.displayName || product.id), style === 'compact' ? null : h('p.soft.about', {}, product.description ?? '')), this.#button(product)));
  }

  #icon(product) {
    const icon = h('div.icon', { 'aria-hidden': 'true' });
    if (product && this.hasAttribute('prefers-promotional-icon') && product.promotionalImageHash) {
      promotionalIcon(this.app, product).then((address) => icon.replaceChildren(h('img', { src: address, alt: '' })), () => {});
      return icon;
    }
    icon.append(h('slot', { name: 'icon' }));
    return icon;
  }

  #button(product) {
    if (this.isOwned) return h('button', { disabled: true }, 'Purchased');
    return h('button.buy', { 'aria-label': `Buy ${product.displayName || product.id} for ${product.displayPrice}`, disabled: !this.canBuy, onclick: (event) => this.buy(event.target) }, product.displayPrice ?? 'Buy');
  }

  async buy(button) {
    if (button) button.disabled = true;
    await this.app.purchase(this.product, {}, this);
    if (button?.isConnected) button.disabled = false;
  }

  #fillCustom(product) {
    for (const element of this.querySelectorAll('[slot=success] [data-product], [slot=success][data-product]')) element.textContent = product[element.dataset.product] ?? '';
    for (const button of this.querySelectorAll('[data-buy]')) {
      button.disabled = !!this.isOwned;
      button.onclick = () => this.buy(button);
    }
  }
}

/** The auxiliary buttons, each `automatic`, `visible` or `hidden`: `store-button="restore=visible cancellation=hidden"`. */
export function auxiliary(view, automatic = {}) {
  const said = Object.fromEntries(list(view.getAttribute('store-button')).map((each) => each.split('=')));
  const shows = (kind) => ({ visible: true, hidden: false })[said[kind] ?? 'automatic'] ?? automatic[kind] ?? false;
  return [shows('restore') ? h('perch-restore') : null, shows('redeem-code') ? h('perch-offer-code') : null, shows('sign-in') ? h('perch-sign-in-button') : null, shows('policies') ? h('perch-policies') : null,
    shows('cancellation') ? h('perch-cancellation') : null].filter(Boolean);
}

/** StoreView. `product-ids`, `product-style`, `prefers-promotional-icon`, `store-button`; slots `icon-ID`, `placeholder`, `header`. */
export class PerchStore extends View {
  static observedAttributes = ['product-ids', 'product-style', 'store-button'];
  begin() {
    const ids = list(this.getAttribute('product-ids'));
    this.listeners = new Set();
    this.shares = true;
    const views = ids.map((id) => h('perch-product', { 'product-id': id, 'product-style': this.getAttribute('product-style') ?? 'regular', 'prefers-promotional-icon': this.hasAttribute('prefers-promotional-icon') },
      h('slot', { name: `icon-${id}`, slot: 'icon' }), h('slot', { name: 'placeholder', slot: 'placeholder' })));
    // A shop with views of its own lays them out itself; white space is none.
    const isOwn = [...this.children].some((each) => !each.slot);
    this.shadowRoot.replaceChildren(h('slot', { name: 'header' }), isOwn ? h('slot') : h('div', {}, views), h('div.aux', {}, auxiliary(this, { cancellation: false })));
    this.ends.push(this.app.storeProductsTask(ids, (state) => {
      this.state = state;
      for (const each of this.listeners) each(state);
      this.setAttribute('data-state', state.loading ? 'loading' : state.failure ? 'failure' : 'success');
      this.tell('storeproductschange', state);
    }));
  }
  /** One stream for all products, so that the whole shop loads together. */
  share(listener) {
    this.listeners.add(listener);
    if (this.state) listener(this.state);
    return () => this.listeners.delete(listener);
  }
}

class Restore extends View {
  begin() {
    this.shadowRoot.replaceChildren(h('button.link', { onclick: async () => {
      try { await this.app.call('TransactionService/Sync'); this.say('Your purchases are restored.'); } catch (error) { this.say(error.message, true); }
    } }, 'Restore purchases'));
  }
}
class OfferCode extends View {
  begin() { this.shadowRoot.replaceChildren(h('button.link', { onclick: () => this.ask() }, 'Redeem code')); }
  ask() {
    const input = h('input', { 'aria-label': 'Code', required: true, autocapitalize: 'characters' });
    const said = h('p.bad', { role: 'alert' });
    const dialog = this.dialog('Redeem code', h('form', { onsubmit: async (event) => {
      event.preventDefault();
      try {
        const answer = await this.app.call('TransactionService/RedeemOfferCode', { code: input.value.trim() });
        dialog.close();
        this.say(answer.appliesAtRenewal ? 'The offer begins with your next period.' : 'The code is redeemed.');
      } catch (error) { said.textContent = error.message; }
    } }, input, said, h('div.end', {}, h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'), h('button.buy', {}, 'Redeem'))));
  }
}
class SignIn extends View {
  begin() { this.shadowRoot.replaceChildren(h('button.link', { onclick: () => this.tell('signin') }, 'Sign in')); }
}
class Cancellation extends View {
  begin() { this.shadowRoot.replaceChildren(h('button.link', { 'aria-label': 'Close', onclick: () => { if (this.tell('storecancel')) this.closest('dialog')?.close() ?? this.getRootNode().host?.closest('dialog')?.close(); } }, 'Not now')); }
}
class Policies extends View {
  async begin() {
    let policies;
    try { policies = await this.app.perch.call('EntitlementService/GetAppPolicies', { locale: document.documentElement.lang || '' }); } catch { return; }
    const page = (title, text, url) => (text || url ? h('button.link', { onclick: () => {
      const dialog = this.dialog(title, h('p', {}, text ?? ''), url ? h('p', {}, h('a', { href: /^https?:/.test(url) ? url : '#', target: '_blank', rel: 'noreferrer noopener' }, url)) : null, h('div.end', {}, h('button', { onclick: () => dialog.close() }, 'Done')));
    } }, title) : null);
    this.shadowRoot.replaceChildren(...[page('Terms of service', policies.licenceAgreement), page('Privacy policy', policies.privacyPolicyText, policies.privacyPolicyUrl)].filter(Boolean));
  }
}

customElements.define('perch-app', PerchApp);
customElements.define('perch-product', PerchProduct);
customElements.define('perch-store', PerchStore);
customElements.define('perch-restore', Restore);
customElements.define('perch-offer-code', OfferCode);
customElements.define('perch-sign-in-button', SignIn);
customElements.define('perch-cancellation', Cancellation);
customElements.define('perch-policies', Policies);

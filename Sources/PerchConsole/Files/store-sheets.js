// Sheets of the store: payment, refund requests, subscriptions, billing issues and other messages, purchases that began elsewhere.
// Each is a dialog of this module; an event tells the page first, and a handler that cancels it shows a sheet of its own.
import { drawUnpressed } from './press.js';
import { errorText, h, offerText, PerchApp, priceText, View } from './store.js';

/** An element for a sheet that no view shows. */
class Sheet extends View {
  static of(app) {
    const made = document.createElement('perch-sheet');
    app.append(made);
    return made;
  }
  begin() {}
  /** A sheet with a line for errors, which is gone with its dialog. */
  open(title, ...content) {
    this.error = h('p.bad', { role: 'alert' });
    const dialog = this.dialog(title, content, this.error);
    dialog.addEventListener('close', () => queueMicrotask(() => { if (!this.shadowRoot.querySelector('dialog')) this.remove(); }));
    return dialog;
  }
  /** Runs an action of a button; an error stays in the sheet, in words for customers. */
  async act(button, action, otherwise) {
    button.disabled = true;
    this.error.textContent = '';
    try { await action(); } catch (error) { console.info('perch:', error.reason || error.code, error.message); this.error.textContent = errorText(this.language, error, otherwise); }
    button.disabled = false;
  }
}
customElements.get('perch-sheet') ?? customElements.define('perch-sheet', Sheet);

const amount = (language, money, count) => {
  try { return new Intl.NumberFormat(language, { style: 'currency', currency: money.currency }).format((Number(money.milliunits ?? 0) * count) / 1000); } catch { return ''; }
};
const dateText = (language, ms) => new Intl.DateTimeFormat(language, { year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }).format(Number(ms));

/** The payment sheet: what is bought, its price, the offer's terms, and its renewal. Gives {agrees, close}. */
function payment(app, product, order, view, { offer, atRenewal } = {}) {
  const host = view instanceof View ? view : Sheet.of(app);
  const language = app.language(view);
  const t = (key, values) => app.text(key, values, view);
  const { subscription } = product;
  const count = Number(order.quantity ?? 1);
  const price = priceText(language, product.displayPrice, subscription?.period);
  const isFree = offer?.paymentMode === 'OFFER_PAYMENT_MODE_FREE_TRIAL';
  const now = atRenewal ? amount(language, { ...product.price, milliunits: 0 }, 1) : offer ? (isFree ? amount(language, { ...product.price, milliunits: 0 }, 1) : offer.displayPrice) : count > 1 ? amount(language, product.price, count) : product.displayPrice;
  const action = subscription ? (isFree ? t('tryFree') : t('subscribe')) : t('buy');
  return new Promise((done) => {
    const agree = h('button.buy', { part: 'confirm', onclick: () => {
      agree.disabled = cancel.disabled = true;
      wait.textContent = t('buying');
      done({ agrees: true, close: () => dialog.close() });
    } }, action);
    const cancel = h('button', { part: 'cancel', onclick: () => dialog.close() }, t('cancel'));
    const wait = h('p.soft', { role: 'status' });
    const dialog = host.dialog(t('confirm'), h('div.pay', {}, h('p', {}, h('b', {}, product.displayName || product.id), product.description ? h('span.soft', {}, ` · ${product.description}`) : null),
      count > 1 ? h('p', {}, t('quantity', { count })) : null, offer ? h('p', {}, offerText(language, product, offer)) : null,
      h('p.soft', {}, !subscription ? t('oneTime') : atRenewal ? t('startsAtRenewal') : t(offer ? 'renewsAfter' : 'renews', { price })),
      h('p.sum', {}, h('span', {}, product.displayName || product.id), h('span', {}, now)), wait), h('div.end', {}, cancel, agree));
    dialog.addEventListener('cancel', (event) => { if (agree.disabled) event.preventDefault(); });
    dialog.addEventListener('close', () => { done({ agrees: false, close: () => {} }); if (host !== view) host.remove(); });
    host.ends?.push(() => dialog.close());
  });
}

/** The refund request sheet, for a transaction. Gives `success`, `userCancelled` or `failure`, as StoreKit does. */
export function beginRefundRequest(app, transactionId, host = Sheet.of(app)) {
  const t = (key) => app.text(key, {}, host);
  return new Promise((done) => {
    let result = 'userCancelled';
    const words = h('textarea', { rows: '3', 'aria-label': t('refundText'), placeholder: t('refundText') });
    const said = h('p', { role: 'status' });
    const send = h('button.buy', { onclick: () => host.act(send, async () => {
      const answer = await app.call('TransactionService/RequestRefund', { transactionId, text: words.value, reason: `REVOCATION_REASON_${dialog.querySelector('input:checked').value}` });
      result = 'success';
      said.textContent = t(answer.approved ? 'refundApproved' : 'refundDeclined');
      send.hidden = true;
      close.textContent = t('done');
    }, 'refund') }, t('send'));
    const close = h('button', { onclick: () => dialog.close() }, t('cancel'));
    const dialog = host.open(t('refund'), h('form', { onsubmit: (event) => event.preventDefault() }, h('fieldset', { style: 'border:0;padding:0;margin:0;display:grid;gap:.3rem' }, h('legend', {}, t('refundWhy')),
      ['OTHER', 'DEVELOPER_ISSUE'].map((reason, at) => h('label', {}, h('input', { type: 'radio', name: 'why', value: reason, checked: at === 0 }), t('refundReasons')[at]))), words, said), h('div.end', {}, close, send));
    dialog.addEventListener('close', () => { if (app.dispatchEvent(new CustomEvent('refundrequestcompletion', { detail: { transactionId, result }, bubbles: true, composed: true }))) done(result); });
  });
}

/** The sheet in which a customer manages subscriptions: change the plan, switch renewal, ask for a refund. */
export async function manageSubscriptions(app, groupId, from) {
  if (!(from ?? app).dispatchEvent(new CustomEvent('managesubscriptions', { detail: { groupId }, bubbles: true, composed: true, cancelable: true }))) return null;
  const host = Sheet.of(app);
  const t = (key, values) => app.text(key, values, host);
  const state = h('p', { role: 'status' });
  const actions = h('div.end', {});
  const dialog = host.open(t('manage'), state, h('perch-subscription-store', { 'group-id': groupId, 'control-style': 'picker', 'store-button': 'policies=hidden cancellation=hidden', style: 'margin-top:.8rem' }), actions);
  let shown = '';
  const show = async ({ success, failure }) => {
    if (failure) host.error.textContent = errorText(host.language, failure);
    if (!success) return;
    host.error.textContent = '';
    const status = success.statuses?.[success.effectiveIndex ?? 0];
    const isHeld = success.effectiveIndex !== undefined && status;
    const print = JSON.stringify([status, success.effectiveIndex]);
    if (print === shown) return;
    shown = print;
    const [transaction, renewal] = [status?.transaction?.transaction, status?.renewalInfo?.renewalInfo];
    const name = isHeld ? await app.perch.call('EntitlementService/GetProducts', { productIds: [transaction.productId], locale: app.locale(host) }).then((answer) => answer.success?.products?.[0]?.displayName, () => '') || transaction.productId : '';
    const renews = !!renewal?.willAutoRenew;
    const isGrace = status?.state === 'RENEWAL_STATE_IN_GRACE_PERIOD';
    const date = isHeld ? dateText(host.language, isGrace ? renewal.gracePeriodExpirationDateMs : transaction.expirationDateMs) : '';
    state.textContent = isHeld ? t(isGrace ? 'graceUntil' : renews ? 'renewsOn' : 'endsOn', { name, date }) : t('noPlan');
    const toggle = h('button', { onclick: () => host.act(toggle, () => app.call('TransactionService/ManageSubscriptions', { productId: transaction.productId, autoRenew: !renews })) }, t(renews ? 'cancelPlan' : 'renewAgain'));
    drawUnpressed(actions, () => actions.replaceChildren(...[isHeld ? h('button.link', { onclick: () => beginRefundRequest(app, transaction.id) }, t('requestRefund')) : null, isHeld ? toggle : null, h('button', { onclick: () => dialog.close() }, t('done'))].filter(Boolean)));
  };
  const end = app.subscriptionStatusTask(groupId, show);
  dialog.addEventListener('close', end);
  return dialog;
}

// MARK: What the store tells a customer, once

const told = {
  has(key) { try { return JSON.parse(sessionStorage.getItem('perch-told') ?? '[]').includes(key); } catch { return this.here.has(key); } },
  add(key) { this.here.add(key); try { sessionStorage.setItem('perch-told', JSON.stringify([...JSON.parse(sessionStorage.getItem('perch-told') ?? '[]').slice(-99), key])); } catch { /* A page without storage tells again after a reload. */ } },
  here: new Set(),
};
/** Sheets of an app that are open for a message or an intent, by what they are about. */
const open = new WeakMap();
const sheetsOf = (app) => open.get(app) ?? open.set(app, new Map()).get(app);
function close(app, kind, kept) {
  sheetsOf(app)[kind] = kept;
  for (const [key, dialog] of sheetsOf(app)) if (key.startsWith(kind) && !kept.has(key)) dialog.close();
}
async function productOf(app, id, view) {
  const answer = id ? await app.perch.call('EntitlementService/GetProducts', { productIds: [id], locale: app.locale(view) }).catch(() => ({})) : {};
  return answer.success?.products?.[0] ?? { id: id ?? '' };
}
/** Opens one sheet at a time; the next waits until it is closed. */
async function tell(app, key, make) {
  const sheets = sheetsOf(app);
  if (sheets.has(key) || told.has(key)) return;
  const before = sheets.last ?? Promise.resolve();
  let done;
  sheets.last = new Promise((end) => { done = end; });
  await before;
  const isWanted = () => app.isConnected && sheets[key.split(' ')[0]]?.has(key);
  if (!isWanted() || told.has(key)) return done();
  const dialog = await make(Sheet.of(app));
  told.add(key);
  sheets.set(key, dialog);
  dialog.addEventListener('close', () => { sheets.delete(key); done(); });
  // What it is about may have ended meanwhile.
  if (!isWanted()) dialog.close();
}

function messages(app, state) {
  if (!state.success) return;
  const all = (state.success.messages ?? []).map((message) => [`message ${app.account} ${message.reason} ${message.sinceMs ?? ''} ${message.originalTransactionId ?? ''} ${message.offerId ?? ''}`, message]);
  close(app, 'message', new Set(all.map(([key]) => key)));
  for (const [key, message] of all) {
    if (sheetsOf(app).has(key) || told.has(key)) continue;
    if (!app.dispatchEvent(new CustomEvent('storemessage', { detail: message, bubbles: true, composed: true, cancelable: true }))) { told.add(key); continue; }
    tell(app, key, async (host) => {
      const product = await productOf(app, message.productId, host);
      const name = product.displayName || product.id;
      const t = (word, values) => app.text(word, { name, ...values }, host);
      const button = (label, action, isMain = true) => { const made = h(isMain ? 'button.buy' : 'button', { onclick: () => host.act(made, action) }, label); return made; };
      const leave = (label) => h('button', { onclick: () => host.shadowRoot.querySelector('dialog').close() }, label);
      const finish = () => host.shadowRoot.querySelector('dialog')?.close();
      switch (message.reason) {
        case 'MESSAGE_REASON_BILLING_ISSUE':
          return host.open(t('billing'), h('p', {}, t('billingText')), h('div.end', {}, leave(t('cancel')), button(t('resolve'), async () => { await app.call('TransactionService/ResolveBillingIssue', { productId: product.id }); finish(); })));
        case 'MESSAGE_REASON_PRICE_INCREASE_CONSENT': {
          const reply = (agrees) => async () => { await app.call('TransactionService/AnswerPriceIncrease', { productId: product.id, agrees }); finish(); };
          const price = message.price && priceText(host.language, amount(host.language, message.price, 1), product.subscription?.period);
          return host.open(t('rise'), h('p', {}, price ? t('riseText', { price }) : t('riseTextPlain')), h('div.end', {}, leave(t('notNow')), button(t('decline'), reply(false), false), button(t('agree'), reply(true))));
        }
        case 'MESSAGE_REASON_WIN_BACK_OFFER': {
          const offer = product.subscription?.winBackOffers?.find(({ id }) => id === message.offerId);
          return host.open(t('winBack'), h('p', {}, offer ? t('winBackText', { offer: offerText(host.language, product, offer) }) : name), h('div.end', {}, leave(t('notNow')), button(t('accept'), async () => {
            const result = await app.purchase(product, { offer: { type: 'OFFER_TYPE_WIN_BACK', id: message.offerId } }, host, { offer });
            if (result?.result === 'success') finish();
          })));
        }
        default: return host.open(t('generic'), h('p', {}, name), h('div.end', {}, leave(t('ok'))));
      }
    });
  }
}

function intents(app, state) {
  if (!state.success) return;
  const all = (state.success.intents ?? []).map((intent) => [`intent ${app.account} ${intent.number ?? intent.createdMs ?? ''} ${intent.productId} ${intent.offer?.id ?? ''}`, intent]);
  close(app, 'intent', new Set(all.map(([key]) => key)));
  for (const [key, intent] of all) {
    if (sheetsOf(app).has(key) || told.has(key)) continue;
    if (!app.dispatchEvent(new CustomEvent('purchaseintent', { detail: intent, bubbles: true, composed: true, cancelable: true }))) { told.add(key); continue; }
    tell(app, key, async (host) => {
      const product = await productOf(app, intent.productId, host);
      const t = (word, values) => app.text(word, values, host);
      const offers = [...(product.subscription?.winBackOffers ?? []), ...(product.subscription?.promotionalOffers ?? [])];
      const offer = intent.offer ? offers.find(({ id }) => id === intent.offer.id) : null;
      const buy = h('button.buy', { onclick: () => host.act(buy, async () => {
        const result = await app.purchase(product, intent.offer ? { offer: intent.offer } : {}, host, { offer });
        if (result?.result === 'success' || result?.result === 'pending') dialog.close();
      }) }, product.subscription ? t('subscribe') : t('buy'));
      const price = priceText(host.language, product.displayPrice, product.subscription?.period);
      const dialog = host.open(t('intent'), h('p', {}, h('b', {}, product.displayName || product.id)), h('p.soft', {}, product.description ?? ''), h('p', {}, offer ? offerText(host.language, product, offer) : price), h('div.end', {}, h('button', { onclick: () => dialog.close() }, t('notNow')), buy));
      return dialog;
    });
  }
}

/** A button that asks for the refund of a transaction: `transaction-id`. */
class Refund extends View {
  begin() { this.show(h('button.link', { part: 'auxiliary', onclick: () => beginRefundRequest(this.app, this.getAttribute('transaction-id')) }, this.t('requestRefund'))); }
}
/** A button that opens the sheet of subscriptions: `group-id`. */
class Manage extends View {
  begin() { this.show(h('button.link', { part: 'auxiliary', onclick: () => manageSubscriptions(this.app, this.getAttribute('group-id'), this) }, this.t('manage'))); }
}
customElements.get('perch-refund-button') ?? customElements.define('perch-refund-button', Refund);
customElements.get('perch-manage-subscriptions') ?? customElements.define('perch-manage-subscriptions', Manage);

PerchApp.sheets = { payment, messages, intents };

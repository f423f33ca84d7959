// Every element of the store views in every state, from a client that answers by itself: the page is a visual test, and a catalogue
// of what a designer has to style.
import { h } from './store.js';
import './perch-views.js';

const period = (unit, value = 1) => ({ unit: `PERIOD_UNIT_${unit}`, value });
const trial = { type: 'OFFER_TYPE_INTRODUCTORY', paymentMode: 'OFFER_PAYMENT_MODE_FREE_TRIAL', period: period('WEEK'), periodCount: 1, displayPrice: '$0.00' };
const plan = (id, displayName, displayPrice, groupLevel, each, more = {}) => ({
  id, displayName, displayPrice, description: `Everything of ${displayName.split(' ')[0]}.`, type: 'PRODUCT_TYPE_AUTO_RENEWABLE', price: { milliunits: '4990', currency: 'USD' },
  subscription: { groupId: 'plus', groupDisplayName: 'Perch Plus', groupLevel, period: each, introductoryOffers: groupLevel === 1 ? [trial] : [] }, ...more,
});
const plans = [plan('plus.monthly', 'Plus Monthly', '$4.99', 1, period('MONTH'), { isFamilyShareable: true }), plan('plus.yearly', 'Plus Yearly', '$49.99', 1, period('YEAR')), plan('basic', 'Basic', '$1.99', 2, period('MONTH'))];
const song = { id: 'song', displayName: 'Cold Winter', description: 'A song for the fireplace.', displayPrice: '$0.99', type: 'PRODUCT_TYPE_NON_CONSUMABLE', price: { milliunits: '990', currency: 'USD' } };

/** A client with one state. */
class Fixed extends EventTarget {
  constructor(state) { super(); this.state = state; }
  retry() {}
  close() {}
  watch(method, request, listener) {
    const name = method.split('/').pop();
    queueMicrotask(() => {
      const { state } = this;
      if (state === 'loading') return listener({ loading: {} });
      if (state === 'failure') return listener({ failure: { reason: 'STOREKIT_NETWORK_ERROR', message: 'armed' } });
      const products = state === 'unavailable' ? [] : [song, ...plans].filter((each) => request.productIds?.includes(each.id));
      const transaction = ['purchased', 'unverified'].includes(state) ? { transaction: { id: '7', productId: request.productId ?? 'plus.monthly', expirationDateMs: '1900000000000' }, ...(state === 'unverified' ? { verificationError: 'VERIFICATION_ERROR_INVALID_SIGNATURE' } : {}) } : undefined;
      const values = { ProductsTask: { products }, CurrentEntitlementTask: { transaction }, SubscriptionStatusTask: { statuses: [] }, PurchaseIntents: {}, Messages: {} };
      return listener({ success: values[name] ?? {} });
    });
    return { close() {} };
  }
  updates() { return { close() {} }; }
  async call(method, request) {
    const name = method.split('/').pop();
    const { state } = this;
    if (name === 'ListPlanOptions') {
      if (state === 'loading') return new Promise(() => {});
      if (state === 'failure') throw Object.assign(new Error('armed'), { reason: 'STOREKIT_NETWORK_ERROR' });
      const held = state === 'purchased';
      return { options: state === 'unavailable' ? [] : plans.map((product, at) => ({ product, relation: held ? ['PLAN_RELATION_CURRENT', 'PLAN_RELATION_CROSSGRADE', 'PLAN_RELATION_DOWNGRADE'][at] : 'PLAN_RELATION_UNSPECIFIED', takesEffectAtRenewal: held && at > 0, ...(held || product.subscription.groupLevel > 1 ? {} : { offer: trial }) })) };
    }
    if (name === 'GetAppPolicies') return { showsDialogs: state === 'sheet', licenceAgreement: 'You may use it.', privacyPolicyText: 'We know your plan.' };
    if (name === 'Purchase' && state === 'pending') return { result: 'PURCHASE_RESULT_PENDING' };
    if (name === 'Purchase' && state === 'failed') throw Object.assign(new Error('PRODUCT_UNKNOWN: there is no product'), { reason: 'PURCHASE_NOT_ALLOWED', code: 'failed_precondition' });
    if (name === 'Purchase') return { result: 'PURCHASE_RESULT_SUCCESS', transaction: { transaction: { id: '7', productId: request.order.productId } } };
    if (name === 'GetProducts') return { success: { products: plans.filter((each) => request.productIds.includes(each.id)) } };
    return {};
  }
}

const icon = () => h('span', { slot: 'icon' }, '♪');
const elements = {
  'perch-product': () => [h('perch-product', { 'product-id': 'song' }, icon())], 'perch-product large': () => [h('perch-product', { 'product-id': 'song', 'product-style': 'large', 'product-icon-border': true }, icon())],
  'perch-product compact': () => [h('perch-product', { 'product-id': 'song', 'product-style': 'compact' }, icon())], 'perch-store': () => [h('perch-store', { 'product-ids': 'song plus.monthly', 'store-button': 'restore=visible redeem-code=visible sign-in=visible policies=visible cancellation=visible' })],
  ...Object.fromEntries(['picker', 'prominent-picker', 'compact-picker', 'buttons', 'paged-picker', 'paged-prominent-picker'].map((style) => [`perch-subscription-store ${style}`, () => [h('perch-subscription-store', { 'group-id': 'plus', 'control-style': style, 'store-button': 'policies=visible restore=visible' })]])),
  'perch-subscription-offer': () => [h('perch-subscription-offer', { 'group-id': 'plus', 'product-id': 'plus.monthly' }, icon())],
};
const states = ['ready', 'loading', 'unavailable', 'failure', 'purchased', 'pending', 'failed', 'offline', 'unverified', 'off'];

/** `?only=NAME` shows one element, for whoever styles it. */
const only = new URLSearchParams(location.search).get('only');

async function show() {
  document.documentElement.lang = document.getElementById('language').value;
  document.documentElement.dir = document.getElementById('direction').value;
  const place = document.getElementById('states');
  place.replaceChildren();
  for (const [name, make] of Object.entries(elements)) {
    if (only !== null && name !== only) continue;
    const shelf = h('div.shelf', {});
    place.append(h('h2', {}, name), shelf);
    for (const state of states) {
      const app = document.createElement('perch-app');
      app.client = new Fixed(state);
      app.setAttribute('account', 'alice');
      if (state === 'off') app.setAttribute('purchases', 'off');
      if (state === 'offline') app.setAttribute('data-offline', '');
      app.append(...make());
      shelf.append(h('section.panel', { 'aria-label': `${name}, ${state}`, 'data-state': state }, h('p.what', {}, state), app));
      // A purchase that waits, and one that failed, are begun as a customer does.
      if (state === 'pending' || state === 'failed') setTimeout(() => app.firstElementChild.shadowRoot?.querySelector('button.subscribe:enabled, button.buy:enabled')?.click(), 60);
    }
  }
}
for (const id of ['language', 'direction']) document.getElementById(id).onchange = show;
show();

// Failures and settings of the test store.
import { h, session, Page, ask, attempt, missing, rich, word } from './kit.js';

const apis = [
  ['LOAD_PRODUCTS', 'Load products'], ['PURCHASE', 'Purchase'], ['VERIFICATION', 'Verification'], ['APP_STORE_SYNC', 'Sync'], ['SUBSCRIPTION_STATUS', 'Subscription status'],
  ['CURRENT_ENTITLEMENT', 'Current entitlement'], ['APP_TRANSACTION', 'App transaction'], ['MANAGE_SUBSCRIPTIONS', 'Manage subscriptions'], ['REFUND_REQUEST', 'Refund request'], ['OFFER_CODE_REDEEM', 'Offer code redeem'],
];
const common = ['UNKNOWN', 'USER_CANCELLED', 'NETWORK_ERROR', 'SYSTEM_ERROR', 'NOT_AVAILABLE_IN_STOREFRONT', 'NOT_ENTITLED', 'UNSUPPORTED'];
const errors = {
  PURCHASE: [...common, 'INVALID_QUANTITY', 'PRODUCT_UNAVAILABLE', 'PURCHASE_NOT_ALLOWED', 'INELIGIBLE_FOR_OFFER', 'INVALID_OFFER_IDENTIFIER', 'INVALID_OFFER_PRICE', 'INVALID_OFFER_SIGNATURE', 'MISSING_OFFER_PARAMETERS'],
  VERIFICATION: ['INVALID_SIGNATURE', 'INVALID_CERTIFICATE_CHAIN', 'INVALID_DEVICE_VERIFICATION', 'INVALID_ENCODING', 'MISSING_REQUIRED_PROPERTIES', 'REVOKED_CERTIFICATE'],
  REFUND_REQUEST: ['DUPLICATE_REQUEST', 'FAILED'],
};
const switches = [
  ['dialogs', 'Dialogs', 'Purchases wait for the customer’s decision'], ['askToBuy', 'Ask to Buy', 'Purchases wait for approval'],
  ['interruptedPurchases', 'Interrupted purchases', 'Purchases are interrupted until resolved'], ['billingRetryOnRenewal', 'Billing retry on renewal', 'Renewals fail into billing retry'],
  ['gracePeriod', 'Grace period', 'A failed renewal keeps the customer entitled for a while'], ['gracePeriodForAllRenewals', 'Grace after a trial too', 'Also where the first charge fails'],
];

const mishaps = [
  ['LOSE', 'Notifications are lost'], ['DELAY', 'Notifications are delayed'], ['DOUBLE', 'Notifications are sent twice'], ['REORDER', 'Notifications come in reverse order'],
  ['RATE_LIMIT', 'Requests are answered 429'], ['ERROR', 'Requests are answered 500'], ['UNAVAILABLE', 'Requests are answered 503'],
];

/** Lets something go wrong with what comes next, where this server is the App Store of a backend. */
async function orderMishap() {
  const values = await ask('Order a mishap', [
    { name: 'kind', label: 'What goes wrong', options: mishaps }, { name: 'times', label: 'With how many, from the next one on', type: 'number', value: '1', props: { min: 1, required: true } },
    { name: 'hours', label: 'Delay in hours', type: 'number', value: '5', props: { min: 0.01, step: 'any' }, isMore: true }, { name: 'path', label: 'Requests whose path begins so', hint: '/inApps/v2/history', isMore: true }], { submit: 'Order' });
  if (!values) return;
  const { kind, times, hours, path } = values;
  const request = { kind: `MISHAP_KIND_${kind}`, times: Number(times), ...(kind === 'DELAY' ? { delayMs: String(Math.round(hours * 3_600_000)) } : {}), ...('RATE_LIMIT ERROR UNAVAILABLE'.includes(kind) && path ? { path } : {}) };
  await attempt(() => session.perch.call('TestStoreService/OrderMishap', request), ({ waiting }) => `Ordered: ${waiting} wait`);
}

/** What the settings of the app change for every customer, in words. */
export function oddities(settings) {
  const said = { dialogs: 'purchases wait for the customer’s decision', askToBuy: 'purchases wait for approval', interruptedPurchases: 'purchases are interrupted', billingRetryOnRenewal: 'renewals fail' };
  return settings.flatMap((each) => {
    if (each.simulatedError) return `“${apis.find(([name]) => each.simulatedError.api.endsWith(`API_${name}`))?.[1]}” fails with ${word(each.simulatedError.error)}`;
    return Object.entries(said).filter(([name]) => each[name]).map(([, text]) => text);
  });
}

class SettingsPage extends Page {
  open() {
    this.append(h('h1', {}, 'Failures and settings'), h('p.what', {}, 'What makes the test store behave badly, and how its purchases go. Each change is one revision.'));
    if (!session.isTest || !session.allows('test')) return this.append(missing('Only test apps have these settings, and the scope `test` changes them.'));
    this.place = h('div');
    this.append(this.place);
    this.#build();
    this.#read();
    this.on(session.perch, 'change', () => this.#read());
    this.on(session, 'heard', ({ detail }) => { if (!detail) this.#read(); });
  }

  #configure(setting, said) { return attempt(() => session.perch.call('TestStoreService/Configure', { settings: [setting] }), said).then(() => this.#read()); }

  #build() {
    this.inputs = {};
    const toggles = switches.map(([name, label, hint]) => {
      const box = h('input', { type: 'checkbox', onchange: () => this.#configure({ [name]: box.checked }, `${label}: ${box.checked ? 'on' : 'off'}`) });
      this.inputs[name] = box;
      return h('div', {}, h('label.check', {}, box, h('b', {}, label)), h('div.what', {}, hint));
    });
    const grace = h('select', { onchange: () => this.#configure({ gracePeriodDays: Number(grace.value) }, `Grace period: ${grace.value} days`) }, ['3', '16', '28'].map((days) => h('option', { value: days }, `${days} days`)));
    const storefront = h('input', { maxlength: 3, size: 5, onchange: () => this.#configure({ storefront: storefront.value.toUpperCase() }, `Storefront: ${storefront.value.toUpperCase()}`) });
    const locale = h('input', { size: 8, onchange: () => this.#configure({ locale: locale.value }, `Locale: ${locale.value}`) });
    Object.assign(this.inputs, { gracePeriodDays: grace, storefront, locale });
    const failures = apis.map(([name, label]) => {
      const select = h('select', { 'aria-label': `Error of ${label}` }, (errors[name] ?? common).map((error) => h('option', { value: `STORE_KIT_ERROR_${error}` }, error.toLowerCase().replace(/_/g, ' '))));
      const button = h('button', { onclick: () => this.#arm(name, label, select.value) }, 'Arm');
      const badge = h('span.badge', {}, 'works');
      this.inputs[name] = { select, button, badge, label };
      return h('tr', {}, h('th', { scope: 'row' }, label), h('td', {}, badge), h('td', {}, select), h('td', {}, button));
    });
    this.place.append(h('div.cols', {},
      h('section.card', { 'aria-label': 'Failures' }, h('h2', {}, 'Failures'), h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Failures' }, h('table.wide.stack.mid', {}, h('tbody', {}, failures))),
        h('div.bar', {}, h('button', { onclick: () => this.#configure({ reset: true }, 'Settings are those of the catalogue file, and nothing is armed') }, 'Reset all to the file'))),
      h('section.card', { 'aria-label': 'Settings' }, h('h2', {}, 'Settings'), toggles,
        h('div.bar', {}, h('label.field', {}, 'Length of grace', grace), h('label.field', {}, 'Storefront', storefront), h('label.field', {}, 'Locale', locale)),
        h('h2', {}, 'Mishaps'), h('p.what', {}, rich('Between this test App Store and your backend, where `perch serve` has `--twin-listen`.')), h('div.bar', {}, h('button', { onclick: orderMishap }, 'Order a mishap…')),
        h('p.what', {}, 'The time rate is on the page ', h('a', { href: '#/clock' }, 'Clock'), '.'))));
  }

  #arm(name, label, error) {
    const isArmed = this.armed?.has(name);
    return this.#configure({ simulatedError: { api: `STORE_KIT_API_${name}`, error: isArmed ? 'STORE_KIT_ERROR_UNSPECIFIED' : error } }, isArmed ? `${label} works again` : `${label} fails from now on`);
  }

  async #read() {
    let settings;
    try { ({ settings = [] } = await session.perch.call('TestStoreService/GetSettings')); } catch { return; }
    if (this.ended) return;
    this.armed = new Map();
    const values = {};
    for (const each of settings) {
      if (each.simulatedError) this.armed.set(each.simulatedError.api.replace('STORE_KIT_API_', ''), each.simulatedError.error);
      else Object.assign(values, each);
    }
    for (const [name] of switches) this.inputs[name].checked = !!values[name];
    for (const name of ['gracePeriodDays', 'storefront', 'locale']) if (document.activeElement !== this.inputs[name] && values[name] !== undefined) this.inputs[name].value = String(values[name]);
    for (const [name] of apis) {
      const { select, button, badge, label } = this.inputs[name];
      const error = this.armed.get(name);
      badge.className = 'badge ' + (error ? 'bad' : 'good');
      badge.textContent = error ? word(error) : 'works';
      button.textContent = error ? 'Disarm' : 'Arm';
      button.setAttribute('aria-label', `${error ? 'Disarm' : 'Arm'} ${label}`);
      if (error) select.value = error;
      select.disabled = !!error;
    }
  }
}

customElements.define('perch-settings-page', SettingsPage);

// What was done in the console, as a scenario to play again: proto/scenario/README.md.
import { h, session, Page, number, missing, word, toast, rich } from './kit.js';

const words = (text) => (/^[\w.+@-]+$/.test(text) ? text : `"${text.replace(/"/g, '')}"`);
const price = (milliunits) => (number(milliunits) / 1000).toFixed(2);
const offer = (each) => (each ? ` with ${{ OFFER_TYPE_PROMOTIONAL: 'promotional', OFFER_TYPE_CODE: 'code', OFFER_TYPE_WIN_BACK: 'win-back' }[each.type]} ${words(each.id)}` : '');
const api = (name) => word(name);
/** The name of a duration as the scenario writes it: one unit. */
const duration = (ms) => { for (const [unit, size] of [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1000]]) if (ms % size === 0) return ms / size + unit; return `${Math.round(ms)}ms`; };

/** Turns changes into lines of a scenario. */
export class Recorder extends EventTarget {
  constructor() {
    super();
    this.clear();
  }

  clear() {
    this.lines = [];
    this.names = new Map();
    this.accounts = new Set();
    this.isOn = false;
    this.dispatchEvent(new Event('line'));
  }

  start() {
    this.clear();
    this.isOn = true;
    this.startMs = session.now();
    this.at = this.startMs;
  }
  stop() { this.isOn = false; this.dispatchEvent(new Event('line')); }

  listen(perch) {
    perch.addEventListener('change', ({ detail }) => {
      if (!this.isOn) return;
      const line = this.line(detail);
      if (!line) return;
      if (!detail.method.endsWith('/SetClock')) this.#passed(number(detail.response.position?.asOfMs) || session.now());
      this.lines.push(line);
      this.dispatchEvent(new Event('line'));
    });
  }

  /** Time that passed by itself is a line of its own. */
  #passed(now) {
    if (now - this.at < 1) return;
    this.lines.push(`+${duration(now - this.at)}`);
    this.at = now;
  }

  /** A name for a new transaction, behind its step. */
  #named(response) {
    const id = response.transaction?.transaction?.id;
    if (response.transaction === undefined || this.names.has(id ?? '0')) return '';
    const name = `T${this.names.size + 1}`;
    this.names.set(id ?? '0', name);
    return ` as ${name}`;
  }

  #what(target) {
    if (target?.productId) return words(target.productId);
    return this.names.get(target?.transactionId ?? '0') ?? `transaction ${target?.transactionId ?? 0}`;
  }

  #order(order) {
    let text = (order.quantity ?? 1) > 1 ? `buy ${order.quantity} ${words(order.productId)}` : `buy ${words(order.productId)}`;
    text += offer(order.offer);
    if (order.introductoryEligibility === 'INTRODUCTORY_ELIGIBILITY_ALLOWED') text += ' with trial';
    if (order.introductoryEligibility === 'INTRODUCTORY_ELIGIBILITY_DENIED') text += ' without trial';
    if (order.billingPlan === 'BILLING_PLAN_TYPE_MONTHLY') text += ' billed monthly';
    if (order.appAccountToken) text += ` token ${order.appAccountToken}`;
    if (order.purchaseDateMs) text += ` dated ${new Date(number(order.purchaseDateMs)).toISOString()}`;
    if (order.simulatesAskToBuy) text += ' asking to buy';
    return text;
  }

  /** The line of one change; empty for what a scenario does not say. */
  line({ method, request, response }) {
    const step = this.#step(method.split('/')[1], request, response);
    if (!step) return '';
    const isApp = ['Configure', 'SetClock', 'LoadCatalog'].some((each) => method.endsWith(each));
    if (isApp || !request.account) return step;
    this.accounts.add(request.account);
    return `${words(request.account)}: ${step}`;
  }

  #step(name, request, response) {
    switch (name) {
      case 'Purchase': return this.#order(request.order) + this.#named(response);
      case 'Finish': return `finish ${this.#what(request)}`;
      case 'Sync': return 'restore';
      case 'RequestRefund': return `request refund of ${this.#what(request)}${request.text ? ` saying ${words(request.text)}` : ''}`;
      case 'RedeemOfferCode': return `redeem ${words(request.code)}${request.productId ? ` for ${words(request.productId)}` : ''}${this.#named(response)}`;
      case 'ManageSubscriptions': return `manage ${words(request.productId)} auto-renew ${request.autoRenew ? 'on' : 'off'}`;
      case 'Operate': return this.#operation(request.operation, response);
      case 'Configure': return (request.settings ?? []).map((each) => this.#setting(each)).filter(Boolean).join('\n');
      case 'SetClock': return this.#clock(request, response);
      default: return name === 'LoadCatalog' ? `# a catalogue was loaded: ${request.source ?? ''}` : '';
    }
  }

  #operation(operation, response) {
    const [[name, each]] = Object.entries(operation);
    const what = each.target ? this.#what(each.target) : '';
    const steps = {
      buy: () => `${this.#order(each)} outside the app`, refund: () => `refund ${what}${each.reason === 'REVOCATION_REASON_DEVELOPER_ISSUE' ? ' because developer issue' : ''}${each.percentageMilli ? ` ${each.percentageMilli / 1000}%` : ''}`,
      reverseRefund: () => `reverse refund of ${what}`, declineRefund: () => `decline refund of ${what}`, requestConsumption: () => `request consumption of ${what}`,
      renew: () => `renew ${what}`, expire: () => `expire ${what}`, setAutoRenew: () => `auto-renew ${each.enabled ? 'on' : 'off'} ${what}`, resolveBilling: () => `resolve billing ${what}`,
      setCharges: () => ({ CHARGE_OUTCOME_FAIL: 'fail renewals', CHARGE_OUTCOME_SUCCEED: 'charges succeed' })[each.outcome] ?? 'charges as set',
      raisePrice: () => `raise price of ${what} to ${price(each.priceMilliunits)}${{ PRICE_CONSENT_NEEDED: ' with consent', PRICE_CONSENT_NOT_NEEDED: ' without consent' }[each.consent] ?? ''}`,
      answerPriceIncrease: () => (each.agrees ? `consent ${what}` : `decline price increase ${what}`), extendRenewal: () => `extend ${what} by ${duration(number(each.byMs))}`,
      share: () => { this.accounts.add(each.member); return `share ${what} with ${words(each.member)}`; }, stopSharing: () => `stop sharing${each.target ? ` ${what}` : ''}${each.member ? ` with ${words(each.member)}` : ''}`,
      decidePurchase: () => `${each.approves ? 'approve' : 'decline'} transaction ${each.number}`, deleteTransaction: () => `delete ${this.#what(each)}`, clearTransactions: () => 'clear transactions',
      createIntent: () => `intent ${words(each.productId)}${offer(each.offer)}`, endIntent: () => 'dismiss intent', setStorefront: () => `storefront ${each.storefront || 'none'}`, postMessage: () => 'post message',
    };
    const isNew = ['buy', 'renew', 'resolveBilling', 'decidePurchase'].includes(name);
    return (steps[name]?.() ?? '') + (isNew ? this.#named(response) : '');
  }

  #setting(setting) {
    const [[name, value]] = Object.entries(setting);
    const onOff = value ? 'on' : 'off';
    switch (name) {
      case 'askToBuy': return `ask to buy ${onOff}`;
      case 'interruptedPurchases': return `interrupted purchases ${onOff}`;
      case 'billingRetryOnRenewal': return `billing retry ${onOff}`;
      case 'gracePeriod': return `grace period ${onOff}`;
      case 'gracePeriodDays': return `grace period ${value} days`;
      case 'gracePeriodForAllRenewals': return `grace period ${value ? 'for all renewals' : 'for paid renewals only'}`;
      case 'dialogs': return `dialogs ${onOff}`;
      case 'timeRate': return `time rate ${value}`;
      case 'storefront': return `storefront ${value}`;
      case 'locale': return `locale ${value}`;
      case 'reset': return 'reset settings';
      case 'simulatedError': return value.error && !value.error.endsWith('UNSPECIFIED') ? `fail ${api(value.api)} with ${api(value.error)}` : `disarm ${api(value.api)}`;
      case 'product': return [
        value.priceMilliunits && `price of ${words(value.productId)} ${price(value.priceMilliunits)}`, value.displayName && `rename ${words(value.productId)} "${value.displayName}"`,
        value.withdrawn !== undefined && `${value.withdrawn ? 'withdraw' : 'reinstate'} ${words(value.productId)}`, value.familyShareable !== undefined && `edit ${words(value.productId)} shareable ${value.familyShareable ? 'on' : 'off'}`,
      ].filter(Boolean).join('\n');
      default: return '';
    }
  }

  #clock(request, response) {
    const now = number(response.clock?.nowMs);
    const before = this.at;
    this.at = now;
    if (request.freeze) return '# the clock was frozen';
    if (request.resume) return '# the clock ran';
    if (request.advanceToBoundary) return `to next boundary of ${words(request.advanceToBoundary.account)}`;
    return now > before ? `+${duration(now - before)}` : '';
  }

  /** The whole file. */
  text() {
    const head = ['# Recorded in the console of Perch.', `start ${new Date(this.startMs ?? session.now()).toISOString()}`, 'catalog Catalogue.storekit'];
    if (this.accounts.size) head.push(`accounts ${[...this.accounts].map(words).join(', ')}`);
    return [...head, '', ...this.lines, ''].join('\n');
  }
}

export const recorder = new Recorder();

class RecordPage extends Page {
  open() {
    this.append(h('h1', {}, 'Record'), h('p.what', {}, rich('What you do in the console becomes a scenario: `perch scenario run` plays it again, and you add what you expect.')));
    if (!session.isTest) return this.append(missing('Only test apps have scenarios.'));
    this.button = h('button.primary', { onclick: () => { if (recorder.isOn) recorder.stop(); else recorder.start(); this.#show(); } });
    this.save = h('button', { onclick: () => this.#download('recorded.scenario', recorder.text()) }, 'Download');
    this.state = h('span.badge', { role: 'status' });
    this.file = h('pre', { tabindex: '0', 'aria-label': 'The scenario' });
    this.append(h('div.bar.mid', {}, this.button, this.save, h('button', { onclick: () => { recorder.clear(); this.#show(); } }, 'Clear'), this.state), this.file,
      h('p.what', {}, 'Beside it the scenario needs the app’s catalogue as Catalogue.storekit: name the file that the server reads.'));
    this.on(recorder, 'line', () => this.#show());
    this.#show();
  }

  #show() {
    this.button.textContent = recorder.isOn ? 'Stop' : 'Record';
    this.state.className = 'badge ' + (recorder.isOn ? 'bad' : '');
    this.state.textContent = recorder.isOn ? `recording, ${recorder.lines.length} steps` : `${recorder.lines.length} steps`;
    this.save.disabled = recorder.lines.length === 0;
    this.file.textContent = recorder.isOn || recorder.lines.length ? recorder.text() : 'Nothing is recorded. Press Record, then buy, refund or move the clock on the other pages.';
  }

  #download(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    const link = h('a', { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    toast(`${name} is downloaded`);
  }
}

customElements.define('perch-record-page', RecordPage);

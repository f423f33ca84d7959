// What was done in the console, as a scenario to play again: proto/scenario/README.md.
import { h, session, Page, number, missing, word, toast, rich, attempt, copyable, isShared, accountLink } from './kit.js';
import { advance } from './clock.js';

/** A name as it stands, or in quotes, where a quote is doubled. One of letters and hyphens alone may be a keyword of scenarios. */
const words = (text) => (/^[a-z][\w.+@-]*[\d.+@_][\w.+@-]*$/i.test(text) ? text : `"${text.replace(/"/g, '""')}"`);
/** Four years, in which the calendar repeats itself. */
const calendarMs = 1461 * 86_400_000;
const price = (milliunits) => (number(milliunits) / 1000).toFixed(2);
const offer = (each) => (each ? ` with ${{ OFFER_TYPE_PROMOTIONAL: 'promotional', OFFER_TYPE_CODE: 'code', OFFER_TYPE_WIN_BACK: 'win-back' }[each.type]} ${words(each.id)}` : '');
const api = (name) => word(name);
/** The name of a duration as the scenario writes it: one unit. */
const duration = (ms) => { for (const [unit, size] of [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1000]]) if (ms % size === 0) return ms / size + unit; return `${Math.round(ms)}ms`; };

/** How many notifications go wrong, or how a request is answered. */
function mishap({ kind, times = 1, delayMs, path }) {
  const name = kind.replace('MISHAP_KIND_', '');
  const status = { RATE_LIMIT: 429, ERROR: 500, UNAVAILABLE: 503 }[name];
  if (status) return `answer ${status} ${times} times${path ? ` to "${path}"` : ''}`;
  return `${name.toLowerCase()} the next ${times} notifications${delayMs ? ` by ${duration(number(delayMs))}` : ''}`;
}

/** What is kept over a reload of the window. */
const keptAs = 'perch-recording';
const empty = () => ({ isOn: false, name: '', app: null, startMs: 0, at: 0, catalogue: '', settings: [], head: [], opening: [], before: [], lines: [], steps: [], names: [], accounts: [], touched: [], leftOut: [], problems: [], end: null, hasGrace: false });
/** The states of subscriptions in scenarios. */
const stateWords = { SUBSCRIBED: 'subscribed', EXPIRED: 'expired', IN_BILLING_RETRY_PERIOD: 'in billing retry', IN_GRACE_PERIOD: 'in grace', REVOKED: 'revoked' };
/** So many customers that were there before are recorded without being touched. */
const customersMax = 20;
/** What would disturb purchases of the past holds from the beginning of the recording on, and everything else from the first purchase on. */
const holdsLater = /^(askToBuy|interruptedPurchases|dialogs|billingRetryOnRenewal|simulatedError|product)$/;
const idOf = (t) => t?.id ?? '0';
const isRenewal = (t) => t.reason === 'TRANSACTION_REASON_RENEWAL';

/** A file of Xcode with the products of the app. */
async function catalogueFile() {
  const file = { identifier: 'recorded', nonRenewingSubscriptions: [], products: [], settings: {}, subscriptionGroups: [], version: { major: 4, minor: 0 } };
  for (const { jsonRepresentation, subscription } of (await session.catalogue()).products) {
    const product = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(jsonRepresentation), (each) => each.charCodeAt(0))));
    let list = file[product.type === 'NonRenewingSubscription' ? 'nonRenewingSubscriptions' : 'products'];
    if (subscription) {
      const { groupId: id, groupDisplayName } = subscription;
      let group = file.subscriptionGroups.find((each) => each.id === id);
      if (!group) file.subscriptionGroups.push((group = { id, localizations: [], name: groupDisplayName || id, subscriptions: [] }));
      list = group.subscriptions;
    }
    list.push(product);
  }
  return JSON.stringify(file, null, 1);
}

const linesOf = ({ groups = [] }) => groups.flatMap(({ statuses }) => statuses?.statuses ?? []).map(({ state, transaction, renewalInfo }) => ({ state, held: transaction?.transaction ?? {}, info: renewalInfo?.renewalInfo ?? {} }));
const isFailing = ({ state, info }) => /GRACE|RETRY/.test(state) || info.expirationReason === 'EXPIRATION_REASON_BILLING_ERROR';

/** Whether steps can tell how a customer came to what they have: not a longer period, a family, a move, a charge that was made up for, or what waits. */
function canBeTold(inspection, history) {
  const { pendingPurchases = [], purchaseIntents = [], shares = [], awaitingSync = [] } = inspection;
  const [lines, kinds] = [linesOf(inspection), history.map(({ kind }) => kind.replace('HISTORY_KIND_', ''))];
  return !(pendingPurchases.length || purchaseIntents.length || shares.length || awaitingSync.length || kinds.some((each) => /EXTENSION|SHARING|MOVE/.test(each)) || kinds.includes('FAILURE') && !lines.some(isFailing)
    // Nobody can read which price waits for an answer.
    || lines.some(({ held, info }) => isShared(held) || /PENDING/.test(info.priceIncreaseStatus)));
}

/** How a customer came to what they have, as calls with their instants. What it leaves out shows when the recording is played. */
function pastOf(account, startMs, transactions, unfinished, inspection) {
  const { charges = '', storefront, paymentsForbidden } = inspection;
  const calls = [];
  const call = (at, method, request, also) => calls.push({ at, method, request: { account, ...request }, found: [], ...also });
  const operate = (at, operation, also) => call(at, 'TestStoreService/Operate', { operation }, also);
  const own = transactions.filter((t) => !isShared(t) && number(t.purchaseDateMs) <= startMs);
  if (storefront && own.length) operate(number(own[0].purchaseDateMs), { setStorefront: { storefront } });
  for (const t of own) {
    const [id, at, target] = [idOf(t), number(t.purchaseDateMs), { transactionId: idOf(t) }];
    const order = { productId: t.productId };
    if (number(t.purchasedQuantity) > 1) order.quantity = number(t.purchasedQuantity);
    if (t.appAccountToken) order.appAccountToken = t.appAccountToken;
    if (t.offer?.id) order.offer = { type: t.offer.type, id: t.offer.id };
    if (t.productType === 'PRODUCT_TYPE_AUTO_RENEWABLE') order.introductoryEligibility = `INTRODUCTORY_ELIGIBILITY_${t.offer?.type === 'OFFER_TYPE_INTRODUCTORY' ? 'ALLOWED' : 'DENIED'}`;
    if (!isRenewal(t)) {
      call(at, 'TransactionService/Purchase', { order }, { made: id });
      if (!unfinished.has(id)) call(at, 'TransactionService/Finish', target);
    }
    const { dateMs, reason, type, percentageMilli } = t.revocation ?? {};
    const nth = own.filter((each) => isRenewal(each) && each.productId === t.productId).indexOf(t) + 1;
    if (dateMs && number(dateMs) <= startMs) operate(number(dateMs), { refund: { target, reason, type, ...(type?.endsWith('PRORATED') ? { percentageMilli } : {}) } }, { found: nth ? [{ account, id, productId: t.productId, nth }] : [] });
  }
  let hasFailed = false;
  for (const line of linesOf(inspection)) {
    const { held, info } = line;
    const last = own.findLast((t) => (t.originalId ?? idOf(t)) === (held.originalId ?? idOf(held)));
    if (!last || isShared(held)) continue;
    const [at, target] = [number(last.purchaseDateMs), { productId: last.productId }];
    if (isFailing(line)) { operate(at, { setCharges: { outcome: 'CHARGE_OUTCOME_FAIL' } }); hasFailed = true; }
    else if (!info.willAutoRenew && !held.revocation) operate(at, { setAutoRenew: { target, enabled: false } });
    if (info.autoRenewPreference && info.autoRenewPreference !== last.productId) call(startMs, 'TransactionService/Purchase', { order: { productId: info.autoRenewPreference } });
    if (/AGREED/.test(info.priceIncreaseStatus)) {
      operate(startMs, { raisePrice: { target, priceMilliunits: info.renewalPrice?.milliunits, consent: 'PRICE_CONSENT_NEEDED' } });
      operate(startMs, { answerPriceIncrease: { target, agrees: true } });
    }
  }
  const set = charges.endsWith('UNSPECIFIED') ? '' : charges;
  if (own.length && set !== (hasFailed ? 'CHARGE_OUTCOME_FAIL' : '')) operate(startMs, { setCharges: { outcome: set || 'CHARGE_OUTCOME_UNSPECIFIED' } });
  if (own.length && paymentsForbidden) operate(startMs, { setPayments: { allowed: false } });
  return calls;
}

/** Turns changes into lines of a scenario, and keeps them as calls to play again. */
export class Recorder extends EventTarget {
  constructor() {
    super();
    try { this.#take(JSON.parse(sessionStorage.getItem(keptAs)) ?? empty()); } catch { this.#take(empty()); }
  }
  #take(kept) {
    Object.assign(this, kept, { names: new Map(kept.names), accounts: new Map(kept.accounts), found: [] });
  }
  #keep() {
    const kept = Object.fromEntries(Object.keys(empty()).map((name) => [name, this[name]]));
    try { sessionStorage.setItem(keptAs, JSON.stringify({ ...kept, names: [...this.names], accounts: [...this.accounts] })); } catch { /* in memory alone */ }
    this.dispatchEvent(new Event('line'));
  }

  clear() {
    this.#take(empty());
    this.#keep();
  }

  /** A call about the app of the recording, whichever is chosen now. */
  #call(method, request = {}) { return session.perch.call(method, { ...(this.app ? { app: this.app } : {}), ...request }); }
  #isAbout({ app = session.perch.app }) { return this.isOn && app?.bundleId === this.app?.bundleId && app?.environment === this.app?.environment; }

  /** Changes that this window makes meanwhile wait until it has begun. */
  start() { return (this.starting = this.#start().finally(() => { this.starting = null; })); }
  async #start() {
    this.#take(empty());
    this.app = session.perch.app;
    // By the reader's clock, so that no download takes the name of another one.
    this.name = `recorded-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}.scenario`;
    const [{ clock }, { settings = [] }, { accounts = [], nextPageToken }, catalogue] = await Promise.all([this.#call('TestStoreService/GetClock'), this.#call('TestStoreService/GetSettings'), this.#call('TestStoreService/ListAccounts', { pageSize: customersMax }),
      catalogueFile().catch((error) => { this.problems.push(`its catalogue was not shown: ${error.message}`); return ''; })]);
    this.startMs = this.at = number(clock.nowMs);
    // What is set already holds from the beginning.
    Object.assign(this, { settings, catalogue, hasGrace: settings.some((each) => each.gracePeriod) });
    [this.head, this.opening] = [false, true].map((isLater) => this.#settings(isLater).map((each) => this.#setting(each)).filter(Boolean));
    for (const account of accounts) await this.#remember(account, true);
    if (nextPageToken) this.leftOut.push('customers beyond the first 20 that nobody touched');
    this.isOn = true;
    this.#keep();
  }

  /** Adds how a customer came to what they have, before the recording changes it. */
  async #remember(account, ifBought = false) {
    const [transactions, unfinished, inspection, { history = [] }] = await Promise.all([this.#history(account), this.#call('TransactionService/ListUnfinished', { account, pageSize: 500 }).catch(() => ({})), this.#call('TestStoreService/InspectAccount', { account }).catch(() => ({})), this.#call('EntitlementService/Explain', { account, withHistory: true }).catch(() => ({}))]);
    if (ifBought && !transactions.length) return;
    if (!canBeTold(inspection, history)) {
      if (ifBought) return void this.leftOut.push(account);
      this.problems.push(`no steps tell how ${account} came to what they have`);
    }
    this.#label(account);
    const calls = pastOf(account, this.startMs, transactions, new Set((unfinished.transactions ?? []).map((each) => idOf(each.transaction))), inspection);
    for (const each of calls.toSorted((a, b) => a.at - b.at)) {
      for (const found of each.found) found.line = `${this.#label(account)}: call renewal ${found.nth} of ${words(found.productId)} as ${this.#name(found.id)}`;
      const line = this.line({ ...each, response: each.made ? { transaction: { transaction: { id: each.made } } } : {} });
      this.before.push({ ...each, lines: [...each.found.map((found) => found.line), line] });
    }
    this.before.sort((a, b) => a.at - b.at);
  }
  async #history(account) {
    const all = [];
    for (let pageToken = ''; ;) {
      const answer = await this.#call('TransactionService/ListTransactions', { account, includeFinishedConsumables: true, pageSize: 500, ...(pageToken ? { pageToken } : {}) });
      all.push(...(answer.transactions ?? []).map(({ transaction }) => transaction));
      if (!(pageToken = answer.nextPageToken)) return all;
    }
  }

  /** Ends the recording with what every customer has, and plays it. Who was not touched and cannot be told by steps is left out. */
  async stop() {
    const { clock } = await this.#call('TestStoreService/GetClock');
    const end = await Promise.all([...this.accounts.keys()].map((account) => state(account, this.startMs, this.app)));
    this.#passed(number(clock.nowMs));
    [this.isOn, this.end] = [false, end];
    this.#keep();
  }
  /** True: somebody is left out. */
  leaveOut(accounts) {
    const out = accounts.filter((each) => !this.touched.includes(each));
    for (const each of out) this.accounts.delete(each);
    this.before = this.before.filter(({ request }) => !out.includes(request.account));
    this.end = this.end.filter(({ account }) => !out.includes(account));
    this.leftOut.push(...out);
    this.#keep();
    return out.length > 0;
  }

  listen(perch) {
    perch.before = async (method, request) => {
      if (/\/(Get|List|Explain|Inspect|Find|Export)/.test(method)) return;
      await this.starting;
      if (this.#isAbout(request)) await this.#prepare(request);
    };
    perch.addEventListener('change', ({ detail }) => {
      if (!this.#isAbout(detail.request)) return;
      const said = this.line(detail);
      const found = this.found;
      this.found = [];
      if (!said) return this.#keep();
      const isClock = detail.method.endsWith('/SetClock');
      // No backend hears of the app in which a recording is played.
      const isPlayed = !isClock && !detail.method.endsWith('/OrderMishap');
      const now = isClock ? number(detail.response.clock?.nowMs) : number(detail.response.position?.asOfMs) || session.now();
      this.#passed(now);
      if (!isClock) this.lines.push(...found.filter((each) => each.line).map((each) => each.line), said);
      const { app, idempotencyKey, atLeast, ...request } = detail.request;
      this.steps.push({ method: detail.method, request: isPlayed ? request : null, at: now, found, made: detail.response.transaction?.transaction?.id });
      this.#keep();
    });
  }

  /** Time that passed is a line of its own. */
  #passed(now) {
    if (now - this.at < 1) return;
    this.lines.push(`+${duration(now - this.at)}`);
    this.at = now;
  }

  /** What a change will be about, before it happens: a number that the recording has not made becomes what it is, such as the second renewal of a product. */
  async #prepare({ account, transactionId, operation = {}, advanceToBoundary }) {
    account ??= advanceToBoundary?.account;
    if (!account) return;
    this.found = [];
    const [[kind, each] = []] = Object.entries(operation);
    const read = (method, request) => this.#call(method, { account, ...request });
    for (const of of [account, each?.member].filter(Boolean)) {
      if (!this.touched.includes(of)) this.touched.push(of);
      if (!this.accounts.has(of)) await this.#remember(of);
    }
    const id = transactionId ?? each?.target?.transactionId ?? (kind === 'deleteTransaction' ? each.transactionId : undefined);
    if (id !== undefined && !this.names.has(id)) {
      const all = await this.#history(account);
      const it = all.find((t) => (t.id ?? '0') === id);
      const same = all.filter((t) => t.productId === it?.productId);
      const renewals = same.filter((t) => t.reason === 'TRANSACTION_REASON_RENEWAL');
      if (!it) return;
      const nth = renewals.indexOf(it) + 1;
      const what = nth ? `renewal ${nth} of` : same[0] === it ? 'first' : 'latest';
      if (!nth && same[0] !== it && same.at(-1) !== it) this.problems.push(`transaction ${id} has no name in a scenario`);
      const named = this.#name(id);
      this.found.push({ line: `${this.#label(account)}: call ${what} ${words(it.productId)} as ${named}`, account, id, productId: it.productId, nth, isFirst: same[0] === it });
    }
    if (kind === 'decidePurchase' || kind === 'endIntent') {
      const { pendingPurchases = [], purchaseIntents = [] } = await read('TestStoreService/InspectAccount');
      const list = kind === 'endIntent' ? purchaseIntents : pendingPurchases;
      const product = (waiting) => waiting.productId ?? waiting.order?.productId;
      const it = list.find((waiting) => waiting.number === each.number);
      // What waits no longer is refused by the server.
      if (!it) return;
      const nth = list.filter((waiting) => product(waiting) === product(it)).indexOf(it) + 1;
      this.waits = nth === 1 ? words(product(it)) : `number ${nth} of ${words(product(it))}`;
      this.found.push({ account, number: each.number, productId: product(it), nth, isIntent: kind === 'endIntent' });
    }
  }

  #name(id) {
    const name = `T${this.names.size + 1}`;
    this.names.set(id, name);
    return name;
  }
  /** How a scenario writes an account: a line has no line breaks. */
  #label(account) {
    if (!this.accounts.has(account)) {
      const plain = account.replace(/\s+/g, ' ');
      this.accounts.set(account, [...this.accounts.values()].includes(words(plain)) ? words(`${plain} ${this.accounts.size + 1}`) : words(plain));
    }
    return this.accounts.get(account);
  }

  /** A name for a new transaction, behind its step. */
  #named(response) {
    const id = response.transaction?.transaction?.id;
    if (response.transaction === undefined || this.names.has(id ?? '0')) return '';
    return ` as ${this.#name(id ?? '0')}`;
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
    if (!step) {
      this.problems.push(`a scenario cannot say ${method.split('/')[1]}`);
      return '';
    }
    const isApp = ['Configure', 'SetClock', 'LoadCatalog', 'OrderMishap'].some((each) => method.endsWith(each));
    if (isApp || !request.account) return step;
    return `${this.#label(request.account)}: ${step}`;
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
      case 'OrderMishap': return mishap(request);
      case 'SetClock': return 'clock';
      default: return '';
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
      share: () => `share ${what} with ${this.#label(each.member)}`, stopSharing: () => `stop sharing${each.target ? ` ${what}` : ''}${each.member ? ` with ${this.#label(each.member)}` : ''}`,
      decidePurchase: () => `${each.approves ? 'approve' : 'decline'} ${this.waits ?? ''}`, setPayments: () => `payments ${each.allowed ? 'on' : 'off'}`, deleteTransaction: () => `delete ${this.#what(each)}`, clearTransactions: () => 'clear transactions',
      createIntent: () => `intent ${words(each.productId)}${offer(each.offer)}`, endIntent: () => `dismiss intent ${this.waits ?? ''}`, setStorefront: () => `storefront ${each.storefront || 'none'}`, postMessage: () => 'post message',
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
      case 'gracePeriod': this.hasGrace = value; return `grace period ${onOff}`;
      // A length alone would switch it on.
      case 'gracePeriodDays': return `grace period ${value} days ${this.hasGrace ? 'on' : 'off'}`;
      case 'gracePeriodForAllRenewals': return `grace period ${value ? 'for all renewals' : 'for paid renewals only'}`;
      case 'dialogs': return `dialogs ${onOff}`;
      case 'timeRate': return `time rate ${value}`;
      case 'storefront': return `storefront ${value}`;
      case 'locale': return `locale ${value}`;
      case 'reset': return 'reset settings';
      case 'simulatedError': return value.error && !value.error.endsWith('UNSPECIFIED') ? `fail ${api(value.api)} with ${api(value.error)}` : `disarm ${api(value.api)}`;
      case 'product': return [
        value.priceMilliunits && `price of ${words(value.productId)} ${price(value.priceMilliunits)}`, value.displayName && `rename ${words(value.productId)} "${value.displayName.replace(/"/g, '""')}"`,
        value.withdrawn !== undefined && `${value.withdrawn ? 'withdraw' : 'reinstate'} ${words(value.productId)}`, value.familyShareable !== undefined && `edit ${words(value.productId)} shareable ${value.familyShareable ? 'on' : 'off'}`,
      ].filter(Boolean).join('\n');
      default: return '';
    }
  }

  /** The instant at which the file begins: the first purchase of a customer who was there before. */
  get #beginMs() { return this.before[0]?.at ?? this.startMs; }
  #settings(isLater) { return this.settings.filter((each) => holdsLater.test(Object.keys(each)[0]) === isLater); }

  /** What customers have at the end, where one line says it, so that whoever plays the file sees whether it ends the same. */
  #expected() {
    return (this.end ?? []).flatMap(({ account, statuses }) => statuses.filter(([group, state, product], _, all) => all.filter((each) => each[0] === group).length === 1 && product && stateWords[state.replace('RENEWAL_STATE_', '')])
      .map(([group, state, product]) => `${this.accounts.get(account)}: expect status ${words(group)}: ${stateWords[state.replace('RENEWAL_STATE_', '')]} ${words(product)}`));
  }

  /** The whole file, or without the catalogue. */
  text(isWhole = true) {
    let at = this.#beginMs;
    const past = [];
    const to = (next) => { if (next > at) past.push(`+${duration(next - at)}`); at = next; };
    for (const each of this.before) { to(each.at); past.push(...each.lines); }
    to(this.startMs);
    const head = ['# Recorded in the console of Perch.', ...this.problems.map((each) => `# It cannot be played again as it was: ${each}.`), `start ${new Date(this.#beginMs).toISOString()}`,
      ...(this.catalogue && isWhole ? [`catalog ${this.catalogue}`] : []), ...this.head];
    if (this.accounts.size) head.push(`accounts ${[...this.accounts.values()].join(', ')}`);
    return [...head, '', ...(past.length ? ['# How the customers came to what they had.', ...past, '', '# What was recorded.'] : []), ...this.opening, ...this.lines, ...this.#expected(), ''].join('\n');
  }

  /** Plays the recording in an app of its own, which the server forgets, and compares what every customer has at the end. */
  async play() {
    if (!this.catalogue) throw new Error('its catalogue was not shown');
    const file = btoa(Array.from(new TextEncoder().encode(this.catalogue), (each) => String.fromCharCode(each)).join(''));
    // Four apps for a catalogue: a server has few in memory. Each play moves a clock by four years.
    const name = [...file].reduce((sum, each) => (Math.imul(sum, 31) + each.charCodeAt(0)) >>> 0, 0).toString(36);
    const app = { bundleId: `perch.examples.recording-${name}-${Math.floor(Math.random() * 4)}`, environment: 'ENVIRONMENT_XCODE' };
    const call = (method, request) => session.perch.call(method, { app, ...request }, { timeoutMs: 60_000 });
    await call('AdminService/LoadCatalog', { file, source: 'a recording’s' });
    await call('TestStoreService/Configure', { settings: [{ reset: true }] });
    const { accounts = [] } = await call('TestStoreService/ListAccounts', { pageSize: 500 });
    for (const account of accounts) await call('TestStoreService/Operate', { account, operation: { stopSharing: {} } }).catch(() => {});
    for (const account of accounts) await call('AdminService/EraseAccount', { account });
    const { clock } = await call('TestStoreService/SetClock', { freeze: {} });
    const shift = Math.ceil(Math.max(0, number(clock.nowMs) - this.#beginMs) / calendarMs) * calendarMs;
    const to = (at) => call('TestStoreService/SetClock', { advanceToMs: String(at + shift) });
    await to(this.#beginMs);
    const set = async (isLater) => { const settings = this.#settings(isLater); if (settings.length) await call('TestStoreService/Configure', { settings }); };
    await set(false);
    const numbers = new Map();
    const mapped = (value) => JSON.parse(JSON.stringify(value), (key, part) => (/^(transactionId|number)$/.test(key) ? numbers.get(String(part)) ?? part : key === 'purchaseDateMs' ? String(number(part) + shift) : part));
    let at = this.#beginMs;
    const play = async (step) => {
      if (step.at > at) await to(at = step.at);
      if (!step.request) return;
      for (const each of step.found) numbers.set(each.id ?? each.number, await find(call, each));
      const answer = await call(step.method, mapped(step.request));
      if (step.made) numbers.set(step.made, answer.transaction?.transaction?.id ?? '0');
    };
    // Of somebody whom nobody touched a refusal leaves out that customer alone.
    for (const step of this.before) await play(step).catch((error) => { if (this.touched.includes(step.request.account)) throw error; });
    if (this.startMs > at) await to(at = this.startMs);
    await set(true);
    for (const step of this.steps) await play(step);
    if (this.at > at) await to(this.at);
    return Promise.all(this.end.map(async (was) => ({ account: was.account, was, is: await state(was.account, this.startMs + shift, app) })));
  }
}

/** The number that something has now, by what it is. */
async function find(call, { account, id, number: waiting, productId, nth, isFirst, isIntent }) {
  if (waiting) {
    const { pendingPurchases = [], purchaseIntents = [] } = await call('TestStoreService/InspectAccount', { account });
    return (isIntent ? purchaseIntents.filter((each) => each.productId === productId) : pendingPurchases.filter((each) => each.order?.productId === productId))[nth - 1]?.number;
  }
  const { transactions = [] } = await call('TransactionService/ListTransactions', { account, includeFinishedConsumables: true, pageSize: 500 });
  const same = transactions.map(({ transaction }) => transaction).filter((each) => each.productId === productId);
  return (nth ? same.filter((each) => each.reason === 'TRANSACTION_REASON_RENEWAL')[nth - 1] : same.at(isFirst ? 0 : -1))?.id ?? id;
}

/** What an account has, without numbers of the moment: instants count from the beginning of the recording. */
async function state(account, startMs, app) {
  const call = (method, request = {}) => session.perch.call(method, { ...(app ? { app } : {}), account, ...request });
  const since = (at) => (at === undefined ? undefined : number(at) - startMs);
  const [{ transactions = [] }, { transactions: owned = [] }, { groups = [], pendingPurchases = [], purchaseIntents = [], charges, paymentsForbidden }] = await Promise.all([
    call('TransactionService/ListTransactions', { includeFinishedConsumables: true, pageSize: 500 }), call('EntitlementService/ListCurrentEntitlements').catch(() => ({})),
    call('TestStoreService/InspectAccount').catch(() => ({}))]);
  return {
    account,
    has: owned.map(({ transaction }) => transaction.productId).sort(),
    statuses: groups.flatMap(({ groupId, statuses }) => (statuses?.statuses ?? []).map((each) => [groupId, each.state, each.transaction?.transaction?.productId, !!each.renewalInfo?.renewalInfo?.willAutoRenew])),
    waits: [pendingPurchases.map((each) => each.order?.productId), purchaseIntents.map((each) => each.productId)],
    settings: [charges, paymentsForbidden],
    transactions: transactions.map(({ transaction: t }) => [t.productId, t.reason ?? '', since(t.purchaseDateMs), since(t.expirationDateMs), t.price?.milliunits, t.offer, t.revocation ? since(t.revocation.dateMs) : undefined, t.isUpgraded]),
  };
}

export const recorder = new Recorder();

class RecordPage extends Page {
  open() {
    this.append(h('h1', {}, 'Record'), h('p.what', {}, rich('Press Record: what you then do in the console becomes a scenario, until you press Stop. It begins with the customers as they are, and plays by itself: here, and by `perch scenario run`.')));
    if (!session.isTest || !session.allows('test')) return this.append(missing('Only test apps have scenarios, and the scope `test` plays them.'));
    this.button = h('button.primary', { onclick: () => this.#press() });
    this.save = h('button', { onclick: () => this.#download(recorder.name, recorder.text()) }, 'Download');
    this.state = h('span.badge', { role: 'status' });
    this.said = h('p.what', { role: 'status' });
    this.time = h('section.card', { 'aria-label': 'Time' }, h('h2', {}, 'Let time pass'), h('div.ops', {}, ['1 day', '1 month', '1 year'].map((each) => h('button', { onclick: async () => { this.said.textContent = await advance(each) ?? ''; } }, `+ ${each}`))), this.said);
    this.file = h('pre', { tabindex: '0', 'aria-label': 'The scenario' });
    this.problems = h('div', { role: 'status' });
    this.player = h('section.card', { 'aria-label': 'Play' }, h('h2', {}, 'Play it again'), (this.result = h('div', { role: 'status' })),
      h('div.bar.mid', {}, (this.again = h('button', { onclick: () => this.#play() }, 'Play again')), this.save), h('p.what', {}, 'The downloaded file has all it needs, and says at its end what customers should have. To play it, where the file is: ', (this.command = h('span'))));
    this.append(h('div.bar.mid', {}, this.button, h('button', { onclick: () => recorder.clear() }, 'Clear'), this.state), this.problems, this.time, this.player, this.file);
    this.on(recorder, 'line', () => this.#show());
    this.#show();
  }

  async #press() {
    this.button.disabled = true;
    await attempt(() => (recorder.isOn ? recorder.stop() : recorder.start()));
    this.button.disabled = false;
    if (recorder.end) await this.#play();
  }

  #show() {
    this.button.textContent = recorder.isOn ? 'Stop' : 'Record';
    this.state.className = 'badge ' + (recorder.isOn ? 'bad' : '');
    const steps = `${recorder.lines.length} step${recorder.lines.length === 1 ? '' : 's'}`;
    this.state.textContent = recorder.isOn ? `recording, ${steps}` : steps;
    this.time.hidden = !recorder.isOn;
    this.player.hidden = recorder.isOn || !recorder.end;
    this.command.replaceChildren(copyable(`perch scenario run ${recorder.name}`));
    this.problems.replaceChildren(...recorder.problems.map((each) => h('p.note.warn', {}, `It cannot be played again as it was: ${each}.`)),
      recorder.leftOut.length ? h('p.note', {}, `Left out, because no steps tell how they came to what they have: ${recorder.leftOut.join(', ')}.`) : '');
    this.file.textContent = recorder.isOn || recorder.lines.length ? recorder.text(false) : 'Nothing is recorded. Press Record, then buy, refund or move the clock on the other pages.';
  }

  async #play() {
    this.result.replaceChildren(h('p.what', {}, 'It plays…'));
    try {
      let rows;
      do rows = (await recorder.play()).map(({ account, was, is }) => ({ account, differs: Object.keys(was).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name])) }));
      while (recorder.leaveOut(rows.filter((each) => each.differs.length).map((each) => each.account)));
      const isSame = rows.every((each) => !each.differs.length);
      this.result.replaceChildren(h('p.note', { class: isSame ? '' : 'bad' }, isSame ? `Played, in an app that leaves no trace: ${rows.length === 1 ? 'the customer has' : `all ${rows.length} customers have`} what they had.` : 'Played, and it ended otherwise.'),
        h('ul.plain', {}, rows.map(({ account, differs }) => h('li', {}, h('a', { href: accountLink(account) }, account), differs.length ? `: other ${differs.join(', ')}` : ': the same'))));
    } catch (error) {
      // One with apps of the App Store, or one of several nodes.
      const isElsewhere = error.code === 'not_found' && /perch\.examples/.test(error.message);
      this.again.disabled = isElsewhere;
      this.result.replaceChildren(isElsewhere ? h('p.what', {}, 'This server has no app to play it in; the command below plays it.') : h('p.note.bad', {}, `It could not be played: ${error.message}`));
    }
  }

  #download(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    h('a', { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    toast(`${name} is downloaded`);
  }
}

customElements.define('perch-record-page', RecordPage);

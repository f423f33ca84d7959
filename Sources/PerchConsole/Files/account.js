// One account: what it owns and why, what will happen, what happened, and every operation.
import {
  h, session, Page, stateBadge, instant, number, relative, money, word, forecastText, missing, readable,
} from './kit.js';
import { lineButtons, transactionButtons, accountButtons, buy, decide, endIntent, purchase, grant, endGrant } from './operations.js';

const pageMax = 500;

class AccountPage extends Page {
  open() {
    this.account = this.argument;
    this.groups = [];
    this.knowsCatalogue = true;
    this.events = new Map();
    this.answerPlace = h('section.card', { 'aria-label': 'Now' });
    this.opsPlace = h('div.ops');
    this.linesPlace = h('div');
    this.waitingPlace = h('div');
    this.ownedPlace = h('section.card', { 'aria-label': 'Entitlements' });
    this.timePlace = h('section.card', { 'aria-label': 'Timeline' });
    this.whyPlace = h('section.card', { 'aria-label': 'Explanation' });
    this.whatIf = new WhatIf(this);
    this.recordPlace = h('section.card', { 'aria-label': 'Record' });
    this.append(h('h1', {}, this.account || 'No account'));
    if (!this.account) return this.append(missing('Choose an account in the list.'));
    this.canOperate = session.isTest && session.allows('test');
    this.append(this.answerPlace,
      h('div.cols', {},
        h('div', {}, this.waitingPlace, this.linesPlace, this.timePlace),
        h('div', {}, this.whyPlace, this.whatIf.place, this.ownedPlace, this.recordPlace)));
    this.#begin();
  }

  async #begin() {
    try {
      const { groupIds, products } = await session.catalogue();
      this.groups = groupIds;
      this.products = products;
    } catch {
      // Credentials that may only read are not shown the catalogue: `#learn` has what the account owns.
      this.products = [];
      this.knowsCatalogue = false;
    }
    if (this.ended) return;
    this.names = new Map(this.products.map((product) => [product.id, product.displayName || product.id]));
    this.states = new Map();
    const read = () => this.#read();
    this.watch('TransactionService/TransactionUpdates', { account: this.account }, (event) => {
      if (event.transaction && event.revision) this.events.set(`${event.transaction.transaction.id ?? 0}:${event.kind}`, event);
      read();
    });
    for (const groupId of this.groups) this.#watchGroup(groupId);
    this.watch('EntitlementService/EntitlementsTask', { account: this.account }, (state) => { this.named = state; if (this.data) this.#showOwned(); });
    this.on(session.perch, 'change', read);
    this.every(2000, read);
    const tick = setInterval(() => this.#tick(), 500);
    this.until(() => clearInterval(tick));
    read();
  }

  #watchGroup(groupId) {
    this.watch('EntitlementService/SubscriptionStatusTask', { account: this.account, groupId }, (state) => {
      this.states.set(groupId, state);
      if (!state.loading) this.#read();
    });
  }

  /** Products of these transactions, and their groups, where the catalogue is not shown. */
  async #learn(transactions) {
    const productIds = [...new Set(transactions.map(({ transaction }) => transaction.productId))].filter((id) => !this.names.has(id));
    if (!productIds.length) return;
    const { success } = await session.perch.call('EntitlementService/GetProducts', { productIds }, { signal: this.ending.signal });
    for (const id of productIds) this.names.set(id, id);
    for (const product of success?.products ?? []) {
      this.products.push(product);
      this.names.set(product.id, product.displayName || product.id);
    }
    for (const groupId of new Set(this.products.map((each) => each.subscription?.groupId))) {
      if (!groupId || this.groups.includes(groupId)) continue;
      this.groups.push(groupId);
      this.#watchGroup(groupId);
    }
  }

  name(id) { return this.names?.get(id) ?? id; }

  /** Everything about the account, once for several causes at a time. */
  async #read() {
    if (this.isReading) { this.mustRead = true; return; }
    this.isReading = true;
    try {
      const account = this.account;
      const call = (method, request = {}) => session.perch.call(method, { account, ...request }, { signal: this.ending.signal });
      const optional = (promise, codes) => promise.catch((error) => { if (codes.includes(error.code)) return { error }; throw error; });
      const [inspection, entitled, unfinished, transactions] = await Promise.all([
        this.canOperate ? optional(call('TestStoreService/InspectAccount'), ['not_found', 'permission_denied', 'failed_precondition']) : {},
        optional(call('EntitlementService/ListCurrentEntitlements'), ['failed_precondition']),
        call('TransactionService/ListUnfinished', { pageSize: pageMax }),
        this.#history(call),
      ]);
      if (!this.knowsCatalogue) await this.#learn(transactions);
      const groups = new Map((inspection.groups ?? []).map((each) => [each.groupId, each.statuses ?? {}]));
      for (const [group, state] of this.states) if (!groups.has(group) && state.success) groups.set(group, state.success);
      this.data = { inspection, entitled, groups, transactions, unfinished: new Set((unfinished.transactions ?? []).map((each) => each.transaction.id ?? '0')) };
      this.why = await this.#explain(call);
      if (!this.ended) this.#show();
    } catch (error) {
      if (!this.ended) this.answerPlace.replaceChildren(h('p.note.bad', {}, error.message));
    } finally {
      this.isReading = false;
      if (this.mustRead && !this.ended) { this.mustRead = false; this.#read(); }
    }
  }

  async #history(call) {
    const all = [];
    let pageToken = '';
    for (let page = 0; page < 6; page += 1) {
      const answer = await call('TransactionService/ListTransactions', { includeFinishedConsumables: true, pageSize: pageMax, ...(pageToken ? { pageToken } : {}) });
      all.push(...(answer.transactions ?? []));
      pageToken = answer.nextPageToken ?? '';
      if (!pageToken) break;
    }
    return all;
  }

  #explain(call) {
    const asked = this.groups.map((groupId) => ({ about: this.#groupName(groupId), request: { groupId } }));
    const seen = new Set();
    for (const each of this.data.transactions) {
      const { productId, productType } = each.transaction;
      if (productType === 'PRODUCT_TYPE_AUTO_RENEWABLE' || productType === 'PRODUCT_TYPE_CONSUMABLE' || seen.has(productId)) continue;
      seen.add(productId);
      asked.push({ about: this.name(productId), request: { productId } });
    }
    return Promise.all(asked.slice(0, 12).map(async ({ about, request }) => ({ about, answer: await call('EntitlementService/Explain', request) })));
  }

  #groupName(id) {
    return this.products.find((product) => product.subscription?.groupId === id)?.subscription.groupDisplayName || id;
  }

  #show() {
    const { inspection, groups } = this.data;
    this.lines = [];
    for (const [groupId, statuses] of groups) {
      (statuses.statuses ?? []).forEach((status, index) => {
        const transaction = status.transaction?.transaction ?? {};
        const info = status.renewalInfo?.renewalInfo ?? {};
        this.lines.push({ groupId, status, transaction, info, isEffective: statuses.effectiveIndex === index });
      });
    }
    this.#showAnswer();
    if (this.canOperate) this.#showWaiting(inspection);
    // A card that says the same stays, and so does the focus in it.
    const linesKey = JSON.stringify(this.lines, (key, value) => (key === 'signedDateMs' ? undefined : value));
    if (linesKey !== this.linesKey) {
      this.linesKey = linesKey;
      const focused = this.linesPlace.contains(document.activeElement) ? document.activeElement.textContent : '';
      this.linesPlace.replaceChildren(...this.lines.map((line) => this.#line(line)));
      if (focused) [...this.linesPlace.querySelectorAll('button')].find((each) => each.textContent === focused)?.focus();
    }
    this.#showTimeline();
    this.#showWhy();
    this.#showOwned();
    this.#showRecord(inspection);
    this.whatIf.show();
    this.#tick();
  }

  #showAnswer() {
    const isNew = this.data.transactions.length === 0 && this.lines.length === 0;
    const key = JSON.stringify([isNew, this.why.map(({ answer }) => answer.message), this.data.inspection.charges, this.data.inspection.paymentsForbidden, this.data.inspection.error?.code]);
    if (key === this.answerKey) return;
    this.answerKey = key;
    const subscribed = this.why.filter(({ answer }) => answer.entitled);
    const first = subscribed[0] ?? this.why[0];
    const ops = this.canOperate ? h('div.ops', {}, h('button.primary', { disabled: !!this.data.inspection.paymentsForbidden, title: this.data.inspection.paymentsForbidden ? 'Payments of this account are forbidden' : '', onclick: () => buy(this.account) }, this.data.inspection.paymentsForbidden ? 'Purchases are not allowed' : 'Buy…'), accountButtons(this.account, this.data.inspection)) : null;
    this.answerPlace.replaceChildren(
      h('p.answer', {}, isNew ? 'This account has bought nothing yet.' : readable(first?.answer.message)),
      this.data.inspection.charges === 'CHARGE_OUTCOME_FAIL' ? h('p.note.warn', {}, 'Charges of this account fail.') : '', this.data.inspection.paymentsForbidden ? h('p.note.warn', {}, 'Payments of this account are forbidden, as by Screen Time: every purchase and every code is refused. Renewals go on.') : '', ops ?? '');
  }

  #showWaiting(inspection) {
    const pending = inspection.pendingPurchases ?? [];
    const intents = inspection.purchaseIntents ?? [];
    const key = JSON.stringify([pending, intents]);
    if (key === this.waitingKey) return;
    this.waitingKey = key;
    this.waitingPlace.replaceChildren(
      ...pending.map((each) => h('section.card', { 'aria-label': 'A purchase waits' },
        h('p', {}, h('b', {}, this.name(each.order?.productId)), ` waits since ${instant(each.sinceMs)}: ${word(each.reason)}`),
        h('div.ops', {}, h('button.primary', { onclick: () => decide(this.account, each.number, true) }, 'Approve'), h('button', { onclick: () => decide(this.account, each.number, false) }, 'Decline')))),
      ...intents.map((each) => h('section.card', { 'aria-label': 'A purchase intent waits' },
        h('p', {}, h('b', {}, this.name(each.productId)), ` was begun outside the app, ${instant(each.sinceMs)}`),
        h('div.ops', {}, h('button.primary', { onclick: () => purchase(this.account, { productId: each.productId, ...(each.offer ? { offer: each.offer } : {}) }) }, 'The app buys it'),
          h('button', { onclick: () => endIntent(this.account, each.number) }, 'Dismiss')))));
  }

  #line({ groupId, status, transaction, info, isEffective }) {
    const id = transaction.id ?? '0';
    const facts = [
      ['Product', `${this.name(transaction.productId)} (${transaction.productId})`],
      ['Period', `${instant(transaction.purchaseDateMs)} to ${instant(transaction.expirationDateMs)}`],
      ['Renewal', info.unreported ? 'unknown: no renewal information was reported' : info.willAutoRenew ? `renews${info.autoRenewPreference && info.autoRenewPreference !== transaction.productId ? ` to ${this.name(info.autoRenewPreference)}` : ''}${info.renewalPrice ? ` for ${money(info.renewalPrice)}` : ''}` : 'off'],
    ];
    if (info.gracePeriodExpirationDateMs) facts.push(['Grace period', `until ${instant(info.gracePeriodExpirationDateMs)}`]);
    if (info.expirationReason) facts.push(['Ended because', word(info.expirationReason)]);
    if (info.priceIncreaseStatus) facts.push(['Price increase', word(info.priceIncreaseStatus).replace('price increase status ', '')]);
    if (transaction.offer) facts.push(['Offer now', `${word(transaction.offer.type)} ${transaction.offer.id ?? ''} ${word(transaction.offer.paymentMode)}`]);
    if (info.offer) facts.push(['Next offer', `${word(info.offer.type)} ${info.offer.id ?? ''}`]);
    if (info.eligibleWinBackOfferIds?.length) facts.push(['Win-back', info.eligibleWinBackOfferIds.join(', ')]);
    if (transaction.ownershipType === 'OWNERSHIP_TYPE_FAMILY_SHARED') facts.push(['Ownership', 'shared by a family member']);
    facts.push(['Transaction', h('a', { href: `#t${id}`, onclick: (event) => this.goTo(event, id) }, id)]);
    const line = {
      transactionId: id, renews: !!info.willAutoRenew, isFailing: ['RENEWAL_STATE_IN_GRACE_PERIOD', 'RENEWAL_STATE_IN_BILLING_RETRY_PERIOD'].includes(status.state),
      asksPrice: info.priceIncreaseStatus === 'PRICE_INCREASE_STATUS_PENDING',
    };
    const isShared = transaction.ownershipType === 'OWNERSHIP_TYPE_FAMILY_SHARED';
    return h('section.card', { 'aria-label': `Subscription ${this.#groupName(groupId)}` },
      h('div.bar.mid', {}, h('h2', {}, this.#groupName(groupId)), stateBadge(status.state), isEffective && this.lines.length > 1 ? h('span.badge.good', {}, 'counts') : null),
      h('dl.facts', {}, facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
      this.canOperate && !isShared ? h('div.ops', {}, lineButtons(this.account, line)) : null);
  }

  // MARK: Timeline

  /** Facts, newest first: purchases, renewals, refunds, ends, and what will happen. */
  #entries() {
    const entries = [];
    for (const { transaction: t } of this.data.transactions) {
      const id = t.id ?? '0';
      const isRenewal = t.reason === 'TRANSACTION_REASON_RENEWAL';
      const isShared = t.ownershipType === 'OWNERSHIP_TYPE_FAMILY_SHARED';
      const seen = [...this.events.values()].find((event) => (event.transaction.transaction.id ?? '0') === id);
      const by = seen?.originClientId ? atob(seen.originClientId) : '';
      const trial = t.offer?.paymentMode === 'OFFER_PAYMENT_MODE_FREE_TRIAL';
      const what = isShared ? 'Shared by a family member: ' : isRenewal ? 'Renewed ' : 'Bought ';
      const until = t.expirationDateMs ? `, until ${instant(t.expirationDateMs)}` : '';
      const price = t.price ? ` for ${money(t.price)}` : '';
      const offer = t.offer ? ` with ${trial ? 'a free trial' : `the ${word(t.offer.type)} offer ${t.offer.id ?? ''}`.trim()}` : '';
      const count = (t.purchasedQuantity ?? 1) > 1 ? `${t.purchasedQuantity} × ` : '';
      entries.push({
        at: number(t.purchaseDateMs), id, kind: t.revocation ? 'bad' : 'good', row: t,
        text: `${what}${count}${this.name(t.productId)}${price}${offer}${until}`,
        more: [t.isUpgraded ? 'an upgrade left it behind' : '', this.data.unfinished.has(id) ? 'not finished' : '', by ? `by ${by}` : ''].filter(Boolean).join(', '),
      });
      if (t.revocation) {
        const part = t.revocation.percentageMilli ? ` ${t.revocation.percentageMilli / 1000} % of` : '';
        entries.push({
          at: number(t.revocation.dateMs), kind: 'bad', of: id,
          text: t.revocation.type === 'REVOCATION_TYPE_FAMILY_REVOKE' ? `Sharing of ${this.name(t.productId)} ended` : `Refunded${part} ${this.name(t.productId)}: ${word(t.revocation.reason)}`,
        });
      }
    }
    for (const { status, transaction: t, info } of this.lines) {
      const end = number(t.expirationDateMs);
      const name = this.name(t.productId);
      if (status.state === 'RENEWAL_STATE_EXPIRED' && !t.revocation) entries.push({ at: end, kind: '', text: `${name} ended: ${word(info.expirationReason) || 'its period was over'}`, of: t.id ?? '0' });
      if (status.state === 'RENEWAL_STATE_IN_GRACE_PERIOD') entries.push({ at: end, kind: 'warn', text: `The charge for ${name} failed; the grace period lasts until ${instant(info.gracePeriodExpirationDateMs)}` });
      if (status.state === 'RENEWAL_STATE_IN_BILLING_RETRY_PERIOD') entries.push({ at: end, kind: 'warn', text: `The charge for ${name} failed; the store tries again` });
    }
    for (const { answer } of this.why) {
      for (const each of answer.explanations ?? []) {
        if (each.nextChange) entries.push({ at: number(each.nextChange.atMs), kind: 'next', isNext: true, text: readable(each.nextMessage) || forecastText(each.nextChange) });
      }
    }
    return entries.sort((a, b) => b.at - a.at || (b.isNext ? 1 : 0) - (a.isNext ? 1 : 0) || number(b.id) - number(a.id));
  }

  #showTimeline() {
    const entries = this.#entries();
    const key = JSON.stringify([entries.map((each) => [each.at, each.text, each.more]), this.chosen]);
    if (key === this.timeKey) return;
    this.timeKey = key;
    const shown = entries.slice(0, this.isAll ? 5000 : 60);
    this.timePlace.replaceChildren(h('h2', {}, 'Timeline'),
      entries.length ? h('ol.timeline', {}, shown.map((each) => {
        const isChosen = each.id !== undefined && each.id === this.chosen;
        const time = h('time', { datetime: new Date(each.at).toISOString() }, instant(each.at));
        time.dataset.at = each.at;
        const choose = each.id === undefined ? null : h('button.link', { 'aria-expanded': String(isChosen), onclick: () => { this.chosen = isChosen ? null : each.id; this.#showTimeline(); } }, `transaction ${each.id}`);
        return h('li', { class: each.kind + (isChosen ? ' target' : ''), id: each.id === undefined ? null : `t${each.id}` },
          time, h('p', {}, each.text, each.id === undefined ? '' : ' · ', choose, each.more ? h('span.soft', {}, ` · ${each.more}`) : ''),
          isChosen ? this.#transaction(each.row) : null);
      })) : h('p.what', {}, 'Nothing has happened yet.'),
      entries.length > shown.length ? h('button', { onclick: () => { this.isAll = true; this.timeKey = null; this.#showTimeline(); } }, `Show all ${entries.length}`) : '');
  }

  #transaction(t) {
    const id = t.id ?? '0';
    const facts = [
      ['Product', t.productId], ['Type', word(t.productType)], ['Original', t.originalId ?? '0'], ['Bought', instant(t.purchaseDateMs)], ['Expires', instant(t.expirationDateMs)],
      ['Price', money(t.price)], ['Storefront', t.storefront?.countryCode], ['Ownership', word(t.ownershipType)], ['appAccountToken', t.appAccountToken], ['Line item', t.webOrderLineItemId],
    ].filter(([, value]) => value);
    const row = { id, isRevoked: !!t.revocation, isUnfinished: this.data.unfinished.has(id), isOwned: t.productType === 'PRODUCT_TYPE_NON_CONSUMABLE' };
    return h('div', {}, h('dl.facts', {}, facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
      this.canOperate ? h('div.ops', {}, transactionButtons(this.account, row)) : null);
  }

  goTo(event, id) {
    event.preventDefault();
    this.chosen = id;
    this.isAll = true;
    this.#showTimeline();
    const item = this.timePlace.querySelector(`#t${CSS.escape(id)}`);
    item?.scrollIntoView({ block: 'center', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    item?.querySelector('button')?.focus({ preventScroll: true });
  }

  // MARK: Why

  explanations(list) {
    return list.map(({ about, answer }) => h('div', {},
      h('h3', {}, about, ' ', answer.entitled ? h('span.badge.good', {}, 'entitled') : h('span.badge', {}, 'not entitled')),
      (answer.explanations?.length ? answer.explanations : [{ message: answer.message }]).map((each) => h('p', {},
        readable(each.message), each.nextMessage ? h('span.soft', {}, ` ${readable(each.nextMessage)}`) : '', ' ', this.#links(each.facts)))));
  }

  #links(facts = []) {
    const ids = [...new Set(facts.map((fact) => fact.transactionId ?? '0'))];
    return ids.map((id) => [h('a', { href: `#t${id}`, onclick: (event) => this.goTo(event, id) }, `transaction ${id}`), ' ']);
  }

  #showWhy() {
    const key = JSON.stringify(this.why.map(({ answer }) => [answer.message, answer.explanations]));
    if (key === this.whyKey) return;
    this.whyKey = key;
    this.whyPlace.replaceChildren(h('h2', {}, 'Why'), ...(this.why.length ? this.explanations(this.why) : [h('p.what', {}, this.knowsCatalogue ? 'The catalogue has no group.' : 'The account has bought nothing.')]));
  }

  #showOwned() {
    const { entitled } = this.data;
    const list = entitled.transactions ?? [];
    const named = (this.named?.success ?? this.named?.last)?.entitlements ?? [];
    const key = JSON.stringify([list.map((each) => [each.transaction.productId, each.transaction.id]), entitled.error?.message, this.data.inspection.awaitingSync?.length, named, this.named?.failure]);
    if (key === this.ownedKey) return;
    this.ownedKey = key;
    this.ownedPlace.replaceChildren(h('h2', {}, 'Current entitlements'),
      entitled.error ? h('p.note.bad', {}, entitled.error.message)
        : list.length ? h('ul.plain', {}, list.map(({ transaction: t }) => h('li', {}, `${this.name(t.productId)} `, h('a', { href: `#t${t.id ?? 0}`, onclick: (event) => this.goTo(event, t.id ?? '0') }, `transaction ${t.id ?? 0}`),
          t.ownershipType === 'OWNERSHIP_TYPE_FAMILY_SHARED' ? ' (family)' : '')))
          : h('p.what', {}, 'None.'),
      this.data.inspection.awaitingSync?.length ? h('p.what', {}, `${this.data.inspection.awaitingSync.length} shared products wait for the customer’s restore.`) : '',
      h('h3', {}, 'By name'), this.named?.failure ? h('p.note.bad', {}, this.named.failure.message) : '', named.length ? h('ul.plain', {}, named.map((each) => this.#named(each))) : h('p.what', {}, 'None.'),
      session.allows('admin') ? h('button', { onclick: () => grant(this.account) }, 'Grant…') : '');
  }

  #named(each) {
    const isGrant = each.origin === 'ENTITLEMENT_ORIGIN_GRANT';
    return h('li', {}, h('b', {}, each.name), ' ', h('span.badge', { class: each.active ? 'good' : '' }, each.active ? each.tier || 'active' : each.reason?.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)),
      ` ${each.lifetime ? 'without an end' : each.untilMs ? `${each.willRenew && !each.renewalUnknown ? 'renews' : 'until'} ${instant(each.untilMs)}` : ''}${isGrant ? ', granted' : each.productId ? `, by ${this.name(each.productId)}` : ''} `,
      isGrant && each.active && session.allows('admin') ? h('button.link', { onclick: () => endGrant(this.account, each.name) }, 'End grant') : '');
  }

  #showRecord(inspection) {
    if (!inspection.appTransactionId) { this.recordPlace.hidden = true; return; }
    this.recordPlace.hidden = false;
    const facts = [
      ['App transaction', inspection.appTransactionId], ['Storefront', inspection.storefront || "the app's"],
      ['Charges', { CHARGE_OUTCOME_FAIL: 'fail', CHARGE_OUTCOME_SUCCEED: 'succeed' }[inspection.charges] ?? 'as the app says'], ['Payments', inspection.paymentsForbidden ? 'forbidden' : 'allowed'], ['Shares with others', String(inspection.shares?.length ?? 0)],
      ...(inspection.redeemedOffers ?? []).map((each) => ['Redeemed', `${each.offerId} of ${this.name(each.productId)}${each.code ? ` with the code ${each.code}` : ''}`]),
    ];
    this.recordPlace.replaceChildren(h('h2', {}, 'Record'), h('dl.facts', {}, facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])));
  }

  #tick() {
    const now = session.now();
    for (const time of this.timePlace.querySelectorAll('time')) time.textContent = `${instant(time.dataset.at)} · ${relative(number(time.dataset.at) - now)}`;
  }
}

/** The same questions at another instant, or as they were known at a revision. */
class WhatIf {
  constructor(page) {
    this.page = page;
    this.slider = h('input', { type: 'range', min: 0, max: 1000, value: 500, oninput: () => this.#moved(), 'aria-label': 'Instant' });
    this.known = h('input', { type: 'number', min: 1, placeholder: 'now', onchange: () => this.#ask(), 'aria-label': 'As known at revision' });
    this.when = h('output');
    this.result = h('div', { 'aria-live': 'polite' });
    this.place = h('section.card', { 'aria-label': 'What if' }, h('h2', {}, 'At another instant'), h('p.what', {}, this.when), this.slider,
      h('div.bar', {}, h('label.field', {}, 'As known at revision', this.known), h('button', { onclick: () => this.#reset() }, 'Now')), this.result);
  }

  show() {
    const dates = this.page.data.transactions.flatMap(({ transaction: t }) => [number(t.purchaseDateMs), number(t.expirationDateMs)]).filter(Boolean);
    for (const { answer } of this.page.why) for (const each of answer.explanations ?? []) if (each.nextChange) dates.push(number(each.nextChange.atMs));
    const now = session.now();
    const [first, last] = [Math.min(now, ...dates), Math.max(now, ...dates)];
    const span = Math.max(60_000, last - first);
    if (this.at === undefined) [this.from, this.to] = [first - span * 0.1, last + span * 1.5];
    this.place.hidden = dates.length === 0;
    if (this.at === undefined) this.#place();
    const key = JSON.stringify([this.page.data.transactions.length, this.page.why.map(({ answer }) => answer.message), this.page.lines.map(({ status }) => status.state)]);
    if (key !== this.key && (this.at !== undefined || this.known.value)) this.#ask();
    this.key = key;
  }

  #place() {
    this.slider.value = String(Math.round(((session.now() - this.from) / (this.to - this.from)) * 1000));
    this.when.textContent = 'now: move the slider to ask about the past or the future';
    this.result.replaceChildren();
  }

  #reset() { this.at = undefined; this.known.value = ''; this.show(); this.#place(); }

  #moved() {
    this.at = Math.round(this.from + (Number(this.slider.value) / 1000) * (this.to - this.from));
    this.when.textContent = `${instant(this.at)} UTC, ${relative(this.at - session.now())}`;
    this.#ask();
  }

  async #ask() {
    if (this.isAsking) { this.again = true; return; }
    this.isAsking = true;
    try {
      const { page } = this;
      const asOf = { ...(this.at === undefined ? {} : { atMs: String(this.at) }), ...(this.known.value ? { knownAtRevision: this.known.value } : {}) };
      const call = (method, request) => session.perch.call(method, { account: page.account, asOf, ...request });
      const [why, owned] = await Promise.all([
        Promise.all(page.groups.map(async (groupId) => ({ about: page.products.find((each) => each.subscription?.groupId === groupId)?.subscription.groupDisplayName || groupId, answer: await call('EntitlementService/Explain', { groupId }) }))),
        call('EntitlementService/ListCurrentEntitlements', {}),
      ]);
      const names = (owned.transactions ?? []).map(({ transaction }) => page.name(transaction.productId));
      this.result.replaceChildren(...page.explanations(why), h('p', {}, names.length ? `Entitled to ${names.join(', ')}.` : 'Entitled to nothing.'));
    } catch (error) {
      this.result.replaceChildren(h('p.note.bad', {}, error.message));
    } finally {
      this.isAsking = false;
      if (this.again) { this.again = false; this.#ask(); }
    }
  }
}

customElements.define('perch-account-page', AccountPage);

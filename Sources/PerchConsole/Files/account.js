// One customer: what they have and from where, what will happen, what happened, what can be done, and why it is so.
import {
  h, session, Page, stateBadge, utc, day, when, number, relative, money, word, entitles, missing, readable, accountLink, copyable, action, isolated, ask, attempt, isShared, language, languageButtons,
} from './kit.js';
import { find } from './find.js';
import { unpressed } from './press.js';
import { imageOf } from './products.js';
import { oddities } from './settings.js';
import { lineButtons, transactionButtons, accountButtons, buy, decide, endIntent, purchase, endGrant, customerActions, milli } from './operations.js';

// More of the history than anybody has, and an end to the reading.
const [pageMax, pagesMax] = [500, 6];
/** The colour of what happened, by its kind; none for others. */
const tones = { HISTORY_KIND_PURCHASE: 'good', HISTORY_KIND_RENEWAL: 'good', HISTORY_KIND_GRANT: 'good', HISTORY_KIND_FAILURE: 'warn', HISTORY_KIND_REFUND: 'bad' };
/** Kinds with which a transaction begins, so that it opens there. */
const begins = new Set(['HISTORY_KIND_PURCHASE', 'HISTORY_KIND_RENEWAL']);
/** Whether an end is past that Apple has not reported anything about. A test store knows at once. */
const isOverdue = (endMs) => !session.isTest && number(endMs) > 0 && number(endMs) <= session.now();

/** What gives an entitlement, for people. */
function sourceText(each, grant, name) {
  if (each.origin === 'ENTITLEMENT_ORIGIN_GRANT') return grant ? `granted on ${day(grant.sinceMs, true)}${grant.grantedBy ? ` by ${isolated(grant.grantedBy)}` : ''}${grant.reason ? `: “${isolated(grant.reason)}”` : ''}` : 'granted';
  return [each.productId ? name(each.productId) : '', isShared(each) ? 'shared by a family member' : each.state ? 'subscription' : each.productId ? 'purchase' : ''].filter(Boolean).join(', ');
}

/** How long a named entitlement lasts. In grace and without news of a renewal its end is an end. */
function lastingText(each) {
  if (each.lifetime) return 'without an end';
  if (!each.untilMs) return '';
  if (each.active && each.state && isOverdue(each.untilMs)) return `period ended on ${day(each.untilMs)}, renewal not reported`;
  // What was refunded ended before its period.
  if (!each.active && number(each.untilMs) > session.now()) return '';
  const renews = each.willRenew && !each.renewalUnknown && each.state === 'RENEWAL_STATE_SUBSCRIBED';
  return `${each.active ? renews ? 'renews on' : 'until' : 'ended on'} ${day(each.untilMs)}`;
}

/** What stands around the server's sentences, in the same languages. */
const texts = {
  en: {
    next: 'What will happen next', nothing: 'Nothing happens by itself.', whatIf: 'What if', fails: 'The charge fails', off: 'Renewal is switched off', refund: 'Refund', plan: 'Another plan…', planName: 'Plan',
    planHint: 'its product identifier', price: 'New price', priceHint: 'a tenth more', higher: 'Higher price', agreed: 'If it is agreed to', refused: 'If it is not agreed to', same: 'nothing would be otherwise', unchanged: 'Only a try: nothing is changed.',
  },
  de: {
    next: 'Was als Nächstes geschieht', nothing: 'Von selbst geschieht nichts.', whatIf: 'Was wäre, wenn', fails: 'Die Abbuchung schlägt fehl', off: 'Verlängerung ausgeschaltet', refund: 'Erstattung', plan: 'Anderer Tarif…', planName: 'Tarif',
    planHint: 'seine Produktkennung', price: 'Neuer Preis', priceHint: 'ein Zehntel mehr', higher: 'Höherer Preis', agreed: 'Mit Zustimmung', refused: 'Ohne Zustimmung', same: 'nichts wäre anders', unchanged: 'Nur ein Versuch: Geändert wird nichts.',
  },
};
/** In which language the server writes what can be read to the customer, and where the reader's clock stands. */
const reader = () => ({ locale: language(), utcOffsetMinutes: -new Date(session.now()).getTimezoneOffset() });

class AccountPage extends Page {
  open() {
    this.account = this.argument;
    this.who = this.account.length <= 24 ? isolated(this.account) : 'The customer';
    this.groups = [];
    this.knowsCatalogue = true;
    this.opened = new Set();
    this.drawn = new Map();
    const card = (label, kind = 'section.card') => h(kind, { 'aria-label': label });
    Object.assign(this, {
      nowPlace: card('Now'), waitingPlace: h('div'), ownedPlace: card('Entitlements'), nextPlace: card('Next'), timePlace: card('Timeline'),
      actionsPlace: card('Actions'), whyPlace: card('Explanation'), recordPlace: card('Record'), didPlace: h('p.did', { role: 'status', hidden: true }),
    });
    this.append(h('h1.account', {}, this.account || 'No account'));
    if (!this.account) return this.append(missing('Choose an account in the list.'));
    this.chosen = this.detail || null;
    this.canOperate = session.isTest && session.allows('test');
    this.compare = new Compare(this);
    this.whatIf = new WhatIf(this, (list) => this.#changes(list));
    this.append(this.nowPlace, this.didPlace, h('div.cols', {},
      h('div', {}, this.waitingPlace, this.ownedPlace, this.nextPlace, this.timePlace),
      h('div', {}, this.actionsPlace, this.whatIf.place, this.whyPlace, this.compare.place, this.recordPlace)));
    this.#begin();
  }

  async #begin() {
    try {
      const { groupIds, products } = await session.catalogue();
      [this.groups, this.products] = [[...groupIds], [...products]];
    } catch {
      // Credentials that may only read are not shown the catalogue: `#learn` has what the account owns.
      [this.products, this.knowsCatalogue] = [[], false];
    }
    if (this.ended) return;
    this.names = new Map(this.products.map((product) => [product.id, product.displayName || product.id]));
    const read = () => this.read();
    this.watch('TransactionService/TransactionUpdates', { account: this.account }, read);
    this.watched = new Set();
    for (const groupId of this.groups) this.#watchGroup(groupId);
    this.watch('EntitlementService/EntitlementsTask', { account: this.account }, (state) => { if (!state.loading) read(); });
    this.on(session.perch, 'change', () => { this.didPlace.hidden = true; read(); });
    this.on(session.perch, 'online', read);
    this.on(session, 'heard', ({ detail }) => { if (!detail || detail === this.account) read(); });
    this.on(session, 'did', async (event) => {
      // It is said here, and nowhere else.
      event.preventDefault();
      const { detail } = event;
      this.isErased = / is erased$/.test(detail);
      await this.read();
      if (this.ended) return;
      this.didPlace.hidden = false;
      this.said = this.sentence;
      this.didPlace.textContent = `${detail}.`;
    });
    const tick = setInterval(() => this.tick(), 500);
    this.until(() => clearInterval(tick));
    read();
  }

  /** The same account by another link: to one of its transactions. */
  go(transaction) { if (transaction) this.goTo(transaction); }

  #watchGroup(groupId) {
    if (this.watched.has(groupId)) return;
    this.watched.add(groupId);
    this.watch('EntitlementService/SubscriptionStatusTask', { account: this.account, groupId }, (state) => { if (!state.loading) this.read(); });
  }

  /** Products of these transactions, and their groups, where the catalogue is not shown. */
  async #learn(transactions, call) {
    const productIds = [...new Set(transactions.map(({ transaction }) => transaction.productId))].filter((id) => !this.names.has(id));
    if (!productIds.length) return;
    for (const { transaction: t } of transactions) if (t.subscriptionGroupId && !this.groups.includes(t.subscriptionGroupId)) this.groups.push(t.subscriptionGroupId);
    const { success } = await call('EntitlementService/GetProducts', { productIds });
    for (const id of productIds) this.names.set(id, id);
    for (const product of success?.products ?? []) {
      this.products.push(product);
      this.names.set(product.id, product.displayName || product.id);
      const { groupId } = product.subscription ?? {};
      if (groupId && !this.groups.includes(groupId)) this.groups.push(groupId);
    }
    for (const groupId of this.groups) this.#watchGroup(groupId);
  }

  name(id) { return isolated(this.names?.get(id) ?? id); }
  groupName(id) { return this.products.find((product) => product.subscription?.groupId === id)?.subscription.groupDisplayName || id; }

  /** Everything about the account, once for several causes at a time. Ends when the newest of them is drawn. */
  read() {
    this.mustRead = true;
    return (this.reading ??= (async () => {
      while (this.mustRead && !this.ended) {
        this.mustRead = false;
        await this.#readOnce();
      }
      this.reading = null;
    })());
  }

  async #readOnce() {
    try {
      const { account } = this;
      const atLeast = { revision: String(session.perch.revision) };
      const call = (method, request = {}) => session.perch.call(method, request.productIds ? request : { account, atLeast, ...request }, { signal: this.ending.signal });
      const optional = (promise, codes) => promise.catch((error) => { if (codes.includes(error.code)) return { error }; throw error; });
      const [inspection, entitled, named, unfinished, transactions, { settings = [] }, story, { notes }] = await Promise.all([
        this.canOperate ? optional(call('TestStoreService/InspectAccount'), ['not_found', 'permission_denied', 'failed_precondition']) : {},
        optional(call('EntitlementService/ListCurrentEntitlements'), ['failed_precondition']),
        optional(call('EntitlementService/GetEntitlements'), ['failed_precondition']),
        call('TransactionService/ListUnfinished', { pageSize: pageMax }),
        this.#history(call),
        this.canOperate ? session.perch.call('TestStoreService/GetSettings', {}, { signal: this.ending.signal }) : {},
        call('EntitlementService/Explain', { ...reader(), withHistory: true }), session.perch.call('AdminService/ListNotes', { account }, { signal: this.ending.signal }).then(({ notes: list = [] }) => ({ notes: list })).catch((error) => { if (this.ended) throw error; return {}; }),
      ]);
      session.hear(story.position);
      await this.#learn(transactions, call);
      const groups = new Map();
      const failed = (answer) => answer.error ?? answer.failure;
      const problems = [failed(entitled), failed(named)];
      await Promise.all(this.groups.map(async (groupId) => {
        const answer = await optional(call('EntitlementService/GetSubscriptionStatus', { groupId }), ['failed_precondition']);
        groups.set(groupId, answer.success ?? {});
        if (!inspection.groups?.some((each) => each.groupId === groupId)) problems.push(failed(answer));
      }));
      for (const each of inspection.groups ?? []) groups.set(each.groupId, each.statuses ?? {});
      this.named = named;
      this.data = { problem: problems.find(Boolean)?.message ?? '', odd: oddities(settings), inspection, entitled, groups, transactions, story, notes, unfinished: new Set((unfinished.transactions ?? []).map((each) => each.transaction.id ?? '0')) };
      this.isUnknown = !transactions.length && !story.grants?.length && !notes?.length && !await this.#isKnown();
      this.why = this.isUnknown ? [] : await this.#explain(call);
      // A click on what is drawn anew meanwhile would be lost.
      await unpressed();
      if (!this.ended) this.#show();
    } catch (error) {
      if (this.ended || error.code === 'unauthenticated') return;
      this.nowPlace.replaceChildren(h('p.note.bad', {}, error.message));
      // The same values are drawn again.
      this.drawn.delete(this.nowPlace);
    }
  }

  /** Whether there is an account of this name, of which nothing is known. Where that cannot be asked there is one. */
  async #isKnown() {
    const { customers, problem } = await find(this.account, this.ending.signal);
    return !!problem || customers.some((each) => each.account === this.account || each.name === this.account);
  }

  async #history(call) {
    const all = [];
    let pageToken = '';
    this.isCut = false;
    for (let page = 0; ; page += 1) {
      const answer = await call('TransactionService/ListTransactions', { includeFinishedConsumables: true, pageSize: pageMax, ...(pageToken ? { pageToken } : {}) });
      all.push(...(answer.transactions ?? []));
      pageToken = answer.nextPageToken ?? '';
      if (!pageToken) break;
      if (page + 1 === pagesMax) { this.isCut = true; break; }
    }
    return all;
  }

  /** What can be asked about: each group, and each product without an end that was bought. */
  get questions() {
    // A group by what the customer had of it, which is what the shop shows.
    const had = (groupId) => [...new Set(this.data.transactions.filter(({ transaction: t }) => t.subscriptionGroupId === groupId).map(({ transaction: t }) => this.name(t.productId)))].join(' / ');
    const asked = this.groups.map((groupId) => ({ about: had(groupId) || this.groupName(groupId), request: { groupId } }));
    const seen = new Set();
    for (const { transaction: { productId, productType } } of this.data.transactions) {
      if (productType === 'PRODUCT_TYPE_AUTO_RENEWABLE' || productType === 'PRODUCT_TYPE_CONSUMABLE' || seen.has(productId)) continue;
      seen.add(productId);
      asked.push({ about: this.name(productId), request: { productId } });
    }
    return asked.slice(0, 12);
  }
  #explain(call) { return Promise.all(this.questions.map(async (each) => ({ ...each, answer: await call('EntitlementService/Explain', each.request) }))); }

  get entitlements() { return this.named?.success?.entitlements ?? []; }
  get grants() { return this.entitlements.filter((each) => each.origin === 'ENTITLEMENT_ORIGIN_GRANT'); }

  // MARK: Drawing

  /** Draws a part where what it shows has changed. The focus stays with the control of the same label. */
  #draw(place, value, make) {
    const key = JSON.stringify(value, (name, part) => (name === 'signedDateMs' || name === 'jws' ? undefined : part));
    if (this.drawn.get(place) === key) return;
    this.drawn.set(place, key);
    const focused = place.contains(document.activeElement) ? document.activeElement : null;
    const active = focused?.textContent;
    place.replaceChildren(...[make()].flat().filter(Boolean));
    // A field that stays is typed into.
    if (focused && place.contains(focused)) return focused.focus({ preventScroll: true });
    if (active) [...place.querySelectorAll('button, summary, a')].find((each) => each.textContent === active)?.focus();
  }
  /** What is one click away, and stays open when its place is drawn again. */
  #more(label, ...children) {
    return h('details.more', { open: this.opened.has(label), ontoggle: ({ target }) => (target.open ? this.opened.add(label) : this.opened.delete(label)) }, h('summary', {}, label), ...children);
  }

  #show() {
    const { inspection, groups, transactions } = this.data;
    this.lines = [];
    for (const [groupId, statuses] of groups) {
      (statuses.statuses ?? []).forEach((status, index) => this.lines.push({
        groupId, status, transaction: status.transaction?.transaction ?? {}, info: status.renewalInfo?.renewalInfo ?? {}, isEffective: (statuses.effectiveIndex ?? 0) === index,
      }));
    }
    this.lines.sort((a, b) => b.isEffective - a.isEffective);
    const { story } = this.data;
    this.sentence = story.summary ?? '';
    if (this.sentence !== this.said) this.didPlace.hidden = true;
    // Whoever was just erased is not to be searched for by another name.
    this.#draw(this.nowPlace, [this.sentence, this.isUnknown, this.isErased, language(), this.data.problem, this.#twice().length, this.data.odd, inspection.charges, inspection.paymentsForbidden], () => [
      this.isErased && this.isUnknown ? '' : h('p.answer', { lang: language() }, this.sentence),
      this.isUnknown ? h('p', {}, h('a', { href: '#/accounts' }, 'All accounts')) : '',
      languageButtons(() => this.read()),
      this.data.problem ? h('p.note.bad', {}, `What ${this.who} has could not be asked: ${this.data.problem}`) : '',
      ...this.#twice(),
      this.data.odd.length ? h('p.note.warn', {}, `In this app ${this.data.odd.join(', ')}. `, h('a', { href: '#/settings' }, 'Failures and settings')) : '',
      inspection.charges === 'CHARGE_OUTCOME_FAIL' ? h('p.note.warn', {}, 'Charges of this account fail.') : '',
      inspection.paymentsForbidden ? h('p.note.warn', {}, 'Payments of this account are forbidden, as by Screen Time: every purchase and every code is refused. Renewals go on.') : '']);
    this.#showWaiting(inspection);
    this.#showOwned();
    const next = story.changes ?? [];
    this.nextPlace.lang = language();
    this.#draw(this.nextPlace, [language(), next.map((each) => [each.atMs, each.message])], () => [h('h2', {}, texts[language()].next), this.#changes(next)]);
    this.#showTimeline();
    this.#showActions();
    for (const place of [this.ownedPlace, this.nextPlace, this.timePlace]) place.hidden = this.isUnknown;
    // Of who has no purchase the sentence above says everything.
    this.whyPlace.hidden = !transactions.length;
    this.actionsPlace.hidden = this.isUnknown && this.isErased;
    this.#draw(this.whyPlace, this.why.map(({ answer }) => [answer.message, answer.explanations]), () => [h('h2', {}, 'Why'),
      ...(this.why.length ? this.explanations(this.why) : [h('p.what', {}, this.knowsCatalogue ? 'The catalogue has no group.' : 'The account has bought nothing.')])]);
    this.#showRecord(inspection);
    this.compare.show();
    this.whatIf.show();
    this.tick();
    if (this.detail) { const wanted = this.detail; this.detail = ''; this.goTo(wanted); }
  }

  /** Who has bought one subscription twice is charged twice. */
  #twice() {
    const own = this.lines.filter(({ status, transaction: t, info }) => entitles(status.state) && !isShared(t) && info.willAutoRenew);
    const groups = [...new Set(own.map(({ groupId }) => groupId))].map((groupId) => own.filter((line) => line.groupId === groupId)).filter((lines) => lines.length > 1);
    return groups.map((lines) => h('p.note.warn', {}, `${this.who} bought ${[...new Set(lines.map(({ transaction: t }) => this.name(t.productId)))].join(' / ')} ${lines.length === 2 ? 'twice' : `${lines.length} times`}, and is charged for each: `, lines.map(({ transaction: t }) => [this.#link(t.id ?? '0'), ' '])));
  }

  #changes(list) {
    return list.length ? h('ol.timeline', {}, list.map((each) => h('li.next', {}, this.#time(number(each.atMs)), h('p', {}, each.message, '.')))) : h('p.what', {}, texts[language()].nothing);
  }

  #time(at) {
    const time = h('time', { datetime: new Date(at).toISOString(), title: utc(at) });
    time.dataset.at = at;
    return time;
  }

  #showActions() {
    const { inspection } = this.data;
    const held = this.lines.map(({ status, info, transaction: t }) => [status.state, info.willAutoRenew, info.priceIncreaseStatus, t.id]);
    this.#draw(this.actionsPlace, [held, this.isUnknown, this.data.transactions.map(({ transaction: t }) => [t.id, !!t.revocation]), inspection.charges, inspection.paymentsForbidden], () => [
      h('h2', {}, 'What you can do'), ...customerActions(this),
      this.canOperate ? this.#more('Everything else', h('div.ops', {}, h('button', { disabled: !!inspection.paymentsForbidden, onclick: () => buy(this.account) }, 'Buy with options…'), accountButtons(this.account, inspection))) : '']);
  }

  #showWaiting(inspection) {
    const pending = inspection.pendingPurchases ?? [];
    const intents = inspection.purchaseIntents ?? [];
    this.#draw(this.waitingPlace, [pending, intents], () => [
      ...pending.map((each) => h('section.card', { 'aria-label': 'A purchase waits' },
        h('p', {}, h('b', {}, this.name(each.order?.productId)), ' waits since ', when(each.sinceMs, true), `: ${word(each.reason)}`),
        h('div.ops', {}, h('button.primary', { onclick: () => decide(this.account, each.number, true) }, 'Approve'), h('button', { onclick: () => decide(this.account, each.number, false) }, 'Decline')))),
      ...intents.map((each) => h('section.card', { 'aria-label': 'A purchase intent waits' },
        h('p', {}, h('b', {}, this.name(each.productId)), ' was begun outside the app, ', when(each.sinceMs, true)),
        h('div.ops', {}, h('button.primary', { onclick: () => purchase(this.account, { productId: each.productId, ...(each.offer ? { offer: each.offer } : {}) }) }, 'The app buys it'),
          h('button', { onclick: () => endIntent(this.account, each.number) }, 'Dismiss'))))]);
  }

  /** What the customer has: named entitlements first, each with its source, then products. */
  #showOwned() {
    const { entitled, inspection, story } = this.data;
    const products = (entitled.transactions ?? []).map((each) => each.transaction);
    const named = this.entitlements.toSorted((a, b) => !!b.active - !!a.active);
    const audit = story.grants ?? [];
    const others = products.filter((t) => t.productType !== 'PRODUCT_TYPE_AUTO_RENEWABLE');
    const held = this.lines.filter(({ status }) => entitles(status.state)), ended = this.lines.filter((line) => !held.includes(line));
    const row = (each) => this.#named(each, audit.find((grant) => grant.name === each.name));
    // A grant that lasts beside what was bought.
    const beside = audit.filter((grant) => !(number(grant.untilMs) && number(grant.untilMs) <= session.now()) && !this.grants.some((each) => each.active && each.name === grant.name)).map((grant) => ({
      name: grant.name, tier: grant.tier, untilMs: grant.untilMs, lifetime: !grant.untilMs, active: true, origin: 'ENTITLEMENT_ORIGIN_GRANT' }));
    // What a product below gives stands beside that product.
    const apart = named.filter((each) => each.origin === 'ENTITLEMENT_ORIGIN_GRANT' || ![...this.lines.map(({ transaction: t }) => t.productId), ...others.map((t) => t.productId)].includes(each.productId));
    const [active, inactive] = [apart.filter((each) => each.active), apart.filter((each) => !each.active && each.reason !== 'never')];
    this.#draw(this.ownedPlace, [this.lines, others.map((each) => [each.productId, each.id]), entitled.error?.message, inspection.awaitingSync?.length, named, this.named?.failure, this.named?.error?.message, audit], () => [
      h('h2', {}, `What ${this.account.length <= 24 ? this.who : 'the customer'} has`), this.named?.failure ?? this.named?.error ? h('p.note.bad', {}, (this.named.failure ?? this.named.error).message) : '',
      entitled.error ? h('p.note.bad', {}, entitled.error.message) : '',
      active.length || held.length || others.length ? h('ul.has', {}, active.map(row), beside.map(row), held.map((line) => h('li', {}, this.#line(line))), others.map((t) => h('li', {}, this.#art(t.productId), h('span', {}, h('b', {}, this.name(t.productId)), this.#gives(t.productId),
        h('span.soft', {}, ` ${isShared(t) ? 'shared by a family member (family)' : 'bought'}`)), this.#link(t.id ?? '0'))))
        : this.data.problem || entitled.error ? '' : h('p.what', {}, 'Nothing at the moment.'),
      inactive.length || ended.length ? h('ul.has.past', { 'aria-label': 'No longer' }, inactive.map(row), ended.map((line) => h('li', {}, this.#line(line)))) : '',
      inspection.awaitingSync?.length ? h('p.what', {}, `${inspection.awaitingSync.length} shared products wait for the customer’s restore.`) : '']);
  }

  #named(each, grant) {
    const isGrant = each.origin === 'ENTITLEMENT_ORIGIN_GRANT';
    // The line below says how long.
    const lasting = each.active && this.lines.some(({ transaction: t }) => t.productId === each.productId) ? '' : lastingText(each);
    return h('li', {}, h('span', {}, h('b', {}, this.title(each.name)), ' ', this.title(each.name) === each.name ? '' : h('code.soft', {}, each.name), ' ', h('span.badge', { class: each.active ? 'good' : '' }, each.active ? (each.tier && each.tier !== each.name ? each.tier : 'active') : each.reason?.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)),
      h('span.soft', {}, ` ${[sourceText(each, grant, (id) => this.name(id)), lasting].filter(Boolean).join(', ')}`)),
      isGrant && each.active ? action('End grant', 'admin', () => endGrant(this, each.name), { kind: 'link' }) : '');
  }

  /** An entitlement as the shop names it: the product that gives or gave it, or its technical name. */
  title(name) {
    const { productId } = this.entitlements.find((each) => each.name === name && each.productId) ?? {};
    return productId ? this.name(productId) : name;
  }
  /** The technical names of what a product gives, with their levels. */
  #gives(productId) {
    return this.entitlements.filter((each) => each.productId === productId && each.origin !== 'ENTITLEMENT_ORIGIN_GRANT')
      .map(({ name, tier, active }) => [' ', h('code.soft', { title: 'What the app asks for' }, name), ' ', active && tier && tier !== name ? h('span.badge.good', {}, tier) : '']);
  }

  /** The picture of a product, or its first letter. */
  #art(id) {
    const place = h('span.art', { 'aria-hidden': 'true' }, (this.names?.get(id) ?? id).slice(0, 1).toUpperCase());
    const product = this.products.find((each) => each.id === id);
    if (product?.promotionalImageHash) imageOf(product).then((src) => place.replaceChildren(h('img', { src, alt: '' })), () => {});
    return place;
  }
  #link(id, text = `transaction ${id}`) { return h('a.num', { href: accountLink(this.account, id) }, text); }

  #line(line) {
    const { status, transaction: t, info, isEffective } = line;
    const id = t.id ?? '0';
    const facts = [
      ['Product', copyable(t.productId)],
      ['Period', [when(t.purchaseDateMs, true), ' to ', when(t.expirationDateMs, true)]],
      ['Renewal', info.unreported ? 'unknown: no renewal information was reported' : info.willAutoRenew ? `renews${info.autoRenewPreference && info.autoRenewPreference !== t.productId ? ` to ${this.name(info.autoRenewPreference)}` : ''}${info.priceIncreaseStatus === 'PRICE_INCREASE_STATUS_PENDING' ? ', if the higher price is agreed to' : info.renewalPrice ? ` for ${money(info.renewalPrice)}` : ''}` : 'off'],
    ];
    if (info.gracePeriodExpirationDateMs) facts.push(['Grace period', ['until ', when(info.gracePeriodExpirationDateMs, true)]]);
    if (info.expirationReason) facts.push(['Ended because', word(info.expirationReason)]);
    if (info.priceIncreaseStatus) facts.push(['Price increase', word(info.priceIncreaseStatus).replace('price increase status ', '')]);
    if (t.offer) facts.push(['Offer now', `${word(t.offer.type)} ${t.offer.id ?? ''} ${word(t.offer.paymentMode)}`]);
    if (info.offer) facts.push(['Next offer', `${word(info.offer.type)} ${info.offer.id ?? ''}`]);
    if (info.eligibleWinBackOfferIds?.length) facts.push(['Win-back', info.eligibleWinBackOfferIds.join(', ')]);
    if (isShared(t)) facts.push(['Ownership', 'shared by a family member']);
    facts.push(['Order', t.webOrderLineItemId && copyable(t.webOrderLineItemId)], ['Transaction', [this.#link(id, id), ' ', copyable(id, '')]]);
    const name = `Subscription ${this.name(t.productId)}`;
    return h('section', { 'aria-label': name }, h('div.bar.mid', {}, this.#art(t.productId), h('b', {}, this.name(t.productId)), this.#gives(t.productId), stateBadge(status.state), isEffective && this.lines.length > 1 ? h('span.badge.good', { title: 'decides the status of the group' }, 'counts') : null, h('span.soft.ends', {}, lastingText({ active: entitles(status.state), untilMs: t.revocation?.dateMs ?? info.gracePeriodExpirationDateMs ?? t.expirationDateMs, willRenew: info.willAutoRenew && info.priceIncreaseStatus !== 'PRICE_INCREASE_STATUS_PENDING', renewalUnknown: info.unreported, state: status.state }))),
      this.#more(`Details of ${this.name(t.productId)}${this.lines.length > 1 ? `, transaction ${id}` : ''}`, h('dl.facts', {}, facts.filter(([, value]) => value).map(([label, value]) => [h('dt', {}, label), h('dd', {}, value)])),
        this.canOperate && !isShared(t) ? h('div.ops', {}, lineButtons(this.account, {
          transactionId: id, renews: !!info.willAutoRenew, isFailing: ['RENEWAL_STATE_IN_GRACE_PERIOD', 'RENEWAL_STATE_IN_BILLING_RETRY_PERIOD'].includes(status.state),
          asksPrice: info.priceIncreaseStatus === 'PRICE_INCREASE_STATUS_PENDING',
        })) : null));
  }

  // MARK: Timeline

  /** What happened, newest first, as the server tells it, and the purchases that are too old for that. */
  #entries() {
    const rows = new Map(this.data.transactions.map(({ transaction: t }) => [t.id ?? '0', t]));
    const about = (t) => ({ id: t.id ?? '0', row: t, more: [
      t.isUpgraded ? 'an upgrade left it behind' : '', t.webOrderLineItemId ? `order ${t.webOrderLineItemId}` : '', this.canOperate && this.data.unfinished.has(t.id ?? '0') ? 'the app has not finished it' : '',
    ].filter(Boolean).join(', ') });
    const entries = (this.data.story.history ?? []).map((each) => {
      const entry = { at: number(each.atMs), kind: tones[each.kind] ?? '', text: each.message };
      const t = begins.has(each.kind) && rows.get(each.transactionId);
      if (t && rows.delete(each.transactionId)) return { ...entry, ...about(t) };
      if (each.account) entry.more = [h('a', { href: accountLink(each.account) }, each.account)];
      if (each.kind === 'HISTORY_KIND_REFUND') entry.more = [`transaction ${each.transactionId}`, !session.isTest && session.allows('admin') ? ' · ' : '', !session.isTest && session.allows('admin') ? h('a', { href: `#/incoming/${each.transactionId}` }, 'what the App Store said') : ''];
      return { ...entry, of: each.transactionId };
    });
    for (const t of rows.values()) {
      const what = isShared(t) ? 'Shared by a family member:' : t.reason === 'TRANSACTION_REASON_RENEWAL' ? 'Renewed' : 'Bought';
      const until = t.expirationDateMs ? `, until ${day(t.expirationDateMs)}` : '';
      const gone = t.revocation ? ` and ${t.revocation.type === 'REVOCATION_TYPE_FAMILY_REVOKE' ? 'no longer shared since' : 'refunded on'} ${day(t.revocation.dateMs)}` : '';
      entries.push({ at: number(t.purchaseDateMs), kind: t.revocation ? 'bad' : 'good', ...about(t), text: `${what} ${this.name(t.productId)}${t.price ? ` for ${money(t.price)}` : ''}${until}${gone}` });
    }
    for (const each of this.data.notes ?? []) entries.push({ at: number(each.atMs), kind: 'memo', note: each.id, text: `${each.author || 'Somebody'} wrote: ${each.text}` });
    return entries.sort((a, b) => b.at - a.at);
  }

  #showTimeline() {
    const entries = this.#entries();
    const shown = entries.slice(0, this.isAll ? 5000 : 60);
    this.#draw(this.timePlace, [entries.map((each) => [each.at, each.text, String(each.more)]), this.chosen, this.isAll, this.isCut], () => [h('h2', {}, 'What happened'), this.data.notes ? this.#noteForm() : '',
      this.isCut ? h('p.note.warn', {}, `There are more than ${(pageMax * pagesMax).toLocaleString('en')} transactions. These are the oldest; Export has all.`) : '',
      this.data.story.historyIsCut ? h('p.note', {}, 'Of older events only purchases and refunds are shown.') : '',
      entries.length ? h('ol.timeline', {}, shown.map((each) => {
        const isChosen = each.id !== undefined && each.id === this.chosen;
        const choose = each.id === undefined ? null : h('button.link', { 'aria-expanded': String(isChosen), onclick: () => { this.chosen = isChosen ? null : each.id; this.#showTimeline(); this.tick(); } }, `transaction ${each.id}`);
        return h('li', { class: each.kind + (isChosen ? ' target' : ''), id: each.id === undefined ? null : `t${each.id}` },
          this.#time(each.at), h('p', {}, each.text, each.id === undefined ? '' : ' · ', choose, each.more?.length ? h('span.soft', {}, ' · ', each.more) : '', each.note ? [' ', h('button.link', { type: 'button', onclick: () => this.#deleteNote(each.note, each.text) }, 'Delete note')] : ''),
          isChosen ? this.#transaction(each.row) : null);
      })) : h('p.what', {}, 'Nothing has happened yet.'),
      entries.length > shown.length ? h('button', { onclick: () => { this.isAll = true; this.#showTimeline(); this.tick(); } }, `Show all ${entries.length}`) : '']);
  }

  #noteForm() {
    this.noteText ??= h('input', { 'aria-label': 'Note', placeholder: 'A note for colleagues', maxlength: 2000, autocomplete: 'off' });
    return h('form.bar.mid', { onsubmit: async (event) => {
      event.preventDefault();
      const text = this.noteText.value.trim();
      if (text && await attempt(() => session.perch.call('AdminService/AddNote', { account: this.account, text }))) { this.noteText.value = ''; this.noteText.blur(); this.read(); }
    } }, h('label.field.grow', {}, this.noteText), h('button', { type: 'submit' }, 'Add note'));
  }
  async #deleteNote(noteId, text) {
    if (await ask('Delete the note', [], { submit: 'Delete', danger: true, text: `${text}: nobody can read it again.` })) await attempt(() => session.perch.call('AdminService/DeleteNote', { account: this.account, noteId }));
    this.read();
  }

  #transaction(t) {
    const id = t.id ?? '0';
    const facts = [
      ['Transaction', copyable(id)], ['Product', copyable(t.productId)], ['Type', word(t.productType)], ['Original', copyable(t.originalId ?? '0')], ['Bought', when(t.purchaseDateMs, true)], ['Expires', t.expirationDateMs && when(t.expirationDateMs, true)],
      ['Price', money(t.price)], ['Storefront', t.storefront?.countryCode], ['Ownership', word(t.ownershipType)], ['appAccountToken', t.appAccountToken && copyable(t.appAccountToken)], ['Order', t.webOrderLineItemId && copyable(t.webOrderLineItemId)],
    ].filter(([, value]) => value);
    const row = { id, isRevoked: !!t.revocation, isUnfinished: this.data.unfinished.has(id), isOwned: t.productType === 'PRODUCT_TYPE_NON_CONSUMABLE' };
    return h('div', {}, h('dl.facts', {}, facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
      this.canOperate ? h('div.ops', {}, transactionButtons(this.account, row)) : null);
  }

  goTo(id) {
    if (!this.data) { this.detail = id; return; }
    [this.chosen, this.isAll] = [id, true];
    this.#showTimeline();
    this.tick();
    const item = this.timePlace.querySelector(`#t${CSS.escape(id)}`);
    if (!item) return;
    item.scrollIntoView({ block: 'center', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    item.querySelector('button')?.focus({ preventScroll: true });
  }

  // MARK: Why

  explanations(list) {
    return list.map(({ about, answer }) => h('div', {},
      h('h3', {}, about, ' ', answer.entitled ? h('span.badge.good', {}, 'entitled') : h('span.badge', {}, 'not entitled')),
      (answer.explanations?.length ? answer.explanations : [{ message: answer.message }]).map((each) => h('p', {},
        readable(each.message), each.nextMessage ? h('span.soft', {}, ` ${readable(each.nextMessage)}`) : '', ' ', this.#links(each.facts)))));
  }
  #links(facts = []) { return [...new Set(facts.map((fact) => fact.transactionId ?? '0'))].map((id) => [this.#link(id), ' ']); }

  #showRecord(inspection) {
    const facts = [
      ...(inspection.appTransactionId ? [['App transaction', copyable(inspection.appTransactionId)], ['Storefront', inspection.storefront || "the app's"],
        ['Charges', { CHARGE_OUTCOME_FAIL: 'fail', CHARGE_OUTCOME_SUCCEED: 'succeed' }[inspection.charges] ?? 'as the app says'], ['Payments', inspection.paymentsForbidden ? 'forbidden' : 'allowed'], ['Shares with others', String(inspection.shares?.length ?? 0)]] : []),
      ...(inspection.redeemedOffers ?? []).map((each) => ['Redeemed', `${each.offerId} of ${this.name(each.productId)}${each.code ? ` with the code ${each.code}` : ''}`]),
    ];
    const mayExport = session.allows('admin');
    this.recordPlace.hidden = this.isUnknown || !facts.length && !mayExport;
    this.#draw(this.recordPlace, [inspection.appTransactionId, inspection.storefront, inspection.charges, inspection.paymentsForbidden, inspection.shares?.length, inspection.redeemedOffers], () => [
      h('h2', {}, 'On file'), this.#facts(facts), mayExport ? this.#otherNames() : '']);
  }
  #facts(facts) { return facts.length ? h('dl.facts', {}, facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])) : ''; }

  /** All names of the customer, which an export has: read when a person asks for them. */
  #otherNames() {
    const place = h('div');
    const read = async () => {
      try {
        const { keys = [], appAccountTokens = [], appTransactionIds = [] } = await session.perch.call('AdminService/ExportAccount', { account: this.account }, { signal: this.ending.signal });
        place.replaceChildren(this.#facts([...keys.map((key) => [key === this.account ? 'Account' : 'Also called', copyable(key)]),
          ...appAccountTokens.map((each) => ['appAccountToken', copyable(each)]), ...appTransactionIds.map((each) => ['App transaction', copyable(each)])]));
      } catch (error) {
        if (!this.ended) place.replaceChildren(h('p.note', {}, error.message));
      }
    };
    return h('details.more', { ontoggle: ({ target }) => { if (target.open) read(); } }, h('summary', {}, 'All names'), place);
  }

  tick() {
    const now = session.now();
    for (const time of this.querySelectorAll('time[data-at]')) {
      const code = time.closest('section').lang.replace('en', '') || undefined;
      // What has happened is not ahead, where this machine's clock is behind the server's.
      const ahead = number(time.dataset.at) - now;
      const text = `${day(time.dataset.at, true, code)} · ${relative(time.closest('.next') ? ahead : Math.min(0, ahead), code)}`;
      if (time.textContent !== text) time.textContent = text;
    }
  }
}

/** What would be after something that has not happened. Nothing is changed. */
class WhatIf {
  constructor(page, changes) {
    Object.assign(this, { page, changes, result: h('div', { 'aria-live': 'polite' }), place: h('section.card', { 'aria-label': 'What if', hidden: true }) });
  }

  #build() {
    const t = texts[language()];
    this.place.lang = language();
    this.price = h('input', { inputmode: 'decimal', placeholder: t.priceHint, size: 14, value: this.price?.value });
    const suppose = (make) => attempt(async () => { const asked = await make(); if (asked) { this.asked = asked; this.#ask(); } });
    const button = (name, make) => h('button', { type: 'button', onclick: () => suppose(async () => { const event = await make(); return event && { [name]: event }; }) }, t[name]);
    const event = (name) => () => ({ event: `SUPPOSED_EVENT_${name}` });
    const risen = () => (this.price.value.trim() ? { priceMilliunits: milli(this.price.value.trim()) } : {});
    this.place.replaceChildren(h('h2', {}, t.whatIf), h('p.what', {}, t.unchanged), h('div.ops', {}, button('fails', event('CHARGE_FAILS')), button('off', event('CANCELLED')), button('refund', event('REFUND')), button('plan', () => this.#plan(t))),
      // Both answers at once: which one the customer gives nobody knows.
      h('form.bar', { onsubmit: (each) => { each.preventDefault(); suppose(() => ({ agreed: { event: 'SUPPOSED_EVENT_PRICE_AGREED', ...risen() }, refused: { event: 'SUPPOSED_EVENT_PRICE_NOT_AGREED', ...risen() } })); } },
        h('label.field', {}, t.price, this.price), h('button', {}, t.higher)), this.result);
  }

  async #plan(t) {
    const group = this.page.lines.find(({ status }) => entitles(status.state))?.groupId;
    const held = this.page.lines.map(({ transaction }) => transaction.productId);
    const plans = this.page.products.filter((each) => each.subscription?.groupId === group && !held.includes(each.id));
    const values = await ask(t.plan.replace('…', ''), [{ name: 'productId', label: t.planName, required: true, ...(plans.length ? { options: plans.map((each) => [each.id, each.displayName || each.id]) } : { hint: t.planHint }) }], { submit: t.whatIf });
    return values && { event: 'SUPPOSED_EVENT_PLAN_CHANGE', ...values };
  }

  show() {
    this.place.hidden = !this.page.lines.some(({ status }) => entitles(status.state));
    if (this.place.lang !== language()) this.#build();
    const key = JSON.stringify([this.page.sentence, this.page.lines.map(({ status }) => status.state)]);
    if (key !== this.key && this.asked) this.#ask();
    this.key = key;
  }

  async #ask() {
    const { asked } = this, t = texts[language()];
    try {
      const told = await Promise.all(Object.entries(asked).map(async ([name, suppose]) => {
        const { supposed } = await session.perch.call('EntitlementService/Explain', { account: this.page.account, ...reader(), suppose }, { signal: this.page.ending.signal });
        return [h('p.effect', {}, h('b', {}, `${t[name].replace('…', '')}: `), supposed?.summary ?? t.same), Object.keys(asked).length > 1 ? '' : this.changes(supposed?.changes ?? [])];
      }));
      if (asked === this.asked) this.result.replaceChildren(...told.flat());
    } catch (error) {
      if (!this.page.ended && asked === this.asked) this.result.replaceChildren(h('p.note.bad', {}, error.message));
    }
    this.page.tick();
  }
}

/** Two moments beside each other: as of an instant, and as known at a revision. What differs is marked. */
class Compare {
  constructor(page) {
    this.page = page;
    this.result = h('div', { 'aria-live': 'polite' });
    this.sides = ['Instant', 'Other instant'].map((label, at) => this.#side(label, at));
    this.place = h('section.card', { 'aria-label': 'Compare', hidden: true }, h('details', { ontoggle: () => this.#ask() }, h('summary', {}, h('h2', {}, 'Compare two moments')),
      h('div.sides', {}, this.sides.map((side) => side.place)), this.result));
  }

  #side(label, at) {
    const side = {
      slider: h('input', { type: 'range', min: 0, max: 1000, value: 500, 'aria-label': label, oninput: () => { side.at = Math.round(this.from + (Number(side.slider.value) / 1000) * (this.to - this.from)); this.#ask(); } }),
      known: h('input', { type: 'number', min: 1, placeholder: 'all', onchange: () => this.#ask() }), when: h('output'),
    };
    const now = h('button', { type: 'button', onclick: () => { [side.at, side.known.value] = [undefined, '']; this.#place(side); this.#ask(); } }, 'Now');
    side.place = h('fieldset', {}, h('legend', {}, at ? 'Second' : 'First'), h('p.what', {}, side.when), side.slider,
      h('label.field', {}, 'As known at revision', side.known), now);
    return side;
  }
  #place(side) { side.slider.value = String(Math.round(((session.now() - this.from) / (this.to - this.from)) * 1000)); }

  show() {
    const dates = this.page.data.transactions.flatMap(({ transaction: t }) => [number(t.purchaseDateMs), number(t.expirationDateMs)]).filter(Boolean);
    const now = session.now();
    const [first, last] = [Math.min(now, ...dates), Math.max(now, ...dates)];
    const span = Math.max(60_000, last - first);
    this.place.hidden = dates.length === 0;
    if (this.sides.every((side) => side.at === undefined)) {
      [this.from, this.to] = [first - span * 0.1, last + span * 1.5];
      this.sides.forEach((side) => this.#place(side));
    }
    const key = JSON.stringify([this.page.data.transactions.length, this.page.why.map(({ answer }) => answer.message), this.page.lines.map(({ status }) => status.state)]);
    if (key !== this.key) this.#ask();
    this.key = key;
  }

  async #read(side) {
    const { page } = this;
    const asOf = { ...(side.at === undefined ? {} : { atMs: String(side.at) }), ...(side.known.value ? { knownAtRevision: side.known.value } : {}) };
    const call = (method, request) => session.perch.call(method, { account: page.account, asOf, ...request }, { signal: page.ending.signal });
    const [why, owned, named] = await Promise.all([
      Promise.all(page.questions.map(async ({ about, request }) => [JSON.stringify(request), about, readable((await call('EntitlementService/Explain', request)).message)])),
      call('EntitlementService/ListCurrentEntitlements', {}), call('EntitlementService/GetEntitlements', {}).catch(() => ({})),
    ]);
    const names = (owned.transactions ?? []).map(({ transaction }) => page.name(transaction.productId));
    // What it is about, its label, and its text: a group and an entitlement may have one name.
    return [['products', 'Entitled to', names.length ? names.join(', ') : 'nothing'],
      ...(named.success?.entitlements ?? []).map((each) => [`named ${each.name}`, each.name, each.active ? `active, ${[sourceText(each, null, (id) => page.name(id)), lastingText(each)].filter(Boolean).join(', ')}` : 'not active']), ...why];
  }

  async #ask() {
    if (!this.place.querySelector('details').open || !this.page.data) return;
    if (this.isAsking) { this.again = true; return; }
    this.isAsking = true;
    for (const side of this.sides) side.when.textContent = side.at === undefined ? 'as of now' : `as of ${day(side.at, true)}, ${relative(side.at - session.now())}`;
    try {
      const [first, second] = await Promise.all(this.sides.map((side) => this.#read(side)));
      const labels = new Map([...first, ...second].map(([key, label]) => [key, label]));
      const texts = [first, second].map((rows) => new Map(rows.map(([key, , text]) => [key, text])));
      this.result.replaceChildren(h('table.compare', {}, h('thead', {}, h('tr', {}, ['', 'First', 'Second'].map((each) => h('th', { scope: 'col' }, each)))),
        h('tbody', {}, [...labels].map(([key, about]) => {
          const [text, other] = texts.map((each) => each.get(key) ?? 'not there');
          const isOther = other !== text;
          return h('tr', { class: isOther ? 'changed' : '' }, h('th', { scope: 'row' }, about, isOther ? h('span.badge.warn', {}, 'differs') : ''), h('td', {}, text), h('td', {}, other));
        }))));
    } catch (error) {
      if (!this.page.ended) this.result.replaceChildren(h('p.note.bad', {}, error.message));
    } finally {
      this.isAsking = false;
      if (this.again) { this.again = false; this.#ask(); }
    }
  }
}

customElements.define('perch-account-page', AccountPage);

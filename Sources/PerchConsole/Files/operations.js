// Every operation of the transaction manager, each as a button with its options.
import { h, session, ask, attempt, toast, word, money, period, day, number, action, entitles, isShared } from './kit.js';
import { accountsOf, find } from './find.js';
import { PerchError } from './perch.js';

const operate = (account, operation) => session.perch.call('TestStoreService/Operate', { account, operation });

export const milli = (text) => {
  const value = Math.round(Number(String(text).replace(',', '.')) * 1000);
  if (!Number.isFinite(value)) throw new PerchError('invalid_argument', `${text} is not a price`);
  return String(value);
};
const reasons = [['REVOCATION_REASON_OTHER', 'other'], ['REVOCATION_REASON_DEVELOPER_ISSUE', 'an issue with the app']];
const partOf = (part) => (part ? { type: 'REVOCATION_TYPE_REFUND_PRORATED', percentageMilli: Math.round(Number(part) * 1000) } : { type: 'REVOCATION_TYPE_REFUND_FULL' });
const days = { name: 'days', label: 'Days', type: 'number', value: '30', props: { min: 1, max: 90, step: 'any' } };
const member = { name: 'member', label: "Member's account", required: true, hint: 'bob' };

const dayMs = 86_400_000;

/** Gives a named entitlement, whatever was bought. */
async function grant({ account, who, grants, entitlements }) {
  const existing = (name) => grants.find((each) => each.name === name && each.active);
  const replaced = (each) => (each ? ` It replaces the grant of ${each.name} ${each.untilMs ? `until ${day(each.untilMs)}` : 'without an end'}.` : '');
  const values = await ask('Grant an entitlement', [{ name: 'name', label: 'Name of the entitlement', hint: entitlements[0]?.name ?? 'plus', required: true, suggest: async () => entitlements.map((each) => each.name) }, { name: 'days', label: 'Days; empty: without an end', type: 'number', props: { min: 0, step: 'any' } }, { name: 'reason', label: 'Reason, for the record' }], {
    submit: 'Grant', text: ({ name, days }) => (name ? `${who} has ${name} at once, ${days ? `until ${day(session.now() + Number(days) * dayMs)}` : 'without an end'}. It is beside what was bought, and nothing is charged for it.${replaced(existing(name))}` : ''),
  });
  if (!values) return;
  const { name, reason } = values;
  const end = values.days ? { untilMs: String(Math.round(session.now() + Number(values.days) * dayMs)) } : {};
  await attempt(() => session.perch.call('AdminService/GrantEntitlement', { account, name, reason, ...end }), `${name} is granted`);
}

/** Free days beside Apple’s subscription: a grant that lasts longer than what the customer has. */
async function grantDays(page) {
  const { account, who, entitlements } = page;
  const title = (name) => page.title(name);
  const held = (name) => entitlements.find((each) => each.name === name && each.active);
  const end = (name, days) => Math.round(Math.max(session.now(), number(held(name)?.untilMs)) + Number(days) * dayMs);
  const names = entitlements.map((each) => each.name);
  const values = await ask('Give free days', [
    { name: 'name', label: 'Of what', required: true, ...(names.length ? { options: names.map((each) => [each, title(each) === each ? each : `${title(each)} (${each})`]), value: entitlements.find((each) => each.active)?.name ?? names[0] } : {}) },
    { ...days, value: '7', props: { min: 1, step: 'any', required: true } }, { name: 'reason', label: 'Reason, for the record' }], {
    submit: 'Give', text: ({ name, days }) => {
      const has = held(name);
      if (!name || !days) return '';
      if (!has) return `${who} has ${title(name)} at once, until ${day(end(name, days))}. Nothing is charged for it.`;
      if (!has.untilMs) return `${who} has ${title(name)} without an end: there is nothing to add.`;
      return `${who} keeps ${title(name)} until ${day(end(name, days))}, also if nothing renews on ${day(has.untilMs)}.${has.willRenew ? ' As long as it renews, Apple charges as before, and these days add nothing.' : ''}`;
    },
  });
  if (values) await attempt(() => session.perch.call('AdminService/GrantEntitlement', { account, name: values.name, reason: values.reason, untilMs: String(end(values.name, values.days)) }), `${values.days} free days are given: ${title(values.name)} until ${day(end(values.name, values.days))}`);
}
export async function endGrant({ account, who }, name) {
  if (!await ask('End the grant', [], { submit: 'End', danger: true, text: `The grant of ${name} ends now. ${who} loses ${name}, unless something that was bought gives it too.` })) return;
  await attempt(() => session.perch.call('AdminService/RevokeGrant', { account, name }), `The grant of ${name} has ended`);
}

/** Operations on a subscription line. */
const lineOperations = [
  ['Renew now', (target) => ({ renew: { target } })],
  ['Expire now', (target) => ({ expire: { target } }), { danger: true }],
  ['Auto-renew off', (target) => ({ setAutoRenew: { target, enabled: false } }), { when: (line) => line.renews }],
  ['Auto-renew on', (target) => ({ setAutoRenew: { target, enabled: true } }), { when: (line) => !line.renews }],
  ['Resolve billing', (target) => ({ resolveBilling: { target } }), { when: (line) => line.isFailing }],
  ['Extend…', (target, { days }) => ({ extendRenewal: { target, byMs: String(Math.round(Number(days) * 86_400_000)) } }), { fields: [days] }],
  ['Raise price…', (target, { price, consent }) => ({ raisePrice: { target, priceMilliunits: milli(price), consent } }), {
    fields: [{ name: 'price', label: 'New price of a period', required: true, hint: '12.99' }, {
      name: 'consent', label: 'Consent of the customer', value: 'PRICE_CONSENT_UNSPECIFIED',
      options: [['PRICE_CONSENT_UNSPECIFIED', 'by the size of the increase'], ['PRICE_CONSENT_NEEDED', 'needed'], ['PRICE_CONSENT_NOT_NEEDED', 'not needed']],
    }],
  }],
  ['Agree to price', (target) => ({ answerPriceIncrease: { target, agrees: true } }), { when: (line) => line.asksPrice }],
  ['Decline price', (target) => ({ answerPriceIncrease: { target, agrees: false } }), { when: (line) => line.asksPrice }],
  ['Share…', (target, { member }) => ({ share: { target, member } }), { fields: [member] }],
  ['Stop sharing…', (target, { member }) => ({ stopSharing: { target, member } }), { fields: [{ ...member, required: false, label: 'With whom; empty: with everybody' }] }],
];

/** Operations on one transaction. */
const transactionOperations = [
  ['Refund…', (target, { reason, part }) => ({
    refund: { target, reason, ...partOf(part) },
  }), {
    danger: true, when: (row) => !row.isRevoked,
    fields: [{ name: 'reason', label: 'Reason', value: 'REVOCATION_REASON_OTHER', options: reasons },
      { name: 'part', label: 'Part in per cent; empty: all of it', type: 'number', props: { min: 0, max: 100, step: 'any' } }],
  }],
  ['Reverse refund', (target) => ({ reverseRefund: { target } }), { when: (row) => row.isRevoked }],
  ['Decline refund', (target) => ({ declineRefund: { target } }), { when: (row) => !row.isRevoked }],
  ['Request consumption', (target) => ({ requestConsumption: { target } })],
  ['Share…', (target, { member }) => ({ share: { target, member } }), { fields: [member], when: (row) => row.isOwned }],
  ['Stop sharing…', (target, { member }) => ({ stopSharing: { target, member } }), { fields: [{ ...member, required: false, label: 'With whom; empty: with everybody' }], when: (row) => row.isOwned }],
  ['Delete', (target) => ({ deleteTransaction: { transactionId: target.transactionId } }), { danger: true, confirm: 'The transaction will be gone as if it had never existed.' }],
];

function buttons(table, account, target, context) {
  return table.filter(([, , options = {}]) => !options.when || options.when(context)).map(([label, build, { fields, danger, confirm } = {}]) =>
    h('button', {
      type: 'button', class: danger ? 'danger' : '', onclick: async () => {
        let values = {};
        if (fields || confirm) {
          values = await ask(label.replace('…', ''), fields ?? [], { submit: label.replace('…', ''), danger, text: confirm });
          if (!values) return;
        }
        await attempt(() => operate(account, build(target, values)), `${label.replace('…', '')}: done`);
      },
    }, label));
}

export const lineButtons = (account, line) => buttons(lineOperations, account, { transactionId: line.transactionId }, line);

export function transactionButtons(account, row) {
  const list = buttons(transactionOperations, account, { transactionId: row.id }, row);
  if (row.isUnfinished) {
    list.unshift(h('button', { type: 'button', onclick: () => attempt(() => session.perch.call('TransactionService/Finish', { account, transactionId: row.id }), 'Finished') }, 'Finish'));
  }
  list.push(h('button', {
    type: 'button', onclick: async () => {
      const values = await ask('Request a refund, as the customer does', [{ name: 'text', label: 'What the customer writes; REJECT is declined' }], { submit: 'Request' });
      if (values) await attempt(() => session.perch.call('TransactionService/RequestRefund', { account, transactionId: row.id, text: values.text }), (answer) => (answer.approved ? 'The refund is approved' : 'The refund is declined'));
    },
  }, 'Request refund…'));
  return list;
}

const ownLines = ({ lines }) => lines.filter(({ transaction: t }) => !isShared(t));
const heldOf = (page) => ownLines(page).find(({ status }) => entitles(status.state));
const refundableOf = ({ data }) => data.transactions.map((each) => each.transaction).filter((t) => !t.revocation && !isShared(t))
  .toReversed().toSorted((a, b) => number(b.purchaseDateMs) - number(a.purchaseDateMs)).slice(0, 20);

/** The few things that people who answer customers do, by the situation of the customer. Each says beforehand what it will do, of what the page knows at the click. */
export function customerActions(page) {
  const { account, who, data: { inspection } } = page;
  const held = heldOf(page);
  const failing = ownLines(page).find(({ status }) => /GRACE|RETRY/.test(status.state));
  const list = [];
  // An account that is not there: a purchase of the test store makes it, or a grant.
  if (page.isUnknown) return [h('div.ops', {}, session.isTest ? action('Buy…', 'test', () => buy(account), { kind: 'primary' }) : '', action('Grant…', 'admin', () => grant(page)))];
  if (session.isTest) {
    const forbidden = inspection.paymentsForbidden ? 'Payments of this account are forbidden' : '';
    if (!held || forbidden) list.push(action(forbidden ? 'Purchases are not allowed' : 'Buy…', 'test', () => buy(account), { kind: failing ? '' : 'primary', why: forbidden }));
    if (failing) list.push(action('Resolve billing problem…', 'test', async () => {
      if (await ask('Resolve the billing problem', [], { submit: 'Resolve', text: `The card of ${who} works again: ${page.name(failing.transaction.productId)} is charged now, and access goes on.` })) await attempt(() => operate(account, { resolveBilling: { target: { transactionId: failing.transaction.id ?? '0' } } }), 'The charge succeeded');
    }, { kind: 'primary' }));
    if (held && held.info.priceIncreaseStatus !== 'PRICE_INCREASE_STATUS_PENDING') {
      list.push(action('Give free days…', 'test', () => freeDays(page), { kind: failing ? '' : 'primary', why: held.status.state === 'RENEWAL_STATE_IN_GRACE_PERIOD' ? 'Only a period that is paid can be made longer: resolve the billing problem first, or grant' : '' }));
    }
    if (refundableOf(page).length) list.push(action('Refund…', 'test', () => refund(page), { kind: 'danger' }));
    if (held) list.push(action('Raise price…', 'test', () => raisePrice(page)), action('Buy…', 'test', () => buy(account)));
  } else {
    list.push(action('Refund…', 'read', () => {}, { why: 'Apple refunds its customers: reportaproblem.apple.com. The refund shows here when Apple reports it.' }), h('p.what', {}, 'Apple refunds its customers, at reportaproblem.apple.com. A refund shows here when Apple reports it.'));
    list.unshift(action('Give free days…', 'admin', () => grantDays(page), { kind: 'primary' }));
  }
  list.push(action('Grant…', 'admin', () => grant(page)));
  const rare = [session.isTest ? null : action('Move a purchase…', 'admin', () => move(page)), action('Export', 'admin', () => attempt(() => save(page))), action('Erase…', 'admin', () => erase(page), { kind: 'danger' })];
  const isPrimary = (each) => each.classList.contains('primary');
  return [h('div.ops', {}, list.toSorted((a, b) => isPrimary(b) - isPrimary(a))), h('div.ops.rare', {}, rare)];
}

async function freeDays(page) {
  const { account, who } = page;
  const t = heldOf(page)?.transaction;
  if (!t) return;
  const end = number(t.expirationDateMs);
  const values = await ask('Give free days', [{ ...days, value: '7' }], {
    submit: 'Give', text: ({ days }) => `${who} keeps ${page.name(t.productId)} until ${day(end + Number(days) * 86_400_000)} instead of ${day(end)}. The next charge waits as long.`,
  });
  if (values) await attempt(() => operate(account, { extendRenewal: { target: { transactionId: t.id ?? '0' }, byMs: String(Math.round(Number(values.days) * 86_400_000)) } }), `${values.days} free days are given`);
}

/** Choices that a person can tell apart: of equal ones each has its number. */
const distinct = (options) => options.map(([id, label]) => [id, options.filter(([, other]) => other === label).length > 1 ? `transaction ${id}: ${label}` : label]);

async function refund(page) {
  const { account, who, lines } = page;
  const list = refundableOf(page);
  if (!list.length) return;
  const byId = new Map(list.map((t) => [t.id ?? '0', t]));
  const values = await ask('Refund', [
    { name: 'id', label: 'Which purchase', value: list[0].id ?? '0', options: distinct(list.map((t) => [t.id ?? '0', `${page.name(t.productId)}, ${day(t.purchaseDateMs, true)}${t.price ? `, ${money(t.price)}` : ''}`])) },
    { name: 'reason', label: 'Reason', value: 'REVOCATION_REASON_OTHER', options: reasons },
    { name: 'part', label: 'Part in per cent; empty: all of it', type: 'number', props: { min: 0, max: 100, step: 'any' }, isMore: true },
  ], {
    submit: 'Refund', danger: true,
    text: ({ id, part }) => {
      const t = byId.get(id);
      const isNow = lines.some(({ transaction, status }) => transaction.id === t.id && entitles(status.state)) || /_NON_(CONSUMABLE|RENEWABLE)$/.test(t.productType);
      const amount = t.price ? money({ ...t.price, milliunits: number(t.price.milliunits) * (part ? Number(part) / 100 : 1) }) : 'the price';
      return `${who} gets ${amount} back. ${part ? 'A part is refunded, and access ends as the store decides.' : isNow ? `${who} loses ${page.name(t.productId)} now.` : 'Nothing that they have now changes.'}`;
    },
  });
  if (!values) return;
  await attempt(() => operate(account, { refund: { target: { transactionId: values.id }, reason: values.reason, ...partOf(values.part) } }), `${page.name(byId.get(values.id).productId)} is refunded`);
}

async function raisePrice(page) {
  const t = heldOf(page)?.transaction;
  if (!t) return;
  const shown = (price) => (t.price && Number.isFinite(Number(price)) ? money({ ...t.price, milliunits: Number(price) * 1000 }) : price);
  const [, build, { fields }] = lineOperations.find(([each]) => each === 'Raise price…');
  const values = await ask('Raise price', fields.map((each) => ({ ...each, isMore: each.name === 'consent' })), {
    submit: 'Raise price', text: ({ price }) => (price ? `${page.who} pays ${shown(price)} for ${page.name(t.productId)} from the next renewal on. A large increase asks ${page.who} to agree, and ends the subscription without an agreement.` : ''),
  });
  if (values) await attempt(() => operate(page.account, build({ transactionId: t.id ?? '0' }, values)), `The price is raised to ${shown(values.price)}`);
}

/** The account that a text means: its own, or the only one that it is in other capitals. */
async function meant(text) {
  const { customers, problem } = await find(text);
  const isThere = customers.some((each) => each.account === text || each.name === text);
  // An account is found once for each of its names.
  const alike = new Set(customers.map((each) => each.account).filter((each) => each?.toLowerCase() === text.toLowerCase()));
  const isOther = !isThere && alike.size === 1;
  return { account: isOther ? [...alike][0] : text, isNew: !problem && !isThere && !isOther };
}

/** A purchase that landed at the wrong account goes to another one, or comes from there. */
async function move(page) {
  const originals = new Map(page.data.transactions.map(({ transaction: t }) => t).filter((t) => !isShared(t)).toSorted((a, b) => number(a.purchaseDateMs) - number(b.purchaseDateMs)).map((t) => [t.originalId ?? t.id ?? '0', t]));
  const own = distinct([...originals].map(([id, t]) => [id, `${page.name(t.productId)}, ${day(t.purchaseDateMs)}`]).toReversed());
  const values = await ask('Move a purchase', [
    ...(own.length ? [{ name: 'own', label: 'Which purchase', value: own[0][0], options: own }] : []),
    { name: 'id', label: 'By its original transaction', props: { inputmode: 'numeric', pattern: '[0-9]+' }, isMore: own.length > 0 },
    { name: 'to', label: 'To the account', value: own.length ? '' : page.account, required: true, suggest: accountsOf },
  ], {
    more: 'A purchase of another account', submit: 'Move', text: async ({ own: mine, id, to }) => {
      if (!to || !(id || mine)) return '';
      const { account, isNew } = await meant(to);
      const warning = isNew ? `There is no account ${to}: this creates it. ` : '';
      return warning + (id ? `Purchase ${id} with all of its renewals belongs to ${account} from now on, and the account that has it now loses it.`
        : `${page.name(originals.get(mine).productId)} with all of its renewals belongs to ${account} from now on, and ${page.who} loses it.`);
    },
  });
  const id = values?.id || values?.own;
  if (!id) return;
  const { account } = await meant(values.to);
  await attempt(() => session.perch.call('AdminService/MoveTransaction', { originalTransactionId: id, account }), `The purchase is moved to ${account}`);
}

async function erase({ account }) {
  const values = await ask(`Erase ${account}`, [{ name: 'typed', label: `Type ${account.replace(/[\r\n]/g, '')} to go on`, required: true }], {
    submit: 'Erase', danger: true, text: 'Everything that is known of this account is deleted: purchases, grants, history, names. It cannot be taken back. A subscription at Apple goes on, and its owner still pays.',
  });
  // A field has no line breaks.
  if (values && values.typed !== account.replace(/[\r\n]/g, '')) return toast('That is not the account’s name: nothing is erased', true);
  if (values) await attempt(() => session.perch.call('AdminService/EraseAccount', { account }), `${account} is erased`);
}

/** The account as the store has it now, with all of its history. */
async function save({ account }) {
  const { nextPageToken, transactions = [], ...rest } = await session.perch.call('AdminService/ExportAccount', { account });
  for (let pageToken = nextPageToken; pageToken;) {
    const answer = await session.perch.call('TransactionService/ListTransactions', { account, includeFinishedConsumables: true, pageSize: 500, pageToken });
    transactions.push(...(answer.transactions ?? []));
    pageToken = answer.nextPageToken;
  }
  const address = URL.createObjectURL(new Blob([JSON.stringify({ ...rest, transactions }, null, 2)], { type: 'application/json' }));
  h('a', { href: address, download: `${account}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Operations on the account itself. */
export function accountButtons(account, { charges, paymentsForbidden }) {
  const button = (label, action, danger) => h('button', { type: 'button', class: danger ? 'danger' : '', onclick: action }, label);
  const fail = charges === 'CHARGE_OUTCOME_FAIL';
  const run = (operation, said) => attempt(() => operate(account, operation), said);
  return [
    button('Redeem code…', async () => {
      const values = await ask('Redeem an offer code', [{ name: 'code', label: "A code, or the offer's reference name", required: true }, { name: 'productId', label: 'Product, where several have that code' }], { submit: 'Redeem', text: 'Each account redeems an offer once.' });
      if (values) await attempt(() => session.perch.call('TransactionService/RedeemOfferCode', { account, ...values }), (answer) => (answer.appliesAtRenewal ? 'Redeemed: it applies from the next period' : 'Redeemed'));
    }),
    button('Begin outside the app…', async () => {
      const values = await ask('Begin a purchase outside the app', [await productField()], { submit: 'Begin', text: 'Nothing is bought until the app buys it.' });
      if (values) await run({ createIntent: { productId: values.productId } }, 'The purchase intent waits');
    }),
    button('Restore', () => attempt(() => session.perch.call('TransactionService/Sync', { account }), 'Restored')),
    button(fail ? 'Charges succeed' : 'Charges fail', () => run({ setCharges: { outcome: fail ? 'CHARGE_OUTCOME_SUCCEED' : 'CHARGE_OUTCOME_FAIL' } }, fail ? 'Charges succeed from now on' : 'Charges fail from now on'), !fail),
    paymentsForbidden ? button('Allow payments', () => run({ setPayments: { allowed: true } }, 'Payments are allowed')) : button('Forbid payments…', async () => {
      if (await ask('Forbid payments', [], { submit: 'Forbid', danger: true, text: `Every purchase and every code of ${account} is refused, as by Screen Time. Renewals go on.` })) await run({ setPayments: { allowed: false } }, 'Payments are forbidden');
    }, true),
    button('Storefront…', async () => {
      const values = await ask('Storefront of the account', [{ name: 'storefront', label: "Country, such as DEU; empty: the app's", props: { maxlength: 3 } }]);
      if (values) await run({ setStorefront: { storefront: values.storefront.toUpperCase() } }, 'The storefront is set');
    }),
    button('Post message', () => run({ postMessage: {} }, 'The message is posted')),
    button('Clear transactions', async () => {
      if (await ask('Clear all transactions', [], { submit: 'Clear', danger: true, text: `All transactions and waiting purchases of ${account} will be gone.` })) await run({ clearTransactions: {} }, 'All transactions are gone');
    }, true),
    // Last, so that no button takes the place of another under the pointer.
    charges && charges !== 'CHARGE_OUTCOME_UNSPECIFIED' ? button('Charges as the app says', () => run({ setCharges: { outcome: 'CHARGE_OUTCOME_UNSPECIFIED' } }, 'Charges follow the setting of the app')) : null,
  ].filter(Boolean);
}

async function productField() {
  const { products, productIds } = await session.catalogue();
  const known = new Map(products.map((product) => [product.id, product]));
  const text = (id) => {
    const { displayName, displayPrice, subscription } = known.get(id) ?? {};
    return displayName ? `${displayName}, ${displayPrice ?? ''}${subscription?.period ? ` a ${period(subscription.period)}` : ''} (${id})` : id;
  };
  return { name: 'productId', label: 'Product', value: productIds[0] ?? '', options: productIds.map((id) => [id, text(id)]) };
}

/** The dialog of a purchase with all its options. */
export async function buy(account, productId) {
  const field = await productField().catch(() => ({ name: 'productId', label: 'Product', required: true }));
  if (productId) field.value = productId;
  const values = await ask(`Buy for ${account}`, [
    field,
    { isMore: true, name: 'offer', label: 'Offer', hint: 'identifier, or reference name of a code' },
    { isMore: true, name: 'offerType', label: 'Kind of offer', value: 'OFFER_TYPE_PROMOTIONAL', options: ['OFFER_TYPE_PROMOTIONAL', 'OFFER_TYPE_CODE', 'OFFER_TYPE_WIN_BACK'].map((each) => [each, word(each)]) },
    { isMore: true, name: 'introductoryEligibility', label: 'Introductory offer', value: 'INTRODUCTORY_ELIGIBILITY_UNSPECIFIED', options: [['INTRODUCTORY_ELIGIBILITY_UNSPECIFIED', 'by the history of the account'], ['INTRODUCTORY_ELIGIBILITY_ALLOWED', 'allowed'], ['INTRODUCTORY_ELIGIBILITY_DENIED', 'denied']] },
    { isMore: true, name: 'quantity', label: 'Quantity, of consumables', type: 'number', value: '1', props: { min: 1, max: 10 } },
    { isMore: true, name: 'billingPlan', label: 'Billing plan', value: 'BILLING_PLAN_TYPE_UNSPECIFIED', options: [['BILLING_PLAN_TYPE_UNSPECIFIED', "the product's"], ['BILLING_PLAN_TYPE_UP_FRONT', 'up front'], ['BILLING_PLAN_TYPE_MONTHLY', 'monthly, with a commitment']] },
    { isMore: true, name: 'appAccountToken', label: 'appAccountToken', hint: 'a UUID' },
    { isMore: true, name: 'daysAgo', label: 'Bought so many days ago', type: 'number', hint: 'now', props: { min: 0, step: 'any' } },
    { isMore: true, name: 'outside', label: 'Outside the app: the transaction arrives on its updates', type: 'check' },
    { isMore: true, name: 'asks', label: 'Ask to Buy: it waits for approval', type: 'check' },
  ], { submit: 'Buy', text: 'The test store is asked as the app asks it: where nothing waits or is refused, it is bought at once. No money moves.' });
  if (!values) return;
  const order = { productId: values.productId };
  if (Number(values.quantity) > 1) order.quantity = Number(values.quantity);
  if (values.offer) order.offer = { type: values.offerType, id: values.offer };
  if (!values.introductoryEligibility.endsWith('UNSPECIFIED')) order.introductoryEligibility = values.introductoryEligibility;
  if (!values.billingPlan.endsWith('UNSPECIFIED')) order.billingPlan = values.billingPlan;
  if (values.appAccountToken) order.appAccountToken = values.appAccountToken.trim();
  if (values.daysAgo) order.purchaseDateMs = String(Math.round(session.now() - Number(values.daysAgo) * 86_400_000));
  if (values.asks) order.simulatesAskToBuy = true;
  await purchase(account, order, values.outside);
}

export async function purchase(account, order, isOutside = false) {
  const said = (result, isHeld) => ({
    PURCHASE_RESULT_SUCCESS: isHeld ? 'It is held already; a change of plan waits for the renewal' : 'Bought', PURCHASE_RESULT_USER_CANCELLED: 'The customer cancelled',
    PURCHASE_RESULT_PENDING: 'The purchase waits for a decision',
  })[result] ?? 'Done';
  if (isOutside) return attempt(() => operate(account, { buy: order }), (answer) => said(answer.purchaseResult, answer.alreadyHeld));
  return attempt(() => session.perch.call('TransactionService/Purchase', { account, order }), (answer) => said(answer.result, answer.alreadyHeld));
}

export const decide = (account, number, approves) =>
  attempt(() => operate(account, { decidePurchase: { number, approves } }), approves ? 'Approved' : 'Declined');
export const endIntent = (account, number) => attempt(() => operate(account, { endIntent: { number } }), 'The intent is gone');

// Every operation of the transaction manager, each as a button with its options.
import { h, session, ask, attempt, word } from './kit.js';
import { PerchError } from './perch.js';

const operate = (account, operation) => session.perch.call('TestStoreService/Operate', { account, operation });

const milli = (text) => {
  const value = Math.round(Number(String(text).replace(',', '.')) * 1000);
  if (!Number.isFinite(value)) throw new PerchError('invalid_argument', `${text} is not a price`);
  return String(value);
};
const days = { name: 'days', label: 'Days', type: 'number', value: '30', props: { min: 1, max: 90, step: 'any' } };
const member = { name: 'member', label: "Member's account", required: true, hint: 'bob' };

/** Gives a named entitlement, whatever was bought. */
export async function grant(account) {
  const values = await ask('Grant an entitlement', [{ name: 'name', label: 'Name', required: true }, { name: 'days', label: 'Days; empty: without an end', type: 'number', props: { min: 0, step: 'any' } }, { name: 'reason', label: 'Reason, for the record' }], { submit: 'Grant' });
  if (!values) return;
  const { name, reason } = values;
  const end = values.days ? { untilMs: String(Math.round(session.now() + Number(values.days) * 86_400_000)) } : {};
  await attempt(() => session.perch.call('AdminService/GrantEntitlement', { account, name, reason, ...end }), `${name} is granted`);
}
export const endGrant = (account, name) => attempt(() => session.perch.call('AdminService/RevokeGrant', { account, name }), `The grant of ${name} has ended`);

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
    refund: { target, reason, ...(part ? { type: 'REVOCATION_TYPE_REFUND_PRORATED', percentageMilli: Math.round(Number(part) * 1000) } : { type: 'REVOCATION_TYPE_REFUND_FULL' }) },
  }), {
    danger: true, when: (row) => !row.isRevoked,
    fields: [{ name: 'reason', label: 'Reason', value: 'REVOCATION_REASON_OTHER', options: [['REVOCATION_REASON_OTHER', 'other'], ['REVOCATION_REASON_DEVELOPER_ISSUE', 'an issue with the app']] },
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
    charges && charges !== 'CHARGE_OUTCOME_UNSPECIFIED' ? button('Charges as the app says', () => run({ setCharges: { outcome: 'CHARGE_OUTCOME_UNSPECIFIED' } }, 'Charges follow the setting of the app')) : null,
    button(paymentsForbidden ? 'Allow payments' : 'Forbid payments', () => run({ setPayments: { allowed: !!paymentsForbidden } }, paymentsForbidden ? 'Payments are allowed' : 'Payments are forbidden, as by Screen Time'), !paymentsForbidden),
    button('Storefront…', async () => {
      const values = await ask('Storefront of the account', [{ name: 'storefront', label: "Country, such as DEU; empty: the app's", props: { maxlength: 3 } }]);
      if (values) await run({ setStorefront: { storefront: values.storefront.toUpperCase() } }, 'The storefront is set');
    }),
    button('Post message', () => run({ postMessage: {} }, 'The message is posted')),
    button('Clear transactions', async () => {
      if (await ask('Clear all transactions', [], { submit: 'Clear', danger: true, text: `All transactions and waiting purchases of ${account} will be gone.` })) await run({ clearTransactions: {} }, 'All transactions are gone');
    }, true),
  ].filter(Boolean);
}

async function productField() {
  const { products, productIds } = await session.catalogue();
  const names = new Map(products.map((product) => [product.id, product.displayName]));
  return { name: 'productId', label: 'Product', value: productIds[0] ?? '', options: productIds.map((id) => [id, names.get(id) ? `${names.get(id)} (${id})` : id]) };
}

/** The dialog of a purchase with all its options. */
export async function buy(account, productId) {
  const field = await productField().catch(() => ({ name: 'productId', label: 'Product', required: true }));
  if (productId) field.value = productId;
  const values = await ask(`Buy for ${account}`, [
    field,
    { name: 'offer', label: 'Offer', hint: 'identifier, or reference name of a code' },
    { name: 'offerType', label: 'Kind of offer', value: 'OFFER_TYPE_PROMOTIONAL', options: ['OFFER_TYPE_PROMOTIONAL', 'OFFER_TYPE_CODE', 'OFFER_TYPE_WIN_BACK'].map((each) => [each, word(each)]) },
    { name: 'introductoryEligibility', label: 'Introductory offer', value: 'INTRODUCTORY_ELIGIBILITY_UNSPECIFIED', options: [['INTRODUCTORY_ELIGIBILITY_UNSPECIFIED', 'by the history of the account'], ['INTRODUCTORY_ELIGIBILITY_ALLOWED', 'allowed'], ['INTRODUCTORY_ELIGIBILITY_DENIED', 'denied']] },
    { name: 'quantity', label: 'Quantity, of consumables', type: 'number', value: '1', props: { min: 1, max: 10 } },
    { name: 'billingPlan', label: 'Billing plan', value: 'BILLING_PLAN_TYPE_UNSPECIFIED', options: [['BILLING_PLAN_TYPE_UNSPECIFIED', "the product's"], ['BILLING_PLAN_TYPE_UP_FRONT', 'up front'], ['BILLING_PLAN_TYPE_MONTHLY', 'monthly, with a commitment']] },
    { name: 'appAccountToken', label: 'appAccountToken', hint: 'a UUID' },
    { name: 'daysAgo', label: 'Bought so many days ago', type: 'number', hint: 'now', props: { min: 0, step: 'any' } },
    { name: 'outside', label: 'Outside the app: the transaction arrives on its updates', type: 'check' },
    { name: 'asks', label: 'Ask to Buy: it waits for approval', type: 'check' },
  ], { submit: 'Buy' });
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

// Destination Video: two levels, monthly and yearly; win-back, billing issues, promoted purchases, a control of its own.
import { example, h } from './example.js';
import { manageSubscriptions, offerLine } from './store-subscription.js';
import { periodText, priceText } from './store.js';

const group = 'D0571A01';
const ids = ['video.premium.monthly', 'video.premium.yearly', 'video.basic.monthly', 'video.basic.yearly', 'video.postcard'];
const { app } = await example({ catalogue: 'destination-video.storekit', productIds: ids, images: [['D05711', 'destination-premium.png'], ['D05712', 'destination-basic.png']] });
const find = (id) => document.getElementById(id);
const day = (ms) => new Date(Number(ms)).toISOString().slice(0, 16).replace('T', ' ') + ' UTC';
const money = (price) => (price ? `${(Number(price.milliunits ?? 0) / 1000).toFixed(2)} ${price.currency}` : 'nothing');
let products = new Map();

// MARK: Option groups, in the form that the reader chooses

function groups() {
  const tell = (text) => h('div', { slot: 'marketing' }, h('h2', {}, text));
  const premium = h('perch-subscription-option-group', { label: 'Premium', level: '1' }, tell('Every destination, in 4K'));
  const basic = h('perch-subscription-option-group', { label: 'Basic', level: '2' }, tell('Every destination'));
  // Nested: premium has a group for each period.
  if (find('as').value === 'links') premium.append(h('perch-subscription-option-group', { label: 'Monthly', period: 'month' }, tell('Premium, month by month')), h('perch-subscription-option-group', { label: 'Yearly', period: 'year' }, tell('Premium, two months free')));
  const made = { level: [premium, basic], set: [h('perch-subscription-option-group-set', { by: 'level', labels: '1=Premium;2=Basic' })], period: [h('perch-subscription-option-group-set', { by: 'period' })] };
  find('store').replaceChildren(...made[find('by').value]);
  document.documentElement.lang = find('language').value;
  find('store').setAttribute('control-style', find('control').value);
  find('store').setAttribute('control-placement', find('placement').value);
  find('store').setAttribute('option-group-style', find('as').value);
}
for (const id of ['by', 'as', 'control', 'placement', 'language']) find(id).onchange = groups;
groups();

// MARK: A control of our own, from the same options

let chosen = '';
async function own() {
  const { options = [] } = await app.call('EntitlementService/ListPlanOptions', { groupId: group });
  find('own').replaceChildren(...options.map((option) => {
    const { product } = option;
    const isCurrent = option.relation === 'PLAN_RELATION_CURRENT';
    return h('label', {}, h('input', { type: 'radio', name: 'own', value: product.id, checked: product.id === chosen, disabled: isCurrent, onchange: () => { chosen = product.id; find('subscribe').disabled = false; } }),
      h('span', {}, h('b', {}, product.displayName), product.isFamilyShareable ? ' · for the family' : '', isCurrent ? ' · your plan' : '', h('br'), product.description), h('span', {}, offerLine(option)?.text ?? priceText('en', product.displayPrice, product.subscription.period)));
  }));
}
find('subscribe').onclick = () => app.purchase(products.get(chosen));

// MARK: Status, history, win-back

async function history() {
  const { transactions = [] } = await app.call('TransactionService/ListTransactions', { includeFinishedConsumables: find('finished').checked });
  find('history').replaceChildren(...transactions.reverse().slice(0, 8).map(({ transaction }) => h('li', {}, `${day(transaction.purchaseDateMs)} ${products.get(transaction.productId)?.displayName ?? transaction.productId}: ${money(transaction.price)}`)));
}
find('finished').onchange = () => history().catch(() => {});

app.storeProductsTask(ids, (state) => { products = new Map((state.success?.products ?? []).map((product) => [product.id, product])); own().catch(() => {}); });
let newest;
app.subscriptionStatusTask(group, async (state) => {
  if (!state.success) return;
  newest = state;
  const { statuses = [], effectiveIndex } = state.success;
  const effective = effectiveIndex === undefined ? null : statuses[effectiveIndex];
  const status = effective?.transaction.verificationError ? null : effective;
  const transaction = status?.transaction.transaction;
  const renewal = (status ?? statuses[0])?.renewalInfo.renewalInfo;
  find('plan').textContent = status ? products.get(transaction.productId)?.displayName ?? transaction.productId : 'No plan';
  find('detail').textContent = status ? `Paid ${money(transaction.price)}. ${renewal.willAutoRenew ? `Renews for ${money(renewal.renewalPrice)}, ` : 'Ends '}${day(transaction.expirationDateMs)}` : 'Choose a plan to watch.';
  find('manage').hidden = !status;
  await Promise.all([own(), history()]).catch(() => {});
  // Two states in a moment: the answers for the first may come last.
  if (newest !== state) return;
  // The best offer first.
  const [offerId] = renewal?.eligibleWinBackOfferIds ?? [];
  find('winback').hidden = !offerId;
  const product = [...products.values()].find((each) => each.subscription?.winBackOffers?.some(({ id }) => id === offerId));
  const offer = product?.subscription.winBackOffers.find(({ id }) => id === offerId);
  if (!offer) return;
  find('offers').textContent = `${product.displayName}: ${offer.paymentMode.endsWith('FREE_TRIAL') ? 'free' : offer.displayPrice} for ${periodText('en', offer.period, Number(offer.periodCount ?? 1))}. Offers for you, best first: ${renewal.eligibleWinBackOfferIds.join(', ')}.`;
  find('return').textContent = `Come back for ${offer.displayPrice}`;
  find('return').onclick = () => app.purchase(product, { offer: { type: 'OFFER_TYPE_WIN_BACK', id: offerId } });
});
find('manage').onclick = () => manageSubscriptions(app, group);

// MARK: Messages of the store: in the page, beside the store's own sheet. Purchases that began outside open the store's sheet

app.messages((state) => {
  const texts = { MESSAGE_REASON_BILLING_ISSUE: 'Your payment failed. Please check your payment method.', MESSAGE_REASON_PRICE_INCREASE_CONSENT: 'The price of your plan will rise. Do you agree?', MESSAGE_REASON_WIN_BACK_OFFER: 'We have an offer for you.', MESSAGE_REASON_GENERIC: 'The store has a message for you.' };
  if (state.success) find('messages').replaceChildren(...(state.success.messages ?? []).map((message) => h('p.note', {}, texts[message.reason] ?? message.reason)));
});
app.transactionUpdates(({ transaction }) => { (transaction && !transaction.verificationError ? app.finish(transaction.transaction) : Promise.resolve()).then(history).catch(() => {}); });

// Flower Movie+: one group with three plans.
import { example } from './example.js';
import { manageSubscriptions } from './store-subscription.js';

const group = '506F71A6';
const plans = { 'com.pass.monthly': 'Monthly', 'com.pass.quarterly': 'Quarterly', 'com.pass.yearly': 'Yearly' };
const { app } = await example({ catalogue: 'flower-movie.storekit', productIds: Object.keys(plans) });
const find = (id) => document.getElementById(id);
const day = (ms) => new Date(Number(ms)).toISOString().slice(0, 16).replace('T', ' ') + ' UTC';

app.subscriptionStatusTask(group, (state) => {
  // A failed load keeps the last good value, and says that it failed.
  find('failed').textContent = state.failure ? `This may be old: ${state.failure.message}` : '';
  const value = state.success ?? state.last;
  if (!value) return;
  // Perch says which status counts. It counts a grace period: the period is over, and the customer still watches.
  const effective = value.effectiveIndex === undefined ? null : value.statuses[value.effectiveIndex];
  // A transaction that is not verified opens nothing.
  const isUnverified = !!effective?.transaction.verificationError;
  const status = isUnverified ? null : effective;
  const transaction = status?.transaction.transaction;
  const renewal = status?.renewalInfo.renewalInfo;
  const wasSubscribed = find('act').dataset.subscribed === 'yes';
  find('act').disabled = false;
  find('act').dataset.subscribed = status ? 'yes' : 'no';
  find('act').textContent = status ? 'Handle subscription' : 'View options';
  find('plan').textContent = status ? plans[transaction.productId] : 'Not subscribed';
  const last = value.statuses?.[0];
  if (!status) {
    const why = { RENEWAL_STATE_EXPIRED: 'Your subscription ended.', RENEWAL_STATE_REVOKED: 'Your subscription was refunded.', RENEWAL_STATE_IN_BILLING_RETRY_PERIOD: 'Your payment failed.' }[last?.state];
    find('detail').textContent = isUnverified ? 'Your purchase could not be verified.' : why ?? 'Subscribe to watch every flower.';
  } else if (status.state === 'RENEWAL_STATE_IN_GRACE_PERIOD') {
    find('detail').textContent = `Your payment failed. You can watch until ${day(renewal.gracePeriodExpirationDateMs)}.`;
  } else {
    const next = renewal.autoRenewPreference && renewal.autoRenewPreference !== transaction.productId ? `, then ${plans[renewal.autoRenewPreference]}` : '';
    find('detail').textContent = `${renewal.willAutoRenew ? 'Renews' : 'Ends'} ${day(transaction.expirationDateMs)}${next}`;
  }
  if (status && !wasSubscribed && find('options').open) find('options').close();
});
find('act').onclick = () => (find('act').dataset.subscribed === 'yes' ? manageSubscriptions(app, group) : find('options').showModal());
// What could not be finished comes again as unfinished, so that a failure needs no word here.
app.transactionUpdates(({ transaction }) => { if (transaction && !transaction.verificationError) app.finish(transaction.transaction).catch(() => {}); });

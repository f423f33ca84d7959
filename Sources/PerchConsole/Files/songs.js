// Songs: three products that are bought once and owned until refunded.
import { example, h } from './example.js';

const covers = { 'com.meet.storekit.for.swiftui.cold.winter': 'snow', 'com.meet.storekit.for.swiftui.platinum.disco': 'disco', 'com.meet.storekit.for.swiftui.drunk': 'notes' };
const ids = Object.keys(covers);
const { app } = await example({ catalogue: 'songs.storekit', productIds: ids });
const titles = new Map();
const owned = new Map();

function show() {
  const songs = ids.filter((id) => owned.get(id));
  const isKnown = ids.every((id) => owned.has(id));
  document.getElementById('empty').textContent = songs.length ? '' : isKnown ? 'Your library is empty. Buy a song below.' : 'Your library is loading.';
  document.getElementById('library').replaceChildren(...songs.map((id) => h('li', {}, h('img.art', { src: new URL(`icons.svg#${covers[id]}`, import.meta.url), alt: '' }), ' ', h('b', {}, titles.get(id) ?? id))));
}

app.storeProductsTask(ids, (state) => {
  for (const product of state.success?.products ?? []) titles.set(product.id, product.displayName);
  show();
});
// A verified transaction that is not revoked entitles. The stream has what is owned now, and then each purchase, restore and refund,
// on this device or another.
for (const id of ids) {
  app.currentEntitlementTask(id, (state) => {
    if (!state.success) return;
    const { transaction } = state.success;
    if (transaction?.verificationError) console.info('a transaction that is not verified is ignored', id);
    owned.set(id, !!transaction && !transaction.verificationError && !transaction.transaction.revocation);
    show();
  });
}
// What could not be finished comes again as unfinished, so that a failure needs no word here.
app.transactionUpdates(({ transaction }) => { if (transaction && !transaction.verificationError) app.finish(transaction.transaction).catch(() => {}); });
app.addEventListener('inapppurchasecompletion', ({ detail }) => { if (detail.result === 'success' && detail.isVerified) app.finish(detail.transaction).catch(() => {}); });

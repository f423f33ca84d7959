// Backyard Birds: food that is used up, and a pass with three levels of service.
import { example, h } from './example.js';
import { manageSubscriptions } from './store-subscription.js';

const group = '6F3A93AB';
const food = { 'pellet.single': ['pellets', 1], 'pellet.box': ['pellets', 5], 'acorns.individual': ['acorns', 1], 'acorns.collection': ['acorns', 5], 'nectar.cup': ['nectar', 1], 'nectar.bottle': ['nectar', 5] };
const names = { 'pass.individual': 'Individual', 'pass.family': 'Family', 'pass.premium': 'Premium' };
const { app } = await example({ catalogue: 'backyard-birds.storekit', productIds: ['pellet.box', 'pass.individual'] });
const find = (id) => document.getElementById(id);

// MARK: The inventory: each transaction counts once, also after a restart in between

const key = `birds:${app.account}`;
const inventory = () => JSON.parse(localStorage.getItem(key) ?? '{"pellets":0,"acorns":0,"nectar":0,"delivered":[]}');
function show() { for (const name of ['pellets', 'acorns', 'nectar']) find(name).textContent = inventory()[name]; }

async function deliver(transaction) {
  const [what, count] = food[transaction.productId] ?? [];
  const all = inventory();
  const id = transaction.id ?? '0';
  if (what && !transaction.revocation && !all.delivered.includes(id)) {
    all[what] += count * (transaction.purchasedQuantity ?? 1);
    all.delivered.push(id);
    // Amount and transaction are written together.
    localStorage.setItem(key, JSON.stringify(all));
  }
  show();
  // If this fails, the transaction comes again as unfinished, and is known as delivered.
  await app.finish(transaction).catch(() => {});
}

app.addEventListener('inapppurchasestart', () => find('shop').classList.add('dim'));
app.addEventListener('inapppurchasecompletion', async ({ detail }) => {
  find('shop').classList.remove('dim');
  if (detail.result === 'success' && detail.isVerified) await deliver(detail.transaction);
});
// What was bought elsewhere, and what was unfinished when the page was closed.
app.transactionUpdates(({ transaction }) => { if (transaction && !transaction.verificationError && food[transaction.transaction.productId]) deliver(transaction.transaction); });
show();

// MARK: The pass

app.subscriptionStatusTask(group, (state) => {
  if (!state.success) return;
  const { statuses = [], effectiveIndex } = state.success;
  // The highest level of service counts, own or shared by the family.
  const effective = effectiveIndex === undefined ? null : statuses[effectiveIndex];
  // A transaction that is not verified opens nothing.
  const best = effective?.transaction.verificationError ? null : effective;
  const transaction = best?.transaction.transaction;
  const wasHidden = find('card').hidden;
  find('card').hidden = !!best;
  find('pass').hidden = !best;
  if (best && !wasHidden && find('plans').open) find('plans').close();
  if (!transaction) return;
  if (find('plans').open && find('level').textContent !== names[transaction.productId]) find('plans').close();
  find('level').textContent = names[transaction.productId] ?? transaction.productId;
  find('until').textContent = `until ${new Date(Number(transaction.expirationDateMs)).toISOString().slice(0, 16).replace('T', ' ')} UTC` + (transaction.ownershipType === 'OWNERSHIP_TYPE_FAMILY_SHARED' ? ', shared by your family' : '');
  // Only who is below the top is offered more.
  find('upgrade').hidden = transaction.productId === 'pass.premium';
});
find('view-plans').onclick = () => find('plans').showModal();
find('upgrade').onclick = () => find('plans').showModal();
find('manage').onclick = () => manageSubscriptions(app, group);
app.addEventListener('signin', async () => {
  const dialog = h('dialog.manage', { 'aria-label': 'Sign in' });
  const input = h('input', { 'aria-label': 'Account that bought the pass elsewhere' });
  dialog.append(h('h2', {}, 'Sign in'), h('p', {}, 'Your pass was bought elsewhere: the account that holds it.'), input, h('div.end', {}, h('button.main', { onclick: () => { localStorage.setItem('perch-example-account', input.value || app.account); location.reload(); } }, 'Sign in')));
  app.append(dialog);
  dialog.showModal();
});

// What the example applications share: who the customer is, and the catalogue that they need.
import './perch-views.js';
import { PerchApp, h } from './store.js';

/** The customer, the link to the console, and an offer to load the example's catalogue where the app has another. */
export async function example({ catalogue, productIds, images = [] }) {
  const app = document.querySelector('perch-app');
  const said = h('span.soft', { role: 'status' });
  const name = h('input', { value: app.account, 'aria-label': 'Account', onchange: () => { if (name.value) { localStorage.setItem('perch-example-account', name.value); location.reload(); } } });
  document.body.prepend(h('nav.strip', { 'aria-label': 'Example' }, h('b', {}, 'Perch example'), h('label', {}, 'You are ', name), h('span.space'), said,
    h('a', { href: `/console/#/account/${encodeURIComponent(app.account)}` }, 'This account in the console'), h('a', { href: '/console/#/clock' }, 'Clock')));
  app.perch.addEventListener('offline', () => { said.textContent = 'The server does not answer.'; });
  app.perch.addEventListener('online', () => { said.textContent = ''; });
  const end = app.storeProductsTask(productIds, (state) => {
    document.querySelector('.needs')?.remove();
    if (!state.success || (state.success.products ?? []).length) return;
    const load = async () => {
      try {
        const file = (name) => fetch(new URL(name, import.meta.url)).then((answer) => answer.arrayBuffer()).then(base64);
        const pictures = await Promise.all(images.map(async ([id, path]) => ({ id, content: await file(path) })));
        await app.perch.call('AdminService/LoadCatalog', { file: await file(catalogue), source: catalogue, images: pictures });
        // Purchases happen at once, whatever the file says of dialogs.
        await app.perch.call('TestStoreService/Configure', { settings: [{ dialogs: false }] });
      } catch (error) { said.textContent = error.message; }
    };
    document.querySelector('.app').prepend(h('p.note.needs', {}, 'The app of this server has another catalogue. ', h('button', { onclick: load }, 'Load this example’s catalogue'), ' It replaces the app’s own until the server reads its file again.'));
  });
  return { app, end };
}

function base64(buffer) {
  let text = '';
  for (const byte of new Uint8Array(buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}

// Before the views begin, the customer is the one of the last visit.
document.querySelector('perch-app').setAttribute('account', localStorage.getItem('perch-example-account') ?? 'me');
export { PerchApp, h };

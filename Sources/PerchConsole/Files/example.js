// What the example applications share: who the customer is, and an app of their own in the server's memory.
import './perch-views.js';
import { PerchApp, h } from './store.js';

/** The customer, the link to the console, and the example's catalogue: the first visit loads it, and it is gone with the server. */
export async function example({ catalogue, productIds, images = [] }) {
  const app = document.querySelector('perch-app');
  const console = `/console/?app=${encodeURIComponent(app.getAttribute('app-bundle-id'))}#/`;
  const said = h('span.soft', { role: 'status' });
  const name = h('input', { value: app.account, 'aria-label': 'Account', onchange: () => { if (name.value) { localStorage.setItem('perch-example-account', name.value); location.reload(); } } });
  document.body.prepend(h('nav.strip', { 'aria-label': 'Example' }, h('b', {}, 'Perch example'), h('label', {}, 'You are ', name), h('span.space'), said,
    h('a', { href: `${console}account/${encodeURIComponent(app.account)}` }, 'This account in the console'), h('a', { href: `${console}clock` }, 'Clock')));
  app.perch.addEventListener('offline', () => { said.textContent = 'The server does not answer.'; });
  app.perch.addEventListener('online', () => { said.textContent = ''; });
  let loading;
  const load = () => (loading ??= (async () => {
    try {
      const file = (name) => fetch(new URL(name, import.meta.url)).then((answer) => answer.arrayBuffer()).then(base64);
      const pictures = await Promise.all(images.map(async ([id, path]) => ({ id, content: await file(path) })));
      await app.perch.call('AdminService/LoadCatalog', { file: await file(catalogue), source: catalogue, images: pictures });
      app.perch.retry();
    } catch (error) { said.textContent = `This example has no app here: ${error.message}`; }
    loading = null;
  })());
  // A server that was started again has forgotten it.
  app.perch.addEventListener('refused', ({ detail }) => { if (detail.reason === 'APP_UNKNOWN') load(); });
  try { await app.perch.call('EntitlementService/GetProducts', { productIds }); } catch (error) { if (error.reason === 'APP_UNKNOWN') await load(); }
  return { app };
}

function base64(buffer) {
  let text = '';
  for (const byte of new Uint8Array(buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}

// Before the views begin, the customer is the one of the last visit.
document.querySelector('perch-app').setAttribute('account', localStorage.getItem('perch-example-account') ?? 'me');
export { PerchApp, h };

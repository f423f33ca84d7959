// The box on every page that finds anybody, by any name: FindCustomers looks them up while a person types.
import { h, session, accountLink, rich } from './kit.js';

const kinds = { ALIAS: 'also called', EMAIL_HASH: 'e-mail', TRANSACTION: 'transaction', ORIGINAL_TRANSACTION: 'purchase', ORDER: 'order', APP_ACCOUNT_TOKEN: 'appAccountToken', APP_TRANSACTION: 'customer number' };
const kindOf = ({ kind = '' }) => kind.replace('CUSTOMER_NAME_KIND_', '');

/** Asks whose a text is: `customers`, or `problem` where it could not be asked. */
export async function find(text, signal, request = {}) {
  try {
    return { text, customers: [], ...await session.perch.call('AdminService/FindCustomers', { text, pageSize: 8, ...request }, { signal, timeoutMs: 5_000 }) };
  } catch (error) {
    return { text, customers: [], problem: error.message };
  }
}

/** Accounts that a text may mean. */
export const accountsOf = async (text) => (await find(text)).customers.map((each) => each.account).filter(Boolean);

/** Other names than the key of an account. */
export const otherKinds = Object.keys(kinds).map((kind) => `CUSTOMER_NAME_KIND_${kind}`);

/** @returns {HTMLElement} a search box with what it found below it, while a person types. */
export function finder({ label = 'Find anybody' } = {}) {
  const answers = h('div.found', { hidden: true, role: 'status' });
  let asking = new AbortController(), timer;
  const show = (...lines) => {
    answers.hidden = !lines.length;
    answers.replaceChildren(...lines);
  };
  const close = () => { asking.abort(); clearTimeout(timer); show(); };
  // A customer whom nobody knows may be opened, and Enter does not do it.
  const anyway = (account) => Object.assign(h('a', { href: accountLink(account), onclick: () => { input.value = ''; close(); } }, `Open “${account}”`), { isGuess: true });
  const open = (account, about = '', detail = '') => h('a', { href: accountLink(account, detail), onclick: () => { input.value = ''; close(); } }, h('b', {}, account), about ? h('span.soft', {}, ` ${about}`) : '');
  const line = (text) => (each) => {
    const kind = kindOf(each);
    if (each.unclaimed) return h('p', {}, `The App Store reported ${each.name || text}, and no account has claimed it.`);
    const isPurchase = kind === 'ORDER' || /TRANSACTION$/.test(kind) && kind !== 'APP_TRANSACTION';
    return open(each.account, kind === 'ACCOUNT' ? (each.account === text ? 'an account of this name' : '') : `has ${kinds[kind] ?? ''} ${each.name}`, isPurchase && kind === 'TRANSACTION' ? text : '');
  };
  const ask = async (text) => {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const { customers, hasMore, problem } = await find(text, signal);
    if (signal.aborted) return [];
    const lines = customers.map(line(text));
    if (problem) lines.push(h('p', {}, ...rich(`Whose ${text} is could not be asked: ${problem}.`)), anyway(text));
    else if (!lines.length) lines.push(h('p', {}, `Nobody is known by ${text}. Try an order, a transaction or an e-mail address. `), anyway(text));
    if (hasMore) lines.push(h('p.soft', {}, 'There are more: go on typing.'));
    show(...lines);
    return lines;
  };
  const input = h('input', {
    type: 'search', 'aria-label': label, placeholder: label === 'Find anybody' ? `${label} ( / )` : label, title: 'account, e-mail address, order, transaction, appAccountToken or customer number', autocomplete: 'off', spellcheck: 'false',
    oninput: () => {
      const text = input.value.trim();
      close();
      if (text) timer = setTimeout(() => ask(text), 200);
    },
    onkeydown: (event) => {
      if (event.key === 'Escape') { input.value = ''; close(); }
      if (event.key === 'ArrowDown') { event.preventDefault(); answers.querySelector('a')?.focus(); }
    },
  });
  answers.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
    if (!step) return;
    event.preventDefault();
    (event.target[step] ?? input).focus();
  });
  return h('form.find', {
    role: 'search', onsubmit: async (event) => {
      event.preventDefault();
      const text = input.value.trim();
      clearTimeout(timer);
      const link = text ? (await ask(text)).find((each) => each.tagName === 'A' && !each.isGuess) : null;
      if (link) { input.value = ''; link.click(); }
    },
    onfocusout: (event) => { if (!event.currentTarget.contains(event.relatedTarget)) setTimeout(() => { if (!answers.matches(':hover')) show(); }, 150); },
  }, input, answers);
}

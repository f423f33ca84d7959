// The box on every page that finds anybody: by the account's key, and by what FindAccount knows.
import { h, session, accountLink, rich } from './kit.js';

/** The calls that may know whose a text is. A number is a transaction, or else a customer's number at Apple. */
export function questions(text) {
  if (/^\d{1,20}$/.test(text)) return [{ transactionId: text }, { appTransactionId: text }];
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text) ? [{ appAccountToken: text }] : [];
}

/** Asks whose a text is: `account`, `unclaimed`, or `problem` where it could not be asked. */
export async function find(text, signal) {
  const found = { text };
  if (!questions(text).length) return found;
  if (!session.allows('admin')) return { ...found, problem: 'a token with the scope `admin` is needed' };
  for (const question of questions(text)) {
    try {
      return Object.assign(found, await session.perch.call('AdminService/FindAccount', question, { signal, timeoutMs: 5_000 }));
    } catch (error) {
      if (error.reason !== 'ACCOUNT_UNKNOWN') return { ...found, problem: error.message };
    }
  }
  return found;
}

/** Whether an account has this key: it has bought something, or holds something by name. */
async function exists(account, signal) {
  const [{ transactions = [] }, named] = await Promise.all([
    session.perch.call('TransactionService/ListTransactions', { account, includeFinishedConsumables: true, pageSize: 1 }, { signal }),
    session.perch.call('EntitlementService/GetEntitlements', { account }, { signal }),
  ]);
  return transactions.length > 0 || (named.success?.entitlements ?? named.entitlements ?? []).some((each) => each.active || each.sinceMs);
}

/** @returns {HTMLElement} a search box with what it found below it, while a person types. */
export function finder({ label = 'Find anybody' } = {}) {
  const answers = h('div.found', { hidden: true, role: 'status' });
  let asking = new AbortController(), timer;
  const show = (...lines) => {
    answers.hidden = !lines.length;
    answers.replaceChildren(...lines);
  };
  const close = () => { asking.abort(); clearTimeout(timer); show(); };
  const open = (account, about = '') => h('a', { href: accountLink(account), onclick: () => { input.value = ''; close(); } }, h('b', {}, account), about ? h('span.soft', {}, ` ${about}`) : '');
  const ask = async (text) => {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    let problem = '';
    const failed = (error) => { problem = error.message; return {}; };
    const [found, there] = await Promise.all([find(text, signal).catch(failed), exists(text, signal).catch(failed)]);
    if (signal.aborted) return [];
    const lines = [];
    if (there === true) lines.push(open(text, 'an account with this key'));
    if (found.account && found.account !== text) lines.push(open(found.account, `has ${text}`));
    if (found.unclaimed) lines.push(h('p', {}, `The App Store reported ${text}, and no account has claimed it.`));
    if (found.problem) lines.push(h('p', {}, ...rich(`Whose ${text} is could not be asked: ${found.problem}.`)));
    if (problem) lines.push(h('p', {}, `Whether ${text} is an account could not be asked: ${problem}.`), open(text, 'open it anyway'));
    if (!lines.length) lines.push(h('p', {}, `Nobody is known by ${text}. `), open(text, 'open it anyway'));
    show(...lines);
    return lines;
  };
  const input = h('input', {
    type: 'search', 'aria-label': label, placeholder: label === 'Find anybody' ? `${label} ( / )` : label, title: 'account, transaction, appAccountToken or app transaction', autocomplete: 'off', spellcheck: 'false',
    oninput: () => {
      const text = input.value.trim();
      close();
      if (text) timer = setTimeout(() => ask(text), 200);
    },
    onkeydown: (event) => {
      if (event.key === 'Escape') { input.value = ''; close(); }
      if (event.key === 'ArrowDown') answers.querySelector('a')?.focus();
    },
  });
  return h('form.find', {
    role: 'search', onsubmit: async (event) => {
      event.preventDefault();
      const text = input.value.trim();
      clearTimeout(timer);
      const link = text ? (await ask(text)).find((each) => each.tagName === 'A' && !each.textContent.includes('anyway')) : null;
      if (link) { input.value = ''; link.click(); }
    },
    onfocusout: (event) => { if (!event.currentTarget.contains(event.relatedTarget)) setTimeout(() => { if (!answers.matches(':hover')) show(); }, 150); },
  }, input, answers);
}

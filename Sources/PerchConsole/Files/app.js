// The frame of the console: the app, the clock, the pages.
import { h, session, toast, attempt, instant, utc, zone, Page, rich } from './kit.js';
import { finder } from './find.js';
import { recorder } from './record.js';
import './accounts.js';
import './account.js';
import './clock.js';
import './products.js';
import './settings.js';
import './live.js';
import './incoming.js';
import './audit.js';

const pages = [
  ['', [['accounts', 'Accounts']], () => true],
  ['Catalogue', [['products', 'Products']], () => session.allows('admin')],
  ['Test store', [['clock', 'Clock'], ['settings', 'Failures and settings'], ['record', 'Record']], () => session.isTest && session.allows('test')],
  ['Server', [['live', 'Live'], ['incoming', 'Incoming'], ['audit', 'Audit']], () => session.allows('admin')],
  ['Examples', [['birds', 'Backyard Birds'], ['songs', 'Songs'], ['movie', 'Flower Movie+'], ['destination', 'Destination Video']], () => session.allows('admin')],
];

class PerchConsole extends Page {
  async open() {
    await this.#exchange();
    this.#frame();
    this.on(window, 'hashchange', () => this.#route());
    this.on(session, 'app', () => this.#showApps());
    this.on(session, 'clock', () => this.#showClock());
    this.on(session, 'access', () => this.#route());
    // `/` goes to the box that finds anybody, except where a person writes.
    this.on(window, 'keydown', (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, select, textarea, dialog')) return;
      event.preventDefault();
      this.find.querySelector('input').select();
    });
    this.on(session.perch, 'online', () => { this.offline.hidden = true; session.readClock(); });
    this.on(session.perch, 'offline', () => { this.offline.hidden = false; });
    recorder.listen(session.perch);
    try { await session.begin(); } catch (error) { toast(error.message, true); }
    this.#route();
    const tick = setInterval(() => this.#showClock(), 250);
    this.until(() => clearInterval(tick));
  }

  /** A code in the fragment, from `perch console`, becomes a session. It is out of the address at once. */
  async #exchange() {
    const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
    if (!code) return;
    history.replaceState(null, '', location.pathname);
    // The code is the only credential: an old token of this window would be refused with it.
    session.token = '';
    const answer = await attempt(() => session.perch.call('AdminService/RedeemConsoleCode', { code }));
    if (answer?.token) await session.signIn(answer.token);
  }

  #frame() {
    this.apps = h('select', { 'aria-label': 'App', onchange: () => { session.choose(session.apps[this.apps.selectedIndex]); this.#route(true); } });
    this.clock = h('a.chip', { href: '#/clock', 'aria-label': 'Clock of the app' });
    this.recording = h('a.chip', { href: '#/record', hidden: true }, h('span.badge.bad', {}, 'recording'));
    this.on(recorder, 'line', () => this.#showRecording());
    this.#showRecording();
    this.offline = h('div.offline', { role: 'status', hidden: true }, 'The server does not answer. What you see is the last that was known; it comes back by itself.');
    this.find = finder();
    this.who = h('span.who', { title: 'Who is signed in, and the scope of the token' });
    this.signOut = h('button', { onclick: () => session.signOut(), hidden: !session.token }, 'Sign out');
    // A page that the token may not use is in no way of who answers customers.
    this.nav = h('nav.pages', { 'aria-label': 'Pages' }, pages.map(([title, items]) => h('div', {}, title ? h('h2', {}, title) : null,
      h('ul', {}, items.map(([name, label]) => h('li', {}, h('a', { href: title === 'Examples' ? `/console/examples/${name}.html` : '#/' + name }, label)))))));
    this.main = h('main', { id: 'main', tabindex: '-1' });
    this.replaceChildren(
      h('a.skip', { href: '#main', onclick: (event) => { event.preventDefault(); this.main.focus(); } }, 'Skip to the page'),
      h('header.top', {}, h('a.brand', { href: '#/accounts' }, h('img', { src: new URL('icon.svg', import.meta.url), alt: '' }), 'Perch'),
        this.apps, this.find, h('span.space'), this.recording, this.clock, this.who, this.signOut),
      this.offline, h('div.frame', {}, this.nav, this.main));
    this.#showApps();
  }

  #showApps() {
    this.apps.replaceChildren(...session.apps.map((app) => h('option', { selected: app === session.app }, session.nameOf(app))));
    this.apps.hidden = session.apps.length === 0;
    this.signOut.hidden = !session.token;
    this.who.textContent = session.who;
    this.find.hidden = !!(session.needsToken || session.claims.account);
    pages.forEach(([, , isUseful], at) => { this.nav.children[at].hidden = !!session.needsToken || !isUseful(); });
  }

  #showRecording() { this.recording.hidden = !recorder.isOn; }

  #showClock() {
    this.clock.hidden = !session.clock;
    if (!session.clock) return;
    const text = `${instant(session.now())} ${zone(session.now())}`;
    if (this.clock.dataset.text === text + session.clock.frozen) return;
    this.clock.dataset.text = text + session.clock.frozen;
    this.clock.title = utc(session.now());
    this.clock.replaceChildren(session.clock.frozen ? h('span.badge.warn', {}, 'frozen') : '', h('span', {}, 'Test clock '), h('b', {}, text));
  }

  #route(again = false) {
    const [, name = 'accounts', argument = '', detail = ''] = location.hash.split('?')[0].split('/');
    this.#showApps();
    if (session.needsToken) return this.#show('perch-sign-in', '', '');
    const known = customElements.get(`perch-${name}-page`) ? name : 'accounts';
    for (const link of this.nav.querySelectorAll('a')) {
      const isHere = link.getAttribute('href') === '#/' + (known === 'account' ? 'accounts' : known);
      if (isHere) { link.setAttribute('aria-current', 'page'); link.scrollIntoView({ block: 'nearest', inline: 'center' }); } else link.removeAttribute('aria-current');
    }
    let account = '';
    try { account = decodeURIComponent(argument); } catch { account = argument; }
    this.#show(`perch-${known}-page`, account, detail, again);
  }

  #show(tag, argument, detail, again) {
    const key = [tag, argument, session.token].join('\n');
    const page = document.createElement(tag);
    if (this.shown === key && !again) return this.main.firstChild.go?.(detail);
    const isFirst = !this.shown;
    // A question of the page before is not one of this page.
    for (const dialog of document.querySelectorAll('dialog[open]')) dialog.dispatchEvent(new Event('cancel'));
    this.shown = key;
    page.argument = argument;
    page.detail = detail;
    this.main.replaceChildren(page);
    const title = page.querySelector('h1')?.textContent ?? 'Perch';
    document.title = title === 'Perch' ? title : `${title} · Perch`;
    if (!isFirst) this.main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

class SignIn extends Page {
  open() {
    const token = h('textarea', { rows: 4, required: true, spellcheck: 'false', autocomplete: 'off', name: 'token' });
    this.append(h('h1', {}, 'Sign in'),
      h('p.what', {}, rich('This server asks callers for a token. `perch token create` makes one, and `perch console` opens this page with it.')),
      h('form.card', { onsubmit: async (event) => {
        event.preventDefault();
        if (await attempt(() => session.signIn(token.value)) === null) return;
        if (session.needsToken) toast('the server refuses this token', true);
        session.dispatchEvent(new Event('access'));
      } }, h('label.field', {}, 'Token', token),
      h('p.what', {}, 'It is kept for this window until it closes.'), h('div.bar', {}, h('button.primary', {}, 'Sign in'))));
    token.focus();
  }
}

customElements.define('perch-sign-in', SignIn);
customElements.define('perch-console', PerchConsole);

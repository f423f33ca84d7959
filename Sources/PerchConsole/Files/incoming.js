// What came from Apple, and what was refused.
import { h, session, Page, missing, instant, day, utc, zone, number, attempt, money, rich, copyable, accountLink, payloadOf } from './kit.js';

/** A page of the server's own: read again when the stream is at another revision, where the token has the scope. */
export class ServerPage extends Page {
  begin(title, about) {
    this.append(h('h1', {}, title), h('p.what', {}, rich(about)), (this.place = h('div')));
    if (!session.allows('admin')) return this.place.append(missing('Your token does not have the scope `admin` of the server, which this page needs.'));
    const read = () => this.read().catch((error) => { if (!this.key) this.place.replaceChildren(missing(error.message)); });
    return this.follow(read, 500);
  }
  /** Draws what has changed. */
  show(value, draw) {
    const key = JSON.stringify(value);
    if (key !== this.key && !this.ended) this.place.replaceChildren(...draw());
    this.key = key;
  }
  table(name, head, rows) {
    return h('section.card', { 'aria-label': name }, h('h2', {}, name), h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': name }, h('table.wide.stack', {}, h('thead', {}, h('tr', {}, head.map((each) => h('th', { scope: 'col' }, each)))),
      h('tbody', {}, rows.map((cells) => h('tr', {}, cells.map((each, at) => h(at ? 'td.wholly' : 'td', {}, each))))))));
  }
}

/** A signed value, and the signed values in it, as what they say. Instants are readable. */
function decoded(text) {
  return payloadOf(text, (name, value) => {
    if (/^ey[\w-]+\.[\w-]+\.[\w-]+$/.test(value)) return decoded(value);
    return /date$/i.test(name) && Number.isInteger(value) ? `${instant(value)} ${zone(value)}, ${value}` : value;
  });
}

/** What the fold made of the values of a notification. */
function decision({ newsCount = 0, staleCount = 0, duplicateCount = 0 }) {
  const parts = [[newsCount, 'new'], [staleCount, 'older than what was known'], [duplicateCount, 'known before']].filter(([count]) => count);
  return parts.length ? parts.map(([count, what]) => `${count === 1 ? '1 value' : `${count} values`} ${what}`).join(', ') : 'no purchase in it';
}

class IncomingPage extends ServerPage {
  open() {
    this.opened = new Set();
    this.payloads = new Map();
    this.begin('Incoming', 'What the App Store reports: what needs somebody, then each notification with what it says and what became of it.');
  }

  async read() {
    const [status, answer, { notifications = [] }] = await Promise.all([
      session.perch.call('AdminService/GetServerStatus'), session.perch.call('AdminService/ListDeadLetters', { pageSize: 100 }), session.perch.call('AdminService/ListNotifications', { pageSize: 200 })]);
    const figures = (status.metrics ?? []).filter(({ name }) => name.startsWith('perch_apple_') || name === 'perch_unclaimed_purchases' || name === 'perch_overdue_subscriptions');
    // A test app has none of these, and of more than a page nobody may say that there are none.
    const needy = await session.perch.call('AdminService/ListUnclaimed', { pageSize: 500 }).then(({ purchases = [], nextPageToken }) => (purchases.length || !nextPageToken ? purchases : null), () => null);
    const letters = answer.deadLetters ?? [];
    const takesReports = figures.some(({ name }) => name.startsWith('perch_apple_') && !/(refused|stray_requests)_total$/.test(name));
    this.show([figures, letters, needy, notifications], () => (takesReports || letters.length ? [
      letters.length ? this.#list('Dead letters', letters, (each) => this.#letter(each)) : h('p.what', {}, 'No dead letters: every notification was taken.'),
      !needy ? '' : needy.length ? this.table('Purchases that need somebody', ['Original', 'Product', 'Why', 'Names that were reported', 'Bought'], needy.map((each) => [
        each.originalTransactionId, each.productId ?? '', [each.unclaimed ? 'no account that is known has it' : ['of ', h('a', { href: accountLink(each.account) }, each.account)], each.overdue ? '; its renewal was never reported' : ''],
        [...(each.appAccountTokens ?? []).map((token) => `token ${token}`), ...(each.appTransactionIds ?? []).map((id) => `app transaction ${id}`)].join(', '), instant(each.originalPurchaseDateMs)]))
        : h('p.what', {}, 'Every purchase belongs to an account.'),
      ...this.#received(notifications.toReversed()),
      h('details.more', { open: this.opened.has('figures'), ontoggle: ({ target }) => this.#keep('figures', target.open) }, h('summary', {}, 'Figures'),
        h('div.tiles', {}, figures.map((each) => h('div.tile', {}, h('b', {}, number(each.value).toLocaleString('en')), h('span', {}, each.help, ' ', h('code', {}, each.labels ?? ''))))))]
      : [missing('This server takes no reports: `--apple-apps` names the apps of the App Store.')]));
    this.#seek(notifications);
  }

  /** The notifications of the chosen app. */
  #received(all) {
    const own = all.filter((each) => each.bundleId === session.app?.bundleId);
    const isOf = session.app?.environment === 'ENVIRONMENT_SANDBOX' ? own : [];
    const others = all.length - isOf.length;
    return [
      isOf.length ? this.#list('Notifications', isOf, (each) => this.#notification(each)) : h('p.what', {}, session.isTest
        ? rich('The App Store sends nothing for a test app. What it would send goes to your backend: `perch serve` with `--twin-notify`.') : 'No notification of this app is kept: none has come, or it is of production, whose notifications are counted alone.'),
      others ? h('p.what', {}, `${others} of other apps ${others === 1 ? 'is' : 'are'} not shown: choose the app above.`) : ''];
  }

  /** Opens the newest notification about a transaction that the address names, such as the refund of a customer's page. */
  async #seek(notifications) {
    const wanted = this.argument;
    this.argument = '';
    if (!wanted) return;
    for (const each of notifications.toReversed()) {
      const { signedPayload } = await session.perch.call('AdminService/GetSignedPayload', { id: each.id }).catch(() => ({}));
      if (!signedPayload || this.ended || decoded(signedPayload).data?.signedTransactionInfo?.transactionId !== wanted) continue;
      this.#keep(each.id, true);
      this.key = '';
      await this.read();
      return this.querySelector(`[data-id="${CSS.escape(each.id)}"]`)?.scrollIntoView();
    }
    this.place.prepend(h('p.note', {}, `No notification about transaction ${wanted} is kept.`));
  }

  #keep(id, isOpen) { if (isOpen) this.opened.add(id); else this.opened.delete(id); }

  #list(name, all, make) { return h('section.card', { 'aria-label': name }, h('h2', {}, name), h('ul.mail', {}, all.map((each) => h('li', {}, make(each))))); }

  /** One line, and one click away all that it says. */
  #item(each, head, more) {
    const place = h('div');
    const fill = async () => {
      if (!this.payloads.has(each.id)) this.payloads.set(each.id, session.perch.call('AdminService/GetSignedPayload', { id: each.id }).then(({ signedPayload }) => signedPayload));
      try {
        const jws = await this.payloads.get(each.id);
        const payload = decoded(jws);
        place.replaceChildren(...more(jws, payload), h('h3', {}, 'What it says'), h('pre', { tabindex: '0' }, JSON.stringify(payload, null, 2)),
          h('details.more', {}, h('summary', {}, 'As it was signed'), copyable(jws, `${jws.length.toLocaleString('en')} characters`), h('pre', { tabindex: '0' }, jws)));
      } catch (error) {
        this.payloads.delete(each.id);
        place.replaceChildren(h('p.note.bad', {}, error.message));
      }
    };
    return h('details', { 'data-id': each.id, open: this.opened.has(each.id), ontoggle: ({ target }) => { this.#keep(each.id, target.open); if (target.open && !place.firstChild) fill(); } },
      h('summary', {}, h('time', { datetime: new Date(number(each.receivedAtMs)).toISOString(), title: utc(each.receivedAtMs) }, instant(each.receivedAtMs)), ' ', ...head), place);
  }

  #letter(each) {
    const act = (method, said) => attempt(() => session.perch.call(`AdminService/${method}`, { id: each.id }), said).then(() => this.read());
    return [
      this.#item(each, [h('b', {}, each.notificationType || `${each.byteCount ?? 0} bytes`), ' ', h('span.badge.bad', {}, 'not taken'), h('span.soft', {}, ` ${each.bundleId ?? ''} ${each.environment ?? ''} · ${each.message}`)],
        () => [h('p', {}, h('code', {}, each.reason), ` ${each.message}`)]),
      h('div.ops', {}, h('button', { onclick: () => act('RetryDeadLetter', 'It was taken') }, 'Retry'), h('button.danger', { onclick: () => act('DropDeadLetter', 'It is deleted') }, 'Drop'))];
  }

  #notification(each) {
    const again = (jws) => attempt(() => session.perch.call('IngestService/SubmitNotification', { signedPayload: jws }), (answer) => `Sent again: ${decision(answer)}`).then(() => this.read());
    return this.#item(each, [h('b', {}, each.notificationType), each.subtype ? ` ${each.subtype} ` : ' ', h('span.badge', { class: each.newsCount ? 'good' : '' }, decision(each)), h('span.soft', {}, ` ${each.bundleId}`)], (jws, { data = {} }) => {
      const whose = h('dd', {}, 'nobody');
      const t = data.signedTransactionInfo ?? {};
      const app = session.apps.find((other) => other.bundleId === each.bundleId && other.environment === 'ENVIRONMENT_SANDBOX');
      if (t.transactionId && app) {
        session.perch.call('AdminService/FindAccount', { app: { bundleId: app.bundleId, environment: app.environment }, transactionId: t.transactionId }).then(({ account }) => {
          whose.replaceChildren(account ? h('a', { href: accountLink(account), onclick: () => { if (session.app !== app) session.choose(app); } }, account) : 'no account that is known');
        }, (error) => { whose.textContent = error.message; });
      }
      const at = (text) => day(number(text.split(', ').at(-1)), true);
      const facts = [['Customer', whose], ['Product', t.productId ?? 'none'], ['Bought', t.purchaseDate && at(t.purchaseDate)], ['Until', t.expiresDate && at(t.expiresDate)],
        ['Refunded', t.revocationDate && `${at(t.revocationDate)}${t.revocationReason === 1 ? ', for an issue with the app' : ''}`], ['Price', t.price === undefined ? '' : money({ milliunits: t.price, currency: t.currency })],
        ['What became of it', `${decision(each)}, at revision ${each.revision}`]].filter(([, value]) => value);
      return [h('dl.facts', {}, facts.map(([name, value]) => [h('dt', {}, name), value instanceof Node ? value : h('dd', {}, value)])),
        h('div.ops', {}, h('button', { type: 'button', title: 'To this server, which takes it as from the App Store', onclick: () => again(jws) }, 'Send again'))];
    });
  }
}

customElements.define('perch-incoming-page', IncomingPage);

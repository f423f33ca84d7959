// What came from Apple and was refused, and who changed what.
import { h, session, Page, missing, instant, number, attempt, rich } from './kit.js';

/** A page of the server's own: read again every other second, where the token has the scope. */
class ServerPage extends Page {
  begin(title, about) {
    this.append(h('h1', {}, title), h('p.what', {}, rich(about)), (this.place = h('div')));
    if (!session.allows('admin')) return this.place.append(missing('Your token does not have the scope `admin` of the server, which this page needs.'));
    const read = () => this.read().catch((error) => { if (!this.key) this.place.replaceChildren(missing(error.message)); });
    this.every(2000, read);
    return read();
  }
  /** Draws what has changed. */
  show(value, draw) {
    const key = JSON.stringify(value);
    if (key !== this.key && !this.ended) this.place.replaceChildren(...draw());
    this.key = key;
  }
  table(name, head, rows) {
    return h('section.card', { 'aria-label': name }, h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': name }, h('table.wide.stack', {}, h('thead', {}, h('tr', {}, head.map((each) => h('th', { scope: 'col' }, each)))),
      h('tbody', {}, rows.map((cells) => h('tr', {}, cells.map((each, at) => h(at ? 'td.wholly' : 'td', {}, each))))))));
  }
}

class IncomingPage extends ServerPage {
  open() { this.begin('Incoming', 'Reports of the App Store: how many came, those whose signature was good and that could not be taken, and purchases that need somebody.'); }

  async read() {
    const [status, answer] = await Promise.all([session.perch.call('AdminService/GetServerStatus'), session.perch.call('AdminService/ListDeadLetters', { pageSize: 100 })]);
    const figures = (status.metrics ?? []).filter(({ name }) => name.startsWith('perch_apple_') || name === 'perch_unclaimed_purchases' || name === 'perch_overdue_subscriptions');
    // A test app has none of these.
    const needy = await session.perch.call('AdminService/ListUnclaimed', { pageSize: 500 }).then(({ purchases = [] }) => purchases, () => []);
    const letters = answer.deadLetters ?? [];
    const act = (letter, method, said) => attempt(() => session.perch.call(`AdminService/${method}`, { id: letter.id }), said).then(() => this.read());
    this.show([figures, letters, needy], () => [
      figures.some(({ name }) => name.startsWith('perch_apple_') && !name.endsWith('refused_total')) ? h('div.tiles', {}, figures.map((each) => h('div.tile', {}, h('b', {}, number(each.value).toLocaleString('en')), h('span', {}, each.help, ' ', h('code', {}, each.labels ?? '')))))
        : missing('This server takes no reports: `--apple-apps` names the apps of the App Store.'),
      letters.length ? this.table('Dead letters', ['Came', 'App', 'Kind', 'Why not', ''], letters.map((each) => [
        instant(each.receivedAtMs), `${each.bundleId ?? ''} ${each.environment ?? ''}`, each.notificationType || `${each.byteCount ?? 0} bytes`, [h('code', {}, each.reason), ' ', each.message],
        h('div.ops', {}, h('button', { onclick: () => act(each, 'RetryDeadLetter', 'It was taken') }, 'Retry'), h('button.danger', { onclick: () => act(each, 'DropDeadLetter', 'It is deleted') }, 'Drop'))]))
        : h('p.what', {}, 'No dead letters.'),
      needy.length ? this.table('Purchases that need somebody', ['Original', 'Product', 'Why', 'Names that were reported', 'Bought'], needy.map((each) => [
        each.originalTransactionId, each.productId ?? '', [each.unclaimed ? 'no account that is known has it' : `of ${each.account}`, each.overdue ? '; its renewal was never reported' : ''],
        [...(each.appAccountTokens ?? []).map((token) => `token ${token}`), ...(each.appTransactionIds ?? []).map((id) => `app transaction ${id}`)].join(', '), instant(each.originalPurchaseDateMs)]))
        : h('p.what', {}, 'Every purchase belongs to an account.')]);
  }
}

class AuditPage extends ServerPage {
  open() { this.begin('Audit', 'Administrative and test changes, newest first: who asked for what.'); }

  async read() {
    if (this.since === undefined) {
      const { revision } = await session.perch.call('AdminService/GetServerStatus');
      [this.since, this.lines] = [Math.max(0, number(revision) - 1000), []];
    }
    for (let more = true; more && !this.ended;) {
      const { entries = [], hasMore } = await session.perch.call('AdminService/ListAudit', { afterRevision: String(this.since), pageSize: 500 });
      for (const each of entries) this.since = Math.max(this.since, number(each.revision));
      this.lines.push(...entries);
      more = hasMore && entries.length;
    }
    this.lines.splice(0, this.lines.length - 1000);
    this.show(this.since, () => [this.lines.length ? this.table('Changes', ['Revision', 'When', 'Who', 'What', 'Account', 'App'], this.lines.toReversed().map((each) => [
      each.revision, instant(each.atMs), `${each.subject ?? ''} ${each.address ?? ''}`, [h('code', {}, each.method?.split('/').pop()), ' ', each.what ?? ''], each.account ?? '', `${each.bundleId ?? ''} ${each.environment ?? ''}`])) : h('p.what', {}, 'No change yet.')]);
  }
}

customElements.define('perch-incoming-page', IncomingPage);
customElements.define('perch-audit-page', AuditPage);

// Who did what to whom, in words: the audit trail of the chosen app, or of the whole server.
import { h, session, instant, utc, number, accountLink, language, languageButtons } from './kit.js';
import { ServerPage } from './incoming.js';

/** Sentences by method, and by what a method did where it does several things. `{who}` did it, to `{whom}`, with `{what}`. */
const sentences = {
  en: {
    GrantEntitlement: '{who} gave {whom} {what}', RevokeGrant: '{who} ended the grant of {what} of {whom}', MoveTransaction: '{who} moved the purchase {what} to {whom}', MergeAccounts: '{who} merged another account into {whom}',
    EraseAccount: '{who} erased an account', AddNote: '{who} wrote a note about {whom}', DeleteNote: '{who} deleted a note about {whom}', AttachAlias: '{who} added a name to {whom}', DetachAlias: '{who} removed a name from {whom}',
    LoadCatalog: '{who} loaded the catalogue {what}', Configure: '{who} changed settings: {what}', OrderMishap: '{who} ordered a mishap: {what}', Reconcile: '{who} asked the App Store: {what}', AnswerConsumption: '{who} answered Apple about the purchase {what}',
    RevokeToken: '{who} revoked the token {what}', Backup: '{who} made the backup {what}', RetryDeadLetter: '{who} had a refused notification read again', DropDeadLetter: '{who} deleted a refused notification', SIGHUP: '{who} had the settings read again',
    AppStoreServerAPI: '{who} asked as of the App Store: {what}', freeze: '{who} stopped the clock', resume: '{who} let the clock run', advanceBy: '{who} moved the clock forward', advanceTo: '{who} moved the clock forward', advanceToBoundary: '{who} moved the clock to the next change of a customer',
    buy: '{who} bought something for {whom} outside the app', refund: '{who} refunded a purchase of {whom}', reverseRefund: '{who} reversed a refund of {whom}', declineRefund: '{who} declined a refund of {whom}', requestConsumption: '{who} asked how {whom} used a purchase',
    renew: '{who} renewed a subscription of {whom}', expire: '{who} ended a subscription of {whom}', setAutoRenew: '{who} switched a renewal of {whom} on or off', resolveBilling: '{who} resolved the billing problem of {whom}', setCharges: '{who} chose whether charges of {whom} fail',
    setPayments: '{who} forbade or allowed payments of {whom}', raisePrice: '{who} raised a price of {whom}', answerPriceIncrease: '{who} answered a price increase for {whom}', extendRenewal: '{who} gave {whom} free days', share: '{who} shared a purchase of {whom}',
    stopSharing: '{who} stopped sharing a purchase of {whom}', decidePurchase: '{who} decided about a waiting purchase of {whom}', deleteTransaction: '{who} deleted a transaction of {whom}', clearTransactions: '{who} deleted all transactions of {whom}',
    createIntent: '{who} began a purchase of {whom} outside the app', endIntent: '{who} dismissed a purchase of {whom} that had begun', setStorefront: '{who} chose the storefront of {whom}', postMessage: '{who} posted a message to {whom}', setAppTransaction: '{who} changed when {whom} got the app',
    other: '{who} called {method} {what} {whom}', everyone: 'somebody without credentials', operator: 'the operator', backend: 'the backend', gone: 'an account that is erased',
    about: 'Who did what to whom, newest first.', all: 'Every app, and the server itself', none: 'No change yet.', changes: 'Changes', when: 'When', what: 'What happened', record: 'For the record', app: 'App',
  },
  de: {
    GrantEntitlement: '{who} hat {whom} {what} gegeben', RevokeGrant: '{who} hat die Gewährung von {what} an {whom} beendet', MoveTransaction: '{who} hat den Kauf {what} zu {whom} übertragen', MergeAccounts: '{who} hat ein anderes Konto mit {whom} vereint',
    EraseAccount: '{who} hat ein Konto gelöscht', AddNote: '{who} hat eine Notiz zu {whom} geschrieben', DeleteNote: '{who} hat eine Notiz zu {whom} gelöscht', AttachAlias: '{who} hat {whom} einen Namen hinzugefügt', DetachAlias: '{who} hat {whom} einen Namen genommen',
    LoadCatalog: '{who} hat den Katalog {what} geladen', Configure: '{who} hat Einstellungen geändert: {what}', OrderMishap: '{who} hat ein Missgeschick bestellt: {what}', Reconcile: '{who} hat den App Store gefragt: {what}', AnswerConsumption: '{who} hat Apple zum Kauf {what} geantwortet',
    RevokeToken: '{who} hat das Token {what} widerrufen', Backup: '{who} hat die Sicherung {what} gemacht', RetryDeadLetter: '{who} hat eine abgewiesene Meldung erneut lesen lassen', DropDeadLetter: '{who} hat eine abgewiesene Meldung gelöscht', SIGHUP: '{who} hat die Einstellungen neu lesen lassen',
    AppStoreServerAPI: '{who} hat wie beim App Store angefragt: {what}', freeze: '{who} hat die Uhr angehalten', resume: '{who} hat die Uhr laufen lassen', advanceBy: '{who} hat die Uhr vorgestellt', advanceTo: '{who} hat die Uhr vorgestellt', advanceToBoundary: '{who} hat die Uhr bis zur nächsten Änderung eines Kunden vorgestellt',
    buy: '{who} hat für {whom} außerhalb der App etwas gekauft', refund: '{who} hat {whom} einen Kauf erstattet', reverseRefund: '{who} hat eine Erstattung an {whom} zurückgenommen', declineRefund: '{who} hat {whom} eine Erstattung abgelehnt', requestConsumption: '{who} hat gefragt, wie {whom} einen Kauf genutzt hat',
    renew: '{who} hat ein Abonnement von {whom} verlängert', expire: '{who} hat ein Abonnement von {whom} beendet', setAutoRenew: '{who} hat eine Verlängerung von {whom} ein- oder ausgeschaltet', resolveBilling: '{who} hat das Zahlungsproblem von {whom} gelöst', setCharges: '{who} hat gewählt, ob Abbuchungen von {whom} fehlschlagen',
    setPayments: '{who} hat {whom} Zahlungen verboten oder erlaubt', raisePrice: '{who} hat einen Preis von {whom} erhöht', answerPriceIncrease: '{who} hat für {whom} auf eine Preiserhöhung geantwortet', extendRenewal: '{who} hat {whom} freie Tage gegeben', share: '{who} hat einen Kauf von {whom} geteilt',
    stopSharing: '{who} teilt einen Kauf von {whom} nicht mehr', decidePurchase: '{who} hat über einen wartenden Kauf von {whom} entschieden', deleteTransaction: '{who} hat eine Transaktion von {whom} gelöscht', clearTransactions: '{who} hat alle Transaktionen von {whom} gelöscht',
    createIntent: '{who} hat für {whom} außerhalb der App einen Kauf begonnen', endIntent: '{who} hat einen begonnenen Kauf von {whom} verworfen', setStorefront: '{who} hat den Store von {whom} gewählt', postMessage: '{who} hat {whom} eine Nachricht geschickt', setAppTransaction: '{who} hat geändert, seit wann {whom} die App hat',
    other: '{who} hat {method} {what} {whom} aufgerufen', everyone: 'jemand ohne Anmeldung', operator: 'der Betreiber', backend: 'das Backend', gone: 'ein gelöschtes Konto',
    about: 'Wer was bei wem getan hat, das Neueste zuerst.', all: 'Alle Apps und der Server selbst', none: 'Noch keine Änderung.', changes: 'Änderungen', when: 'Wann', what: 'Was geschah', record: 'Fürs Protokoll', app: 'App',
  },
};
const methodOf = ({ method = '' }) => method.split('/').pop();

/** One entry as a sentence, with a link to the customer. */
function sentence(each, t) {
  const { subject = '', what = '', account, bundleId, environment } = each;
  const who = { everyone: t.everyone, 'the operator': t.operator, 'the backend': t.backend }[subject] ?? /^"(.*)" by /.exec(subject)?.[1] ?? subject;
  const app = session.apps.find((other) => other.bundleId === bundleId && `ENVIRONMENT_${environment.toUpperCase()}` === other.environment);
  const parts = {
    who: h('b', {}, who), what: what ? h('code', {}, what) : '', method: h('code', {}, methodOf(each)),
    whom: account ? app ? h('a', { href: accountLink(account), onclick: () => { if (session.app !== app) session.choose(app); } }, account) : account : t.gone,
  };
  const said = t[methodOf(each)] ?? t[what] ?? t.other;
  return said.split(/\{(\w+)\}/).map((part, at) => (at % 2 ? parts[part] : part));
}

class AuditPage extends ServerPage {
  open() {
    this.about = h('span');
    this.isAll = h('input', { type: 'checkbox', onchange: () => this.draw() });
    this.label = h('span');
    this.begin('Audit', '');
    this.querySelector('.what').replaceChildren(this.about);
    this.place.before(languageButtons(() => this.draw()), h('label.check', {}, this.isAll, this.label));
    this.draw();
  }

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
    this.draw();
  }

  draw() {
    const t = sentences[language()];
    [this.about.textContent, this.label.textContent, this.lang] = [t.about, t.all, language()];
    if (!this.lines) return;
    const { bundleId, environment } = session.app ?? {};
    const isOfApp = (each) => each.bundleId === bundleId && `ENVIRONMENT_${each.environment.toUpperCase()}` === environment;
    const isAll = this.isAll.checked || !session.app;
    const lines = this.lines.filter((each) => isAll || isOfApp(each)).toReversed();
    this.show([this.since, isAll, language()], () => [lines.length ? this.table(t.changes, [t.when, t.what, ...(isAll ? [t.app] : []), t.record], lines.map((each) => [
      h('time', { title: utc(each.atMs) }, instant(each.atMs)), sentence(each, t), ...(isAll ? [`${each.bundleId ?? ''} ${each.environment ?? ''}`] : []),
      h('span.soft', {}, [`#${each.revision}`, methodOf(each), each.what, each.subject, each.address].filter(Boolean).join(' · '))])) : h('p.what', {}, t.none)]);
  }
}

customElements.define('perch-audit-page', AuditPage);

// What the store views say, in the languages that a page may ask for. A page adds one with `addTexts('fr', { buy: 'Acheter', … })`;
// a text that is missing there comes from English. Numbers, periods and dates are the browser's own.
export const texts = {
  en: {
    noOther: 'There is no other plan for you now.', shared: 'Shared with you', forbidden: 'Purchases are not allowed for this account.',
    loading: 'Loading', unavailable: 'Unavailable', notSold: 'This product is not sold here.', plansNotSold: 'These plans are not sold here.', notLoaded: 'Not loaded', purchased: 'Purchased', pending: 'Waiting for approval',
    buy: 'Buy', buyFor: 'Buy {name} for {price}', subscribe: 'Subscribe', tryFree: 'Try it free', upgrade: 'Upgrade', change: 'Change plan', current: 'Current plan', next: 'Next period', family: 'Family', plans: 'Plans', accept: 'Accept offer',
    per: { DAY: 'day', WEEK: 'week', MONTH: 'month', YEAR: 'year' }, perUnit: '{price}/{unit}', free: '{period} free, then {price}', upFront: '{offer} for {period}, then {price}', payGo: '{offer} for {period}, then {price}', anyTime: 'Cancel any time.', atRenewal: 'The change begins with your next period.',
    periods: { DAY: 'Daily', WEEK: 'Weekly', MONTH: 'Monthly', YEAR: 'Yearly', '3 MONTH': 'Quarterly', '6 MONTH': 'Half-yearly' }, level: 'Level {value}', page: 'Show {name}', previous: 'Previous plan', following: 'Next plan', back: 'Back',
    cancel: 'Cancel', notNow: 'Not now', done: 'Done', ok: 'OK', dismiss: 'Dismiss', restore: 'Restore purchases', restoring: 'Restoring…', restored: 'Your purchases are restored.', redeem: 'Redeem', redeemCode: 'Redeem code', code: 'Code', redeemed: 'The code is redeemed.', redeemedLater: 'The offer begins with your next period.',
    signIn: 'Sign in', terms: 'Terms of service', privacy: 'Privacy policy', confirm: 'Confirm your purchase', quantity: 'Quantity: {count}', oneTime: 'Paid once.', renews: 'Renews for {price} until you cancel.', renewsAfter: 'After that it renews for {price} until you cancel.', startsAtRenewal: 'Nothing is charged now. The new plan begins with your next period.', buying: 'Your purchase is on its way…',
    thanks: 'Purchased: {name}.', waiting: 'Your purchase waits for approval.', unverified: 'This purchase could not be verified, so it does not count.', off: 'Purchases are turned off here.', offline: 'There is no connection. This may be old.',
    manage: 'Your subscription', noPlan: 'You have no subscription.', renewsOn: '{name}, renews {date}', endsOn: '{name}, ends {date}', graceUntil: '{name}: your payment failed. You keep access until {date}.', cancelPlan: 'Cancel subscription', renewAgain: 'Renew again', requestRefund: 'Request a refund',
    refund: 'Request a refund', refundWhy: 'What went wrong?', refundReasons: ['I bought it by mistake', 'It does not work'], refundText: 'Tell us more', send: 'Send', refundApproved: 'Your refund is approved.', refundDeclined: 'Your refund was declined.',
    billing: 'Your payment failed', billingText: 'The charge for {name} failed. Check your payment method to keep it.', resolve: 'Resolve', resolved: 'Thank you. Your subscription continues.', rise: 'The price will rise', riseText: 'The price of {name} will rise to {price}. Do you agree?', riseTextPlain: 'The price of {name} will rise. Do you agree?', agree: 'Agree', decline: 'Do not renew',
    winBack: 'Come back', winBackText: 'An offer for you: {name}, {offer}.', generic: 'A message from the store', intent: 'You began a purchase', details: 'Details',
    errors: { network: 'There is no connection. Try again.', busy: 'The store is busy. Try again in a moment.', signIn: 'Please sign in again.', notAllowed: 'This account may not buy here.', notSold: 'This is not sold any more.', offer: 'This offer is not for your account.', code: 'This code is not valid.', duplicate: 'You have asked for this refund already.', refund: 'This purchase cannot be refunded.', storefront: 'This is not available in your country.', other: 'That did not work. Try again later.' },
  },
  de: {
    noOther: 'Für Sie gibt es zurzeit kein anderes Abo.', shared: 'Für Sie freigegeben', forbidden: 'Käufe sind für dieses Konto nicht erlaubt.',
    loading: 'Wird geladen', unavailable: 'Nicht verfügbar', notSold: 'Dieses Produkt wird hier nicht verkauft.', plansNotSold: 'Diese Abos werden hier nicht verkauft.', notLoaded: 'Nicht geladen', purchased: 'Gekauft', pending: 'Wartet auf Zustimmung',
    buy: 'Kaufen', buyFor: '{name} für {price} kaufen', subscribe: 'Abonnieren', tryFree: 'Gratis testen', upgrade: 'Upgrade', change: 'Abo wechseln', current: 'Aktuelles Abo', next: 'Ab der nächsten Periode', family: 'Familie', plans: 'Abos', accept: 'Angebot annehmen',
    per: { DAY: 'Tag', WEEK: 'Woche', MONTH: 'Monat', YEAR: 'Jahr' }, perUnit: '{price}/{unit}', free: '{period} gratis, danach {price}', upFront: '{offer} für {period}, danach {price}', payGo: '{offer} für {period}, danach {price}', anyTime: 'Jederzeit kündbar.', atRenewal: 'Der Wechsel gilt ab Ihrer nächsten Periode.',
    periods: { DAY: 'Täglich', WEEK: 'Wöchentlich', MONTH: 'Monatlich', YEAR: 'Jährlich', '3 MONTH': 'Vierteljährlich', '6 MONTH': 'Halbjährlich' }, level: 'Stufe {value}', page: '{name} zeigen', previous: 'Voriges Abo', following: 'Nächstes Abo', back: 'Zurück',
    cancel: 'Abbrechen', notNow: 'Nicht jetzt', done: 'Fertig', ok: 'OK', dismiss: 'Ausblenden', restore: 'Käufe wiederherstellen', restoring: 'Wird wiederhergestellt…', restored: 'Ihre Käufe sind wiederhergestellt.', redeem: 'Einlösen', redeemCode: 'Code einlösen', code: 'Code', redeemed: 'Der Code ist eingelöst.', redeemedLater: 'Das Angebot gilt ab Ihrer nächsten Periode.',
    signIn: 'Anmelden', terms: 'Nutzungsbedingungen', privacy: 'Datenschutz', confirm: 'Kauf bestätigen', quantity: 'Anzahl: {count}', oneTime: 'Einmalige Zahlung.', renews: 'Verlängert sich für {price}, bis Sie kündigen.', renewsAfter: 'Danach verlängert es sich für {price}, bis Sie kündigen.', startsAtRenewal: 'Jetzt wird nichts berechnet. Das neue Abo gilt ab der nächsten Periode.', buying: 'Ihr Kauf läuft…',
    thanks: 'Gekauft: {name}.', waiting: 'Ihr Kauf wartet auf Zustimmung.', unverified: 'Dieser Kauf konnte nicht geprüft werden und zählt deshalb nicht.', off: 'Käufe sind hier ausgeschaltet.', offline: 'Keine Verbindung. Die Angaben können veraltet sein.',
    manage: 'Ihr Abo', noPlan: 'Sie haben kein Abo.', renewsOn: '{name}, verlängert sich am {date}', endsOn: '{name}, endet am {date}', graceUntil: '{name}: Ihre Zahlung ist fehlgeschlagen. Sie behalten den Zugang bis {date}.', cancelPlan: 'Abo kündigen', renewAgain: 'Wieder verlängern', requestRefund: 'Erstattung beantragen',
    refund: 'Erstattung beantragen', refundWhy: 'Was ist passiert?', refundReasons: ['Versehentlich gekauft', 'Es funktioniert nicht'], refundText: 'Erzählen Sie mehr', send: 'Senden', refundApproved: 'Ihre Erstattung ist genehmigt.', refundDeclined: 'Ihre Erstattung wurde abgelehnt.',
    billing: 'Ihre Zahlung ist fehlgeschlagen', billingText: 'Die Zahlung für {name} ist fehlgeschlagen. Prüfen Sie Ihre Zahlungsart, um das Abo zu behalten.', resolve: 'Beheben', resolved: 'Danke. Ihr Abo läuft weiter.', rise: 'Der Preis steigt', riseText: 'Der Preis von {name} steigt auf {price}. Stimmen Sie zu?', riseTextPlain: 'Der Preis von {name} steigt. Stimmen Sie zu?', agree: 'Zustimmen', decline: 'Nicht verlängern',
    winBack: 'Kommen Sie zurück', winBackText: 'Ein Angebot für Sie: {name}, {offer}.', generic: 'Eine Nachricht des Stores', intent: 'Sie haben einen Kauf begonnen', details: 'Details',
    errors: { network: 'Keine Verbindung. Versuchen Sie es noch einmal.', busy: 'Der Store ist ausgelastet. Versuchen Sie es gleich noch einmal.', signIn: 'Bitte melden Sie sich neu an.', notAllowed: 'Dieses Konto darf hier nicht kaufen.', notSold: 'Das wird nicht mehr verkauft.', offer: 'Dieses Angebot gilt nicht für Ihr Konto.', code: 'Dieser Code ist ungültig.', duplicate: 'Sie haben diese Erstattung schon beantragt.', refund: 'Dieser Kauf kann nicht erstattet werden.', storefront: 'Das ist in Ihrem Land nicht verfügbar.', other: 'Das hat nicht geklappt. Versuchen Sie es später noch einmal.' },
  },
  ja: {
    noOther: '現在、ほかのプランはありません。', shared: '共有されています', forbidden: 'このアカウントでは購入が許可されていません。',
    loading: '読み込み中', unavailable: '利用できません', notSold: 'この商品は販売されていません。', plansNotSold: 'これらのプランは販売されていません。', notLoaded: '読み込めませんでした', purchased: '購入済み', pending: '承認待ち',
    buy: '購入', buyFor: '{name}を{price}で購入', subscribe: '登録する', tryFree: '無料で試す', upgrade: 'アップグレード', change: 'プランを変更', current: '現在のプラン', next: '次の期間から', family: 'ファミリー', plans: 'プラン', accept: 'オファーを利用',
    per: { DAY: '日', WEEK: '週', MONTH: '月', YEAR: '年' }, perUnit: '{price}/{unit}', free: '{period}無料、その後{price}', upFront: '{period}{offer}、その後{price}', payGo: '{period}{offer}、その後{price}', anyTime: 'いつでも解約できます。', atRenewal: '変更は次の期間から有効です。',
    periods: { DAY: '毎日', WEEK: '毎週', MONTH: '毎月', YEAR: '毎年', '3 MONTH': '3か月ごと', '6 MONTH': '6か月ごと' }, level: 'レベル{value}', page: '{name}を表示', previous: '前のプラン', following: '次のプラン', back: '戻る',
    cancel: 'キャンセル', notNow: '今はしない', done: '完了', ok: 'OK', dismiss: '閉じる', restore: '購入を復元', restoring: '復元中…', restored: '購入を復元しました。', redeem: '利用する', redeemCode: 'コードを利用', code: 'コード', redeemed: 'コードを利用しました。', redeemedLater: 'オファーは次の期間から始まります。',
    signIn: 'サインイン', terms: '利用規約', privacy: 'プライバシーポリシー', confirm: '購入の確認', quantity: '数量：{count}', oneTime: 'お支払いは1回です。', renews: '解約するまで{price}で更新されます。', renewsAfter: 'その後、解約するまで{price}で更新されます。', startsAtRenewal: '今は請求されません。新しいプランは次の期間から始まります。', buying: '購入しています…',
    thanks: '購入しました：{name}', waiting: '購入は承認待ちです。', unverified: 'この購入は確認できないため、有効になりません。', off: 'ここでは購入できません。', offline: '接続がありません。表示が古い可能性があります。',
    manage: 'サブスクリプション', noPlan: 'サブスクリプションはありません。', renewsOn: '{name}、{date}に更新', endsOn: '{name}、{date}に終了', graceUntil: '{name}：支払いに失敗しました。{date}まで利用できます。', cancelPlan: '解約する', renewAgain: '更新を再開', requestRefund: '返金をリクエスト',
    refund: '返金をリクエスト', refundWhy: 'どうしましたか？', refundReasons: ['間違えて購入した', '動作しない'], refundText: '詳しく', send: '送信', refundApproved: '返金が承認されました。', refundDeclined: '返金は承認されませんでした。',
    billing: '支払いに失敗しました', billingText: '{name}の支払いに失敗しました。お支払い方法を確認してください。', resolve: '解決する', resolved: 'ありがとうございます。サブスクリプションは継続します。', rise: '価格が上がります', riseText: '{name}の価格が{price}になります。同意しますか？', riseTextPlain: '{name}の価格が上がります。同意しますか？', agree: '同意する', decline: '更新しない',
    winBack: 'おかえりなさい', winBackText: 'あなたへのオファー：{name}、{offer}', generic: 'ストアからのお知らせ', intent: '購入を始めました', details: '詳細',
    errors: { network: '接続がありません。もう一度お試しください。', busy: 'ストアが混み合っています。しばらくしてからお試しください。', signIn: 'もう一度サインインしてください。', notAllowed: 'このアカウントでは購入できません。', notSold: '現在は販売されていません。', offer: 'このオファーは利用できません。', code: 'このコードは無効です。', duplicate: '返金はすでにリクエスト済みです。', refund: 'この購入は返金できません。', storefront: 'お住まいの国では利用できません。', other: 'うまくいきませんでした。後でもう一度お試しください。' },
  },
};

/** Adds a language, or replaces texts of one. */
export function addTexts(language, table) { texts[language] = { ...texts[language], ...table, errors: { ...texts[language]?.errors, ...table.errors } }; }

/** A text of a language, its own region first: `de-AT`, then `de`, then English. */
export function text(language, key, values = {}) {
  const part = (table) => key.split('.').reduce((found, name) => found?.[name], table);
  const found = part(texts[language]) ?? part(texts[language.split('-')[0]]) ?? part(texts.en) ?? key;
  return typeof found === 'string' ? found.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '') : found;
}

const unit = (period) => (period?.unit ?? '').replace('PERIOD_UNIT_', '');
/** A length of time: `3 months`. */
export function periodText(language, period, count = 1) {
  const value = Number(period?.value ?? 1) * Number(count || 1);
  try { return new Intl.NumberFormat(language, { style: 'unit', unit: unit(period).toLowerCase(), unitDisplay: 'long' }).format(value); } catch { return `${value} ${unit(period).toLowerCase()}`; }
}
/** A price for a period: `$4.99/month`. */
export function priceText(language, price, period) {
  if (!period?.unit) return price ?? '';
  const value = Number(period.value ?? 1);
  return text(language, 'perUnit', { price, unit: value === 1 ? text(language, `per.${unit(period)}`) : periodText(language, period) });
}
/** How often: `Monthly`. */
export function everyText(language, period) {
  const value = Number(period?.value ?? 1);
  const known = text(language, 'periods')[value === 1 ? unit(period) : `${value} ${unit(period)}`];
  return known ?? periodText(language, period);
}
/** What an offer costs, and what comes after it. */
export function offerText(language, product, offer) {
  const price = priceText(language, product.displayPrice, product.subscription?.period);
  const { period, displayPrice } = offer;
  switch (offer.paymentMode) {
    case 'OFFER_PAYMENT_MODE_FREE_TRIAL': return text(language, 'free', { period: periodText(language, period, offer.periodCount), price });
    case 'OFFER_PAYMENT_MODE_PAY_UP_FRONT': return text(language, 'upFront', { offer: displayPrice, period: periodText(language, period, offer.periodCount), price });
    default: return text(language, 'payGo', { offer: priceText(language, displayPrice, period), period: periodText(language, period, offer.periodCount), price });
  }
}

const kinds = {
  STOREKIT_NETWORK_ERROR: 'network', PURCHASE_NOT_ALLOWED: 'notAllowed', PURCHASE_PRODUCT_UNAVAILABLE: 'notSold', PRODUCT_UNKNOWN: 'notSold', PURCHASE_INELIGIBLE_FOR_OFFER: 'offer', PURCHASE_INVALID_OFFER: 'offer',
  PURCHASE_INVALID_OFFER_PRICE: 'offer', PURCHASE_INVALID_OFFER_SIGNATURE: 'offer', PURCHASE_MISSING_OFFER_PARAMETERS: 'offer', STOREKIT_DUPLICATE_REQUEST: 'duplicate', REFUND_NOT_POSSIBLE: 'refund',
  STOREKIT_NOT_AVAILABLE_IN_STOREFRONT: 'storefront', CALL_RATE: 'busy', STORE_FULL: 'busy', LEASE_WAIT: 'busy', NOT_A_TEST_APP: 'notAllowed',
};
const codes = { unreachable: 'network', unavailable: 'network', deadline_exceeded: 'network', resource_exhausted: 'busy', aborted: 'busy', unauthenticated: 'signIn', permission_denied: 'notAllowed' };
/** What a customer reads of an error. Its own message is for developers: events and the console of the browser have it. */
export function errorText(language, error, otherwise = 'other') { return text(language, `errors.${kinds[error?.reason] ?? codes[error?.code] ?? codes[error?.reason] ?? otherwise}`); }

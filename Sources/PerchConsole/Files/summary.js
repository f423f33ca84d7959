// What an account has, as sentences that can be read to the customer.
import { session, day, money, number, word, entitles } from './kit.js';

const isShared = (transaction) => transaction.ownershipType === 'OWNERSHIP_TYPE_FAMILY_SHARED';

/** Why a subscription has ended. */
const endings = {
  EXPIRATION_REASON_AUTO_RENEW_DISABLED: 'renewal was switched off', EXPIRATION_REASON_BILLING_ERROR: 'the card was declined and no later charge succeeded',
  EXPIRATION_REASON_DID_NOT_CONSENT_TO_PRICE_INCREASE: 'the higher price was not agreed to', EXPIRATION_REASON_PRODUCT_UNAVAILABLE: 'the product is no longer sold',
};

/** A price with what it is: nothing where the store reports none. */
const forPrice = (price) => (price ? ` for ${money(price)}` : '');

/** Whether an end is past that Apple has not reported anything about. A test store knows at once. */
const isOverdue = (endMs) => !session.isTest && number(endMs) > 0 && number(endMs) <= session.now();

/** Whether the account has anything now: that of another line, a product that lasts, or a named entitlement. */
export const hasAccess = ({ lines, owned, named }) => lines.some(({ status }) => entitles(status.state)) || owned.length > 0 || named.some((each) => each.active);

/** One subscription. `who` is how the account is called, `name` gives the name of a product. `hasOther`: something else may give the same. */
export function lineSentence({ status, transaction: t, info, hasOther }, who, name) {
  const product = name(t.productId);
  const end = day(t.expirationDateMs);
  const card = isShared(t) ? `The card of the family member who shares ${product} was declined on ${end}` : `The card of ${who} was declined on ${end}`;
  if (status.state === 'RENEWAL_STATE_SUBSCRIBED') {
    const trial = t.offer?.paymentMode === 'OFFER_PAYMENT_MODE_FREE_TRIAL' ? 'a free trial of ' : '';
    if (isOverdue(t.expirationDateMs)) return `The period of ${product} ended on ${end}, and its renewal has not been reported. Until it is, ${who} keeps ${product}.`;
    // Within a commitment the charges go on: what may not renew is the commitment.
    const { commitment } = info;
    const has = `${who} has ${trial}${product}${isShared(t) ? ', shared by a family member,' : ''} until ${commitment?.expirationDateMs ? day(commitment.expirationDateMs) : end}`;
    if (isShared(t)) return `${has}.`;
    if (info.unreported) return `${has}. Whether it renews was not reported.`;
    if (commitment ? !commitment.willRenew : !info.willAutoRenew) return `${has}. It does not renew.`;
    if (info.priceIncreaseStatus === 'PRICE_INCREASE_STATUS_PENDING') return `${has}. It renews only if ${who} agrees to the higher price.`;
    const next = info.autoRenewPreference && info.autoRenewPreference !== t.productId ? `it becomes ${name(info.autoRenewPreference)}` : 'it renews';
    return `${has}, then ${next}${commitment ? '' : forPrice(info.renewalPrice)}.`;
  }
  if (status.state === 'RENEWAL_STATE_IN_GRACE_PERIOD') return `${card}. ${who} keeps ${product} until ${day(info.gracePeriodExpirationDateMs)}, and then loses it unless a charge succeeds.`;
  if (status.state === 'RENEWAL_STATE_IN_BILLING_RETRY_PERIOD') return `${card}${hasOther ? `, and no charge for ${product} has succeeded since` : `, and ${who} has no access to ${product} until a charge succeeds`}. The store goes on trying.`;
  if (t.revocation || status.state === 'RENEWAL_STATE_REVOKED') return t.revocation?.type === 'REVOCATION_TYPE_FAMILY_REVOKE' ? `${product} is no longer shared with ${who}.` : `${product} was refunded${t.revocation ? ` on ${day(t.revocation.dateMs)}` : ''}${hasOther ? '' : `, and ${who} has no access to it`}.`;
  // Renewal was on, or nobody knows, and nothing came since.
  if (!session.isTest && !endings[info.expirationReason] && (info.unreported || info.willAutoRenew)) return `${who} had ${product} until ${end}. Whether it renewed was not reported.`;
  return `${who} had ${product} until ${end}${endings[info.expirationReason] ? `: ${endings[info.expirationReason]}` : ''}.`;
}

/** What gives an entitlement, for people. */
export function sourceText(each, grant, name) {
  if (each.origin === 'ENTITLEMENT_ORIGIN_GRANT') {
    const reason = grant?.reason ? `, because: ${grant.reason}` : '';
    return `granted${grant?.sinceMs ? ` on ${day(grant.sinceMs, true)}` : ''}${grant?.by ? ` by ${grant.by}` : ''}${reason}`;
  }
  return [each.productId ? name(each.productId) : '', isShared(each) ? 'shared by a family member' : each.state ? 'subscription' : each.productId ? 'purchase' : ''].filter(Boolean).join(', ');
}

/** How long a named entitlement lasts. In grace and without news of a renewal its end is an end. */
export function lastingText(each) {
  if (each.lifetime) return 'without an end';
  if (!each.untilMs) return '';
  if (each.active && each.state && isOverdue(each.untilMs)) return `period ended on ${day(each.untilMs)}, renewal not reported`;
  const renews = each.willRenew && !each.renewalUnknown && each.state === 'RENEWAL_STATE_SUBSCRIBED';
  return `${each.active ? renews ? 'renews on' : 'until' : 'ended on'} ${day(each.untilMs)}`;
}

/**
 * The account in one or two sentences, the good and the bad.
 * @param {string} who @param {{lines: object[], owned: object[], named: object[], hasBought: boolean, problem: string, name: (id: string) => string}} has
 *   `problem`: why a part of it could not be asked.
 */
export function summary(who, { lines, owned, named, hasBought, problem, name }) {
  const held = lines.filter(({ status }) => entitles(status.state));
  const troubled = lines.filter(({ status }) => status.state === 'RENEWAL_STATE_IN_BILLING_RETRY_PERIOD');
  const grants = named.filter((each) => each.active && each.origin === 'ENTITLEMENT_ORIGIN_GRANT');
  const lasting = owned.filter((each) => each.productType !== 'PRODUCT_TYPE_AUTO_RENEWABLE');
  const said = held.map((line) => lineSentence(line, who, name));
  const names = (list) => [...new Set(list.map((each) => name(each.productId)))].join(', ');
  const [shared, own] = [lasting.filter(isShared), lasting.filter((each) => !isShared(each))];
  if (own.length) said.push(`${who} owns ${names(own)}.`);
  if (shared.length) said.push(`${who} has ${names(shared)}, shared by a family member.`);
  if (grants.length) said.push(`${who} was given ${grants.map((each) => `${each.name}${each.untilMs ? ` until ${day(each.untilMs)}` : ''}`).join(', ')}.`);
  said.push(...troubled.map((line) => lineSentence(line, who, name)));
  if (problem) said.push(`What ${said.length ? 'else ' : ''}${who} has could not be asked: ${problem.replace(/\.$/, '')}.`);
  if (said.length) return said.join(' ');
  if (lines.length) return lineSentence(lines[0], who, name);
  return hasBought ? `${who} has nothing at the moment.` : `${who} has bought nothing yet.`;
}

/** A change that time brings, for people. */
export function changeText(change, { transaction: t, info }, name) {
  const product = name(t.productId);
  if (info.unreported) return `The period of ${product} ends, and whether it renews was not reported`;
  const texts = {
    FORECAST_KIND_RENEWAL: () => (change.state === 'RENEWAL_STATE_IN_GRACE_PERIOD' ? `The charge for ${product} will fail, and access goes on for a while`
      : change.state === 'RENEWAL_STATE_IN_BILLING_RETRY_PERIOD' ? `The charge for ${product} will fail, and access ends`
        : `${name(info.autoRenewPreference || t.productId)} renews${forPrice(info.renewalPrice)}`),
    FORECAST_KIND_EXPIRY: () => `${product} ends`, FORECAST_KIND_GRACE_END: () => `Access to ${product} ends, unless a charge succeeds`,
    FORECAST_KIND_RETRY_END: () => `The store stops trying to charge for ${product}`, FORECAST_KIND_OFFER_WINDOW: () => `The offers to win ${product} back change`,
    FORECAST_KIND_MESSAGE: () => 'The messages of the store change',
  };
  return texts[change.kind]?.() ?? `${product}: ${word(change.state) || 'changes'}`;
}

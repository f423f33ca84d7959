// The store views, whole: elements, and what a page may call. `/views/v1/perch-views.js` is the address that stays.
export { Perch, PerchError } from './perch.js';
export { PerchApp, PerchProduct, PerchStore, View } from './store.js';
export { OptionGroup, OptionGroupSet, PerchSubscriptionOffer, PerchSubscriptionStore, offerLine } from './store-subscription.js';
export { beginRefundRequest, manageSubscriptions } from './store-sheets.js';
export { addTexts, errorText, periodText, priceText, text } from './store-texts.js';

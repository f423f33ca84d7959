// Types of the store views. `import '…/views/v1/perch-views.js'` defines the elements; the exports are for scripts.

export interface Money { milliunits?: string; currency: string }
export interface Period { unit: 'PERIOD_UNIT_DAY' | 'PERIOD_UNIT_WEEK' | 'PERIOD_UNIT_MONTH' | 'PERIOD_UNIT_YEAR'; value?: number }
export interface SubscriptionOffer { id?: string; type: string; paymentMode: string; price?: Money; displayPrice?: string; period: Period; periodCount?: number }
export interface SubscriptionInfo {
  groupId: string; groupDisplayName?: string; groupLevel?: number; period: Period;
  introductoryOffers?: SubscriptionOffer[]; promotionalOffers?: SubscriptionOffer[]; winBackOffers?: SubscriptionOffer[];
}
export interface Product {
  id: string; type: string; displayName?: string; description?: string; price?: Money; displayPrice?: string; isFamilyShareable?: boolean;
  promotionalImageId?: string; promotionalImageHash?: string; subscription?: SubscriptionInfo;
}
export interface Transaction { id?: string; originalId?: string; productId: string; expirationDateMs?: string; [field: string]: unknown }
export interface PlanOption { product: Product; relation?: string; takesEffectAtRenewal?: boolean; preferred?: boolean }
/** A task's state: exactly one of the first four. A failure keeps the last value. */
export interface TaskState<Value> { loading?: object; failure?: { reason: string; message: string }; success?: Value; unavailable?: object; last?: Value; info?: object }
export interface PurchaseOptions { quantity?: number; appAccountToken?: string; offer?: { type: string; id: string; jws?: string } }
export interface PurchaseCompletion {
  product: Product; result: 'success' | 'pending' | 'userCancelled' | 'failure' | 'unknown'; transaction?: Transaction; isVerified?: boolean; alreadyHeld?: boolean; error?: PerchError;
}

export class PerchError extends Error { code: string; reason: string; details: Record<string, string>; readonly isTransient: boolean }
export interface WatchHandle { close(): void; token: string }
export class Perch extends EventTarget {
  constructor(options?: {
    base?: string; token?: string | null | ((again?: boolean) => string | null | Promise<string | null>); app?: { bundleId?: string; environment?: string }; clientId?: string;
  });
  readonly isOnline: boolean;
  readonly revision: number;
  call<Answer = any>(method: string, request?: object, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<Answer>;
  watch<Value = any>(method: string, request: object, listener: (state: TaskState<Value>) => void, options?: { group?: object }): WatchHandle;
  updates(account: string, listener: (event: any) => void, options?: { cursor?: string }): WatchHandle;
  group(apply?: (states: Map<WatchHandle, TaskState<unknown>>) => void): object;
  retry(): void;
  close(): void;
}

export type Token = string | null | ((again?: boolean) => string | null | Promise<string | null>);
export class PerchApp extends HTMLElement {
  token: Token;
  inAppPurchaseOptions?: PurchaseOptions | ((product: Product) => PurchaseOptions);
  signInAction?: () => void;
  readonly perch: Perch;
  readonly account: string;
  storeProductsTask(ids: string[], listener: (state: TaskState<{ products?: Product[]; unavailableIds?: string[] }>) => void, locale?: string): () => void;
  subscriptionStatusTask(groupId: string, listener: (state: TaskState<any>) => void): () => void;
  currentEntitlementTask(productId: string, listener: (state: TaskState<any>) => void): () => void;
  entitlementsTask(listener: (state: TaskState<any>) => void): () => void;
  purchaseIntents(listener: (state: TaskState<any>) => void): () => void;
  messages(listener: (state: TaskState<any>) => void): () => void;
  transactionUpdates(listener: (event: any) => void, key?: string): () => void;
  purchase(product: Product, options?: PurchaseOptions): Promise<PurchaseCompletion | null>;
  finish(transaction: Transaction): Promise<unknown>;
  call<Answer = any>(method: string, request?: object): Promise<Answer>;
}
export class View extends HTMLElement { readonly app: PerchApp; readonly language: string }
export interface ProductConfiguration {
  state: TaskState<Product>; product: Product | null; isOwned: boolean; hasPromotionalIcon: boolean;
  icon(): HTMLElement; purchase(options?: PurchaseOptions): Promise<PurchaseCompletion | null>; standard(style?: 'compact' | 'regular' | 'large'): HTMLElement;
}
export class PerchProduct extends View { product: Product | null; productViewStyle: ((configuration: ProductConfiguration) => Node) | null }
export class PerchStore extends View {}
export interface PickerOption {
  id: string; product: Product; displayName?: string; description: string; displayPrice?: string; price: string; offer: string | null; isFamilyShareable: boolean; isCurrent: boolean; isSelected: boolean;
}
export interface ControlConfiguration {
  options: PickerOption[]; select(id: string): void; subscribe(id?: string): Promise<PurchaseCompletion | null>;
  SubscribeButton(option: PickerOption): HTMLElement; SubscriptionPicker(option: (option: PickerOption) => Node, confirm?: (option: PickerOption) => Node): HTMLElement;
}
export class PerchSubscriptionStore extends View {
  controlStyle: ((configuration: ControlConfiguration) => Node) | null;
  signInAction?: () => void;
  preferredSubscriptionOffer: ((product: Product, subscription: SubscriptionInfo, eligible: SubscriptionOffer[]) => SubscriptionOffer | null) | null;
}
export class PerchSubscriptionOffer extends View {
  detailAction?: (product: Product) => void;
  preferredSubscriptionOffer: PerchSubscriptionStore['preferredSubscriptionOffer'];
}
export class OptionGroup extends HTMLElement { label: string; predicate?: (option: PlanOption) => boolean }
export class OptionGroupSet extends HTMLElement {
  value?: (option: PlanOption) => unknown; labels?: Record<string, string> | ((value: string) => string); marketing?: (value: string) => HTMLElement | null;
}

export function offerLine(option: PlanOption, language?: string): { text: string; isTrial: boolean; offer: SubscriptionOffer } | null;
export function manageSubscriptions(app: PerchApp, groupId: string, from?: HTMLElement): Promise<HTMLDialogElement | null>;
export function beginRefundRequest(app: PerchApp, transactionId: string): Promise<'success' | 'userCancelled' | 'failure'>;
export function addTexts(language: string, table: Record<string, unknown>): void;
export function text(language: string, key: string, values?: Record<string, unknown>): string;
export function periodText(language: string, period: Period, count?: number): string;
export function priceText(language: string, price: string | undefined, period?: Period): string;
export function errorText(language: string, error: { reason?: string; code?: string }, otherwise?: string): string;

interface PerchViewsEvents {
  inapppurchasestart: CustomEvent<{ product: Product }>;
  inapppurchasecompletion: CustomEvent<PurchaseCompletion>;
  storeproductschange: CustomEvent<TaskState<any>>;
  subscriptionstatuschange: CustomEvent<TaskState<any>>;
  currententitlementchange: CustomEvent<TaskState<any>>;
  restorecompletion: CustomEvent<{ error: PerchError | null }>;
  offercoderedemption: CustomEvent<{ appliesAtRenewal: boolean; transaction?: Transaction }>;
  refundrequestcompletion: CustomEvent<{ transactionId: string; result: string }>;
  managesubscriptions: CustomEvent<{ groupId: string }>;
  storemessage: CustomEvent<any>;
  purchaseintent: CustomEvent<any>;
  credentialsexpired: CustomEvent<{ error: PerchError }>;
  signin: CustomEvent<object>;
  storecancel: CustomEvent<object>;
}
declare global {
  interface HTMLElementEventMap extends PerchViewsEvents {}
  interface HTMLElementTagNameMap {
    'perch-app': PerchApp; 'perch-product': PerchProduct; 'perch-store': PerchStore; 'perch-subscription-store': PerchSubscriptionStore; 'perch-subscription-offer': PerchSubscriptionOffer;
    'perch-subscription-option-group': OptionGroup; 'perch-subscription-option-group-set': OptionGroupSet; 'perch-restore': View; 'perch-offer-code': View; 'perch-sign-in-button': View;
    'perch-cancellation': View; 'perch-policies': View; 'perch-refund-button': View; 'perch-manage-subscriptions': View;
  }
}

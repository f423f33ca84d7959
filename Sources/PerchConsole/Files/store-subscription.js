// Store views of subscriptions: SubscriptionStoreView with option groups and their sets, SubscriptionOfferView, and the primitives of
// which a page builds a control of its own.
import { drawUnpressed } from './press.js';
import { around, auxiliary, errorText, everyText, filled, h, iconOf, list, offerText, periodText, priceText, Selling, sheet, text } from './store.js';
import { manageSubscriptions } from './store-sheets.js';

const look = sheet(`
.store{border-radius:calc(var(--radius) + 2px);background:var(--card);border:1px solid var(--line);overflow:clip;min-width:0}.store.full{background:var(--perch-store-background,var(--tint))}
.head{padding:1.4rem 1.2rem;text-align:center;background:var(--perch-store-background,var(--tint))}.store.full .head{background:none}.full .bar{background:var(--perch-bar,color-mix(in srgb,var(--card) 70%,transparent));backdrop-filter:blur(14px)}.body{padding:1rem 1.2rem .2rem}.body:empty{display:none}.body:last-child{padding-bottom:1rem}.body>perch-policies{text-align:center;margin:0 0 .5rem}
.bar{position:sticky;bottom:0;z-index:1;background:var(--card);padding:.7rem 1.2rem;max-height:80dvh;overflow:auto}.bar:not(:has(button,input)){display:none}.bottom-bar .bar{border-top:1px solid var(--line)}.store>.aux,.side>.aux{padding:.2rem 1.2rem .7rem}
.beside{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr)}.beside .side{align-self:start;position:sticky;top:0;max-height:100dvh;overflow:auto}.leading.beside .head{order:1}
.bottom{display:flex;flex-direction:column;min-height:24rem}.bottom .body{margin-top:auto}
.options{display:grid;gap:.6rem;border:0;margin:0 0 .6rem;padding:0;min-width:0}.options legend{padding:0;font-weight:600;margin:.2rem 0}.option{position:relative;display:flex;flex-wrap:wrap;gap:0 .8rem;align-items:center;
border:1.5px solid var(--line);border-radius:var(--radius);padding:.7rem .9rem;background:var(--perch-item-background,color-mix(in srgb,var(--card) 55%,transparent));text-align:start;width:100%;min-width:0}label.option{cursor:pointer}
.option.plain{background:var(--card)}.option:not(.plain){backdrop-filter:blur(14px)}.told{flex:1;display:flex;flex-wrap:wrap;gap:0 .8rem;align-items:center;min-width:0}.told>:first-child{flex:1 1 12rem;min-width:0}.option input{position:absolute;opacity:0;width:1px;height:1px}.option:has(input:checked){border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.option:has(input:focus-visible){outline:2px solid var(--accent);outline-offset:2px}.option h3{font-size:1rem;display:flex;flex-wrap:wrap;gap:.4rem;align-items:center}
.price{font-weight:600;text-align:end;overflow-wrap:normal}.mark{font-size:.78rem;border-radius:99px;padding:.05rem .5rem;background:var(--tint);color:var(--accent);font-weight:600}
.picks{display:block;width:1.25rem;height:1.25rem;border-radius:50%;border:2px solid var(--edge)}.option:has(input:checked) .picks{border-color:var(--accent);background:radial-gradient(var(--accent) 45%,transparent 48%)}
.control-icon{font-size:1.5rem;min-width:0}.prominent .option{padding:1.1rem 1rem;box-shadow:0 2px 8px #0001}.prominent .option:has(input:checked){background:var(--tint);box-shadow:0 0 0 2px var(--accent)}.prominent .option:has(input:checked) .mark{background:var(--card)}
.compact{grid-template-columns:repeat(auto-fit,minmax(min(6.2rem,100%),1fr))}.compact .option{text-align:center;padding:.5rem .3rem;align-content:start}.compact .about,.compact .control-icon{display:none}.compact .told{flex-flow:column}.compact .told>*{flex:none;max-width:100%}.compact .price{font-size:.85rem;overflow-wrap:anywhere}.compact .option h3{justify-content:center}
.pager{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:.3rem;align-items:center}.turn{padding:0;width:2.2rem;font-size:1.2rem}.options.paged{display:flex;overflow-x:auto;overscroll-behavior-x:contain;scroll-snap-type:x mandatory;gap:.6rem;padding:3px;margin:0;scrollbar-width:none}.paged .option{flex:0 0 100%;scroll-snap-align:center;scroll-snap-stop:always}
.paged.prominent .option{flex-basis:88%}.paged.prominent .option:not(:has(input:checked)){transform:scale(.94)}.dots{display:flex;gap:.1rem;justify-content:center;margin:0 0 .4rem}.dots button{border:0;background:none;padding:0;width:1.5rem;min-height:1.5rem}
.dots i{display:block;margin:auto;width:.55rem;height:.55rem;border-radius:50%;background:var(--edge)}.dots [aria-current=true] i{background:var(--accent)}
button.subscribe{border-radius:var(--radius);padding:.6rem 1rem;background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}.bar>button.subscribe{width:100%}
button.subscribe small{display:block;font-weight:400}.caption{text-align:center;font-size:.88rem;margin:.2rem 0 .4rem}.tabs{display:flex;flex-wrap:wrap;gap:.3rem;border-radius:var(--radius);background:var(--tint);padding:.2rem;margin:0 0 .8rem}
.tabs button{flex:1;border:0;background:none}.tabs button[aria-selected=true]{background:var(--card);font-weight:600;box-shadow:0 1px 3px #0003}
.links{display:grid;gap:.5rem;margin:0 0 .8rem}.links button{border-radius:var(--radius);text-align:start;display:flex;justify-content:space-between}.links i{font-style:normal}:host(:dir(rtl)) .links i,:host(:dir(rtl)) .turn{transform:scaleX(-1)}
.buttons .option{cursor:default}.buttons .option .subscribe{flex:1 0 100%;margin-top:.5rem}.buttons .caption{flex:1 0 100%}dialog.group{padding:0;width:min(34rem,calc(100vw - 1.5rem))}dialog.group .store{border:0}.top{display:flex;justify-content:space-between;align-items:center;gap:.5rem;padding:.5rem .7rem 0}
@media(max-height:26rem){.bar{max-height:60dvh}}@media print{button.subscribe{display:none}.bar,.side{position:static!important;max-height:none!important}.turn,.dots{display:none}.options.paged{display:grid}}`);

const relations = { PLAN_RELATION_UPGRADE: 'upgrade', PLAN_RELATION_DOWNGRADE: 'downgrade', PLAN_RELATION_CROSSGRADE: 'crossgrade', PLAN_RELATION_CURRENT: 'current' };
const beside = ['leading', 'trailing'];
const placements = {
  picker: ['scroll-view', ...beside], 'prominent-picker': ['scroll-view', ...beside], buttons: ['scroll-view', ...beside, 'bottom', 'bottom-bar'], 'compact-picker': ['bottom', 'bottom-bar', ...beside],
  'paged-picker': ['bottom', 'bottom-bar', ...beside], 'paged-prominent-picker': ['bottom', 'bottom-bar', ...beside],
};
const wide = matchMedia('(min-width:44rem)');
const isShared = (status) => status.transaction?.transaction?.ownershipType === 'OWNERSHIP_TYPE_FAMILY_SHARED' && /SUBSCRIBED|GRACE/.test(status.state);
const isCurrent = (option) => option.relation === 'PLAN_RELATION_CURRENT';

/** The offers that an account may have of a plan, best first: win-back, promotional, introductory. */
function offersOf(option, eligibility) {
  const { product, offer } = option;
  const subscription = product.subscription ?? {};
  const may = (type) => (eligibility ?? []).filter((each) => each.productId === product.id && each.type === type && each.eligible).map((each) => each.offerId);
  const found = (type, offers) => may(type).map((id) => (offers ?? []).find((each) => each.id === id)).filter(Boolean).map((each) => ({ ...each, type }));
  const introductory = offer?.type === 'OFFER_TYPE_INTRODUCTORY' ? (subscription.introductoryOffers ?? []).find((each) => each.paymentMode === offer.paymentMode) ?? subscription.introductoryOffers?.[0] : null;
  return [...found('OFFER_TYPE_WIN_BACK', subscription.winBackOffers), ...found('OFFER_TYPE_PROMOTIONAL', subscription.promotionalOffers), ...(introductory ? [{ ...introductory, type: 'OFFER_TYPE_INTRODUCTORY' }] : [])];
}
const isTrial = (offer) => offer?.paymentMode === 'OFFER_PAYMENT_MODE_FREE_TRIAL';
const orderOf = (offer) => (offer && offer.type !== 'OFFER_TYPE_INTRODUCTORY' ? { offer: { type: offer.type, id: offer.id } } : {});

/** What the offer of an option says: {text, isTrial}, or null. */
export function offerLine(option, language = document.documentElement.lang || 'en') {
  const offer = option.chosenOffer ?? offersOf(option)[0];
  return offer ? { text: offerText(language, option.product, offer), isTrial: isTrial(offer), offer } : null;
}

/** What options of a group have in common: loading, eligibility, labels, buying. */
class Plans extends Selling {
  static sheets = [look];
  #preferred = null;
  /** StoreKit's preferredSubscriptionOffer: a function of product, subscription and eligible offers, which gives one or null. */
  get preferredSubscriptionOffer() { return this.#preferred; }
  set preferredSubscriptionOffer(choose) { this.#preferred = choose; if (this.isConnected) this.refresh(); }

  begin() {
    this.watched = this.fault = null;
    this.options = this.all = this.drawn = null;
    this.group = this.getAttribute('group-id');
    this.showState('loading');
    const ids = list(this.getAttribute('product-ids') ?? this.getAttribute('product-id'));
    const watch = (group) => {
      this.group = group;
      this.ends.push(this.app.subscriptionStatusTask(group, (state) => {
        this.tell('subscriptionstatuschange', state);
        if (state.failure && !this.options) this.showState('failure', errorText(this.language, state.failure));
        if (state.success) this.shared = (state.success.statuses ?? []).filter(isShared).map((each) => each.transaction.transaction.productId);
        if (!state.loading) this.refresh();
      }));
    };
    if (this.group) watch(this.group);
    else if (ids.length) {
      this.ends.push(this.app.storeProductsTask(ids, (state) => {
        const group = state.success?.products?.find((each) => each.subscription)?.subscription.groupId;
        if (group && !this.group) watch(group);
        if (state.success && !group) this.showState('unavailable', this.t('plansNotSold'));
        if (state.failure && !this.group) this.showState('failure', errorText(this.language, state.failure));
      }, this.app.locale(this)));
    }
    const online = () => this.refresh();
    this.app.addEventListener('online', online);
    const { app } = this;
    this.ends.push(() => app.removeEventListener('online', online), () => clearTimeout(this.later), () => this.#watchProducts([]));
  }

  /** The options, each with its relation to the plan that the customer has, and with the offer that is shown. */
  async refresh() {
    if (!this.group || !this.app?.account) return;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    let answer, eligibility = [];
    try {
      answer = await this.app.call('EntitlementService/ListPlanOptions', { groupId: this.group, locale: this.app.locale(this) });
      if ((answer.options ?? []).some(({ product }) => product.subscription?.winBackOffers?.length || product.subscription?.promotionalOffers?.length)) {
        eligibility = (await this.app.call('EntitlementService/GetOfferEligibility', { groupId: this.group }).catch(() => ({}))).offers ?? [];
      }
    } catch (error) {
      if (turn !== this.turn || !this.isConnected) return;
      if (!this.options) this.showState('failure', errorText(this.language, error));
      // The plans that are shown are older than the status that asked for others.
      if (error.isTransient || error.code === 'deadline_exceeded') this.#readAgain();
      return;
    }
    if (turn !== this.turn || !this.isConnected) return;
    clearTimeout(this.later);
    // A group that the catalogue does not have may come with the next one, which sends no message.
    if (answer.notInCatalog) this.#readAgain();
    else this.misses = 0;
    this.#watchProducts((answer.options ?? []).map(({ product }) => product.id));
    const ids = list(this.getAttribute('product-ids'));
    const wanted = list(this.getAttribute('visible-relationships') ?? 'all');
    this.all = (answer.options ?? []).filter(({ product }) => !ids.length || ids.includes(product.id));
    for (const option of this.all) option.chosenOffer = isCurrent(option) ? null : this.#chosen(option, offersOf(option, eligibility));
    const held = this.all.some(isCurrent);
    this.options = this.all.filter((each) => !held || wanted.includes('all') || wanted.includes(relations[each.relation]));
    this.toggleAttribute('data-empty', held && this.options.length === 0);
    if (!this.all.length) return this.showState('unavailable', this.t('plansNotSold'));
    if (this.fault) {
      this.options = [];
      this.toggleAttribute('data-empty', false);
      return this.showState('failure', errorText(this.language, this.fault));
    }
    this.setAttribute('data-state', 'success');
    // What looks the same stays, with the customer's place in it.
    const print = JSON.stringify([this.language, held, this.options, this.shared]);
    if (print === this.drawn) return;
    this.drawn = print;
    this.redraw();
  }
  #readAgain() {
    clearTimeout(this.later);
    this.misses = (this.misses ?? 0) + 1;
    this.later = setTimeout(() => this.refresh(), Math.min(60_000, 1_000 * 2 ** this.misses));
  }
  #chosen(option, offers) {
    if (this.#preferred) return this.#preferred(option.product, option.product.subscription, offers) ?? null;
    const named = this.getAttribute('promotional-offer');
    const fits = offers.filter((each) => each.type !== 'OFFER_TYPE_PROMOTIONAL' || each.id === named);
    return fits.find((each) => each.id && each.id === named) ?? fits[0] ?? null;
  }

  /** Names and prices are live as well. */
  #watchProducts(ids) {
    const key = ids.join(' ');
    if (this.watched === key) return;
    this.watched = key;
    this.endProducts?.();
    let known = null;
    this.endProducts = ids.length ? this.app?.storeProductsTask(ids, (state) => {
      // Products that were never loaded are not shown either; a later failure keeps what is there.
      if (state.failure && known === null && !this.fault) { this.fault = state.failure; this.refresh(); }
      if (!state.success) return;
      const print = JSON.stringify(state.success);
      if (this.fault || known !== null && known !== print) { this.fault = null; this.refresh(); }
      known = print;
      this.tell('storeproductschange', state);
    }, this.app.locale(this)) : null;
  }

  /** A state without options. */
  showState(name, sentence) {
    this.drawn = null;
    this.setAttribute('data-state', name);
    this.shownState = [name, sentence];
    this.show(h('div.store', { part: 'store' }, name === 'loading' ? h('div.body', { 'aria-busy': 'true' }, h('span.spin', { role: 'img', 'aria-label': this.t('loading') })) : h('div.body', {}, h('h3', {}, this.t(name === 'failure' ? 'notLoaded' : 'unavailable')), h('p.soft', {}, sentence))));
  }
  draw() { if (!this.options?.length && this.shownState) this.showState(...this.shownState); }

  price({ product }) { return priceText(this.language, product.displayPrice, product.subscription?.period); }
  /** The label of a subscribe button, by `button-label`. */
  label(option) {
    const { product } = option;
    const offer = offerLine(option, this.language);
    const action = isCurrent(option) ? this.t('current') : this.isNext(option) ? this.t('next') : offer?.isTrial ? this.t('tryFree') : offer && offer.offer.type !== 'OFFER_TYPE_INTRODUCTORY' ? this.t('accept') : { PLAN_RELATION_UPGRADE: this.t('upgrade'), PLAN_RELATION_DOWNGRADE: this.t('change'), PLAN_RELATION_CROSSGRADE: this.t('change') }[option.relation] ?? this.t('subscribe');
    const price = offer?.text ?? this.price(option);
    const wanted = list(this.getAttribute('button-label') ?? 'automatic');
    const first = wanted.includes('price') ? price : wanted.includes('display-name') ? product.displayName || product.id : action;
    const isTwo = wanted.includes('multiline');
    return { first, second: isTwo ? (first === price ? action : price) : null, price };
  }
  /** Whether the customer's subscription renews as this plan, and not as the one of now. */
  isNext(option) { return !!option.preferred && !isCurrent(option) && this.all.some(isCurrent); }
  /** A button that buys an option. */
  subscribeButton(option) {
    const isHeld = isCurrent(option) || this.isNext(option);
    const label = this.label(option);
    const name = option.product.displayName || option.product.id;
    return h('button.subscribe', {
      part: 'subscribe', 'data-key': 'subscribe ' + option.product.id, 'data-product': option.product.id, 'aria-label': [...new Set([label.first, label.second, name].filter(Boolean))].join(', '),
      disabled: !this.canBuy, 'aria-disabled': isHeld ? 'true' : null, onclick: (event) => { if (!isHeld) this.buy(option, event.currentTarget); },
    }, label.first, label.second ? h('small', {}, label.second) : null);
  }
  caption(option) {
    if (isCurrent(option)) return null;
    const { second, first, price } = this.label(option);
    const parts = [second || first === price ? null : price, option.takesEffectAtRenewal ? this.t('atRenewal') : this.t('anyTime')];
    return parts.filter(Boolean).map((each) => (/[.。]$/.test(each) ? each : each + '.')).join(' ');
  }
  async buy(option, button) {
    // Not disabled: the focus stays on it, and a second click buys nothing while the first is on its way.
    button?.setAttribute('aria-disabled', 'true');
    const key = button?.dataset.key;
    const result = await this.app.purchase(option.product, orderOf(option.chosenOffer), this, { offer: option.chosenOffer, atRenewal: option.takesEffectAtRenewal });
    if (button?.isConnected) button.removeAttribute('aria-disabled');
    if (key && !this.shadowRoot.activeElement) this.focusOn(key);
    this.refresh();
    return result;
  }
}

/**
 * SubscriptionStoreView. Attributes: `group-id` or `product-ids`; `visible-relationships` (words of upgrade, downgrade, crossgrade,
 * current, all); `control-style`; `control-placement`; `button-label` (words of price, display-name, action, single-line, multiline);
 * `item-background`; `background` (header or full-height); `store-button`; `option-group-style` (tabs, links or inline);
 * `promotional-offer`. Properties: `controlStyle` (a function that makes a control of the page's own), `signInAction`,
 * `preferredSubscriptionOffer`. Slots: `marketing`, `control-icon-ID`, `policies`. Children `perch-subscription-option-group` nest.
 */
export class PerchSubscriptionStore extends Plans {
  static observedAttributes = ['group-id', 'product-ids', 'visible-relationships', 'control-style', 'control-placement', 'button-label', 'background', 'item-background', 'store-button', 'option-group-style', 'promotional-offer'];
  #panes = new Set();
  #control = null;
  #signIn;
  constructor() {
    super();
    for (const name of ['controlStyle', 'signInAction', 'preferredSubscriptionOffer']) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
  }
  get signInAction() { return this.#signIn; }
  set signInAction(action) { this.#signIn = action; this.redraw(); }
  get controlStyle() { return this.#control; }
  set controlStyle(make) { this.#control = make; this.draw(); }
  /** The place of the main pane survives what the attributes change. */
  begin() {
    this.main ??= new Pane(this, this, () => this.options);
    this.#panes = new Set([this.main]);
    const groups = new MutationObserver(() => this.redraw());
    groups.observe(this, { childList: true });
    const turn = () => this.redraw();
    wide.addEventListener('change', turn);
    this.ends.push(() => groups.disconnect(), () => wide.removeEventListener('change', turn));
    super.begin();
  }
  draw() {
    if (!this.options?.length && !this.hasAttribute('data-empty')) return super.draw();
    for (const pane of this.#panes) pane.draw();
  }
  get control() { const style = this.getAttribute('control-style') ?? 'automatic'; return placements[style] ? style : 'picker'; }
  get placement() {
    const wanted = this.getAttribute('control-placement') ?? 'automatic';
    return placements[this.control].includes(wanted) ? wanted : this.control.includes('paged') || this.control === 'compact-picker' ? 'bottom' : 'scroll-view';
  }

  /** Groups of this level of nesting: children of the store, or of the group that is open. */
  groups(parent, options) {
    return [...parent.children].flatMap((each) => (each instanceof OptionGroup ? [each] : each instanceof OptionGroupSet ? each.groups(options) : [])).filter((group) => options.some((option) => group.accepts(option)));
  }
  /** The plans behind a link, in a sheet over the store. */
  open(group, options) {
    const pane = new Pane(this, group, () => (this.options ?? []).filter((each) => options().includes(each) && group.accepts(each)));
    const dialog = h('dialog.group', { part: 'dialog', 'aria-label': group.label }, pane.element);
    pane.dialog = dialog;
    this.#panes.add(pane);
    dialog.addEventListener('close', () => { this.#panes.delete(pane); dialog.remove(); [...this.#panes].at(-1)?.keep(this.message); this.focusOn('link ' + group.label); });
    this.ends.push(() => dialog.open && dialog.close());
    this.shadowRoot.append(dialog);
    pane.draw();
    dialog.showModal();
    return pane;
  }
  say(sentence, isBad) { super.say(sentence, isBad); if (this.message.isConnected && sentence) this.message.scrollIntoView({ block: 'nearest' }); }
  async buy(option, button) {
    const result = await super.buy(option, button);
    // A plan that was bought in a sheet of the store closes it.
    if (result?.result === 'success') for (const pane of [...this.#panes]) if (pane.dialog) { pane.dialog.close(); this.say(this.t(option.takesEffectAtRenewal ? 'atRenewal' : 'thanks', { name: option.product.displayName || option.product.id })); }
    return result;
  }
}

/** One arrangement of a store's plans: the store itself, or the sheet behind a link. */
class Pane {
  constructor(store, parent, options) {
    Object.assign(this, { store, parent, all: options, path: [], selected: '', element: h('div', {}), name: `plan-${(Pane.count = (Pane.count ?? 0) + 1)}` });
  }
  get shadow() { return this.store.shadowRoot; }

  draw() {
    const { store } = this;
    let parent = this.parent, options = this.all() ?? [];
    const levels = [], sections = [];
    for (let depth = 0; ; depth += 1) {
      const groups = store.groups(parent, options);
      const style = parent.getAttribute('option-group-style') ?? store.getAttribute('option-group-style') ?? 'tabs';
      const inline = groups.filter((group) => style === 'inline' || group.hasAttribute('inline'));
      const others = groups.filter((group) => !inline.includes(group));
      for (const group of inline) sections.push({ group, options: options.filter((each) => group.accepts(each)) });
      if (!others.length) break;
      if (style === 'links') {
        const all = options;
        levels.push(this.#links(others, () => all.map(({ product }) => (store.options ?? []).find((each) => each.product.id === product.id)).filter(Boolean)));
        options = options.filter((each) => !others.some((group) => group.accepts(each)));
        break;
      }
      const chosen = others.find((group) => group.label === this.path[depth]) ?? others[0];
      levels.push(this.#tabs(others, chosen, depth));
      options = options.filter((each) => chosen.accepts(each));
      parent = chosen;
    }
    if (sections.length) {
      const rest = options.filter((each) => !sections.some((section) => section.options.includes(each)));
      options = [...sections.flatMap((section) => section.options), ...rest];
      if (rest.length) sections.push({ group: null, options: rest });
    }
    if (!options.some((each) => each.product.id === this.selected)) this.selected = (options.find((each) => !isCurrent(each)) ?? options[0])?.product.id ?? '';
    this.options = options;
    const { placement, control } = store;
    if (!this.dialog) store.setAttribute('data-placement', placement);
    const isFull = store.getAttribute('background') === 'full-height';
    const picks = store.controlStyle ? h('div', {}, this.#own()) : control === 'buttons' ? h('div.buttons', {}, this.#sections(sections, options, (option) => this.#card(option))) : this.#picker(sections, options, control);
    const isBar = placement === 'bottom-bar' && !store.controlStyle;
    const { policies, others } = auxiliary(store, { cancellation: store.isPresented && !this.dialog, 'sign-in': !!(store.signInAction ?? store.app?.signInAction) });
    const focused = this.shadow.activeElement;
    const key = focused && this.element.contains(focused) || focused && store.root.contains(focused) ? focused.dataset.key : null;
    const scrolled = [this.bar?.scrollTop, this.bar?.closest('.side')?.scrollTop];
    this.foot = h('div', {});
    this.bar = h('div.bar', { part: 'bar' }, isBar ? picks : null, this.foot);
    const top = this.dialog ? h('div.top', {}, h('button.link', { 'data-key': 'close', onclick: () => this.dialog.close() }, store.t('back')), h('b', {}, this.parent.label)) : null;
    // On a narrow screen there is no side to stand on.
    const isBeside = beside.includes(placement) && wide.matches;
    const controls = [h('div.body', {}, levels, policies, store.hasAttribute('data-empty') ? h('p.soft', {}, store.t('noOther')) : null, isBar || !options.length ? null : picks, this.dialog ? null : h('slot', { name: 'policies' })), this.bar, this.dialog ? null : h('div.aux', { part: 'auxiliaries' }, others)];
    const nodes = h('div', { class: `store ${placement}${isBeside ? ' beside' : ''}${isFull ? ' full' : ''}`, part: 'store' }, top,
      h('div.head', { part: 'marketing' }, this.#marketing(parent)),
      isBeside ? h('div.side', {}, controls) : controls);
    if (this.dialog) this.element.replaceChildren(nodes);
    else store.show(nodes);
    this.keep(store.message);
    this.#update();
    [this.bar.scrollTop, (this.bar.closest('.side') ?? {}).scrollTop] = scrolled;
    if (key) store.focusOn(key);
    if (this.fields) this.#settle();
  }
  /** The message of the store stands above the button, so that it is seen. */
  keep(message) { if (this.dialog || ![...this.shadow.querySelectorAll('dialog.group')].length) this.bar?.prepend(message); }

  #marketing(parent) {
    for (let at = parent; at && at !== this.store; at = at.parentElement ?? at.set) {
      const name = at.marketingSlot?.(this.store);
      if (name) return h('slot', { name });
    }
    const title = this.store.all?.[0]?.product.subscription.groupDisplayName;
    return h('slot', { name: 'marketing' }, title ? h('h2', {}, title) : null);
  }

  // MARK: Groups

  #tabs(groups, chosen, depth) {
    const { store } = this;
    const open = (group) => { this.path = [...this.path.slice(0, depth), group.label]; this.draw(); store.focusOn(`tab ${depth} ${group.label}`); };
    const move = (event) => {
      const isRTL = getComputedStyle(store).direction === 'rtl';
      const step = { ArrowRight: isRTL ? -1 : 1, ArrowLeft: isRTL ? 1 : -1, Home: -groups.indexOf(chosen), End: groups.length - 1 - groups.indexOf(chosen) }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      open(groups[(groups.indexOf(chosen) + step + groups.length) % groups.length]);
    };
    return h('div.tabs', { role: 'tablist', part: 'tabs', 'aria-label': store.t('plans'), onkeydown: move }, groups.map((group) => h('button', { role: 'tab', part: 'tab', 'data-key': `tab ${depth} ${group.label}`, 'aria-selected': String(group === chosen), tabindex: group === chosen ? '0' : '-1', onclick: () => open(group) }, group.label)));
  }
  #links(groups, options) {
    const { store } = this;
    return h('div.links', { part: 'links' }, groups.map((group) => h('button', { 'data-key': 'link ' + group.label, 'aria-haspopup': 'dialog', onclick: () => store.open(group, options) }, h('span', {}, group.label), h('i', { 'aria-hidden': 'true' }, '›'))));
  }

  // MARK: Controls

  #texts(option) {
    const { store } = this;
    const { product } = option;
    const marks = [isCurrent(option) ? store.t('current') : null, store.isNext(option) ? store.t('next') : null, store.shared?.includes(product.id) ? store.t('shared') : null, product.isFamilyShareable ? store.t('family') : null].filter(Boolean);
    return h('div.told', {}, h('div', {}, h('h3', { part: 'title' }, product.displayName || product.id, marks.map((each) => h('span.mark', { part: 'badge' }, each))), h('p.soft.about', { part: 'description' }, h('bdi', {}, product.description ?? ''))), h('div.price', { part: 'price' }, h('bdi', {}, store.price(option))));
  }
  #icon({ product }, fallback) { return filled(h('span.control-icon', { 'aria-hidden': 'true' }), `control-icon-${product.id}`, fallback); }
  #sections(sections, options, make, classes = '') {
    const box = (some, label) => h('fieldset', { class: `options ${classes}`, part: 'options', 'aria-label': label ? null : this.store.t('plans') }, label ? h('legend', {}, label) : null, some.map(make));
    return sections.length ? sections.map((section) => box(section.options, section.group?.label)) : [box(options)];
  }
  #option(option) {
    const { product } = option;
    return h('label', { class: `option${this.store.hasAttribute('item-background') ? '' : ' plain'}`, part: 'option', 'data-product': product.id },
      h('input', { type: 'radio', name: this.name, value: product.id, 'data-key': `plan ${this.name} ${product.id}`, checked: product.id === this.selected, onchange: () => { this.select(product.id); this.#settle(); } }), this.#icon(option, this.options.length < 2 || this.store.control.startsWith('paged') ? null : h('span.picks')), this.#texts(option));
  }
  #card(option) {
    return h('div', { class: `option${this.store.hasAttribute('item-background') ? '' : ' plain'}`, part: 'option', 'data-product': option.product.id }, this.#icon(option), this.#texts(option), this.store.subscribeButton(option), this.#captioned(option));
  }
  #captioned(option) { const words = this.store.caption(option); return words ? h('p.caption.soft', { part: 'caption' }, h('bdi', {}, words)) : null; }
  #picker(sections, options, control) {
    const kinds = [control.includes('prominent') ? 'prominent' : '', control.startsWith('compact') ? 'compact' : '', control.startsWith('paged') ? 'paged' : ''].filter(Boolean).join(' ');
    this.fields = null;
    const boxes = this.#sections(kinds.includes('paged') ? [] : sections, options, (option) => this.#option(option), kinds);
    if (!kinds.includes('paged')) return h('div', {}, boxes);
    [this.fields] = boxes;
    this.fields.addEventListener('scroll', () => this.#scrolled());
    this.width = 0;
    this.sizes?.disconnect();
    this.sizes = new ResizeObserver(() => this.#settle());
    this.sizes.observe(this.fields);
    const turn = (step, key, sign) => h('button.turn', { part: 'page', 'data-key': key, 'aria-label': this.store.t(key), onclick: () => this.turn(step) }, sign);
    this.dots = h('div.dots', { part: 'dots' }, options.map(({ product }) => h('button', { 'data-key': 'dot ' + product.id, 'aria-label': this.store.t('page', { name: product.displayName || product.id }), onclick: () => { this.select(product.id); this.#settle(); } }, h('i'))));
    this.turns = [turn(-1, 'previous', '‹'), turn(1, 'following', '›')];
    return h('div', {}, h('div.pager', {}, this.turns[0], this.fields, this.turns[1]), this.dots);
  }
  /** A control of the page's own, from the same parts. */
  #own() {
    const { store } = this;
    const configuration = {
      options: this.options.map((option) => ({
        id: option.product.id, product: option.product, displayName: option.product.displayName, description: option.product.description ?? '', displayPrice: option.product.displayPrice, price: store.price(option),
        offer: offerLine(option, store.language)?.text ?? null, isFamilyShareable: !!option.product.isFamilyShareable, isCurrent: isCurrent(option), isSelected: option.product.id === this.selected, option,
      })),
      select: (id) => { this.select(id); this.draw(); }, subscribe: (id) => store.buy(this.options.find((each) => each.product.id === (id ?? this.selected))),
      SubscribeButton: (each) => store.subscribeButton(each.option),
      SubscriptionPicker: (make, confirm) => h('div', {}, h('fieldset.options', { part: 'options', 'aria-label': store.t('plans') }, configuration.options.map((each) => h('label', { part: 'option', 'data-product': each.id, style: 'position:relative;display:block;cursor:pointer' },
        h('input', { type: 'radio', style: 'position:absolute;opacity:0', name: this.name, value: each.id, 'data-key': `plan ${this.name} ${each.id}`, checked: each.isSelected, onchange: () => configuration.select(each.id) }), make(each)))),
      confirm ? confirm(configuration.options.find((each) => each.isSelected)) : configuration.SubscribeButton(configuration.options.find((each) => each.isSelected))),
    };
    return this.options.length ? store.controlStyle(configuration) : null;
  }

  // MARK: The plan that is chosen

  select(id) {
    if (this.selected === id) return;
    this.selected = id;
    this.#update();
  }
  /** What depends on the choice, without a control that is drawn anew under the customer's finger. */
  #update() {
    const { store } = this;
    const chosen = this.options.find((each) => each.product.id === this.selected);
    for (const input of this.element.isConnected && this.dialog ? this.element.querySelectorAll('input[type=radio]') : store.root.querySelectorAll('input[type=radio]')) input.checked = input.value === this.selected;
    for (const dot of this.dots?.children ?? []) dot.setAttribute('aria-current', String(dot.dataset.key === 'dot ' + this.selected));
    const at = this.options.indexOf(chosen);
    if (this.turns) { this.turns[0].disabled = at <= 0; this.turns[1].disabled = at < 0 || at >= this.options.length - 1; }
    if (store.control === 'buttons' || store.controlStyle || !chosen) return this.foot.replaceChildren();
    const wasFocused = this.foot.contains(this.shadow.activeElement);
    const button = store.subscribeButton(chosen);
    button.style.width = '100%';
    // A plan that is out of sight is named beside the button.
    const caption = store.caption(chosen);
    const name = chosen.product.displayName || chosen.product.id;
    this.foot.replaceChildren(...[caption ? h('p.caption.soft', { part: 'caption' }, h('bdi', {}, h('b', {}, name), ': ', caption)) : null, button].filter(Boolean));
    button.addEventListener('click', (event) => {
      // The plan that is on the screen is bought, wherever a finger has just left it.
      const seen = this.#shown();
      if (!seen || seen === this.selected) return;
      event.stopImmediatePropagation();
      this.select(seen);
      store.buy(this.options.find((each) => each.product.id === seen), this.foot.querySelector('button'));
    }, { capture: true });
    if (wasFocused) button.focus({ preventScroll: true });
  }
  turn(step) {
    const at = this.options.findIndex((each) => each.product.id === this.selected) + step;
    if (!this.options[at]) return;
    this.select(this.options[at].product.id);
    this.#settle();
  }
  /** The page that is in the middle. */
  #shown() {
    if (!this.fields?.isConnected || !this.fields.clientWidth) return null;
    const box = this.fields.getBoundingClientRect();
    const middle = box.left + box.width / 2;
    let best = null, least = Infinity;
    for (const page of this.fields.querySelectorAll('.option')) {
      const rect = page.getBoundingClientRect();
      const distance = Math.abs(rect.left + rect.width / 2 - middle);
      if (distance < least) [best, least] = [page.dataset.product, distance];
    }
    return best;
  }
  #scrolled() {
    // A pager that is being laid out says nothing about the customer.
    if (this.width !== this.fields.clientWidth || !this.width) return;
    drawUnpressed(this, () => {
      const shown = this.#shown();
      if (shown) this.select(shown);
    });
  }
  /** Brings the chosen page into the middle. */
  #settle() {
    if (!this.fields) return;
    this.width = this.fields.clientWidth;
    const page = [...this.fields.querySelectorAll('.option')].find((each) => each.dataset.product === this.selected);
    if (!this.width || !page) return;
    const [box, rect] = [this.fields.getBoundingClientRect(), page.getBoundingClientRect()];
    this.fields.scrollBy({ left: rect.left + rect.width / 2 - box.left - box.width / 2, behavior: 'instant' });
  }
}

let slots = 0;
/** The marketing content of a group stands in the store, so that the page's own styles reach it. */
function slotOf(owner, store, node) {
  if (!node) return null;
  if (node.slot === 'marketing') node.slot = `perch-group-${(slots += 1)}`;
  if (node.parentNode !== store) store.append(node);
  return node.slot;
}

/** SubscriptionOptionGroup: `label`, and `level`, `period`, `product-ids` or a `predicate` property decide what is in it. */
export class OptionGroup extends HTMLElement {
  get label() { return this.getAttribute('label') ?? ''; }
  accepts(option) {
    const subscription = option.product.subscription ?? {};
    const [level, period, ids] = [this.getAttribute('level'), this.getAttribute('period'), list(this.getAttribute('product-ids'))];
    if (level && String(subscription.groupLevel) !== level) return false;
    if (period && periodText('en', subscription.period) !== period && periodText('en', subscription.period) !== `1 ${period}`) return false;
    if (ids.length && !ids.includes(option.product.id)) return false;
    return this.predicate ? !!this.predicate(option) : true;
  }
  marketingSlot(store) {
    this.marketing ??= this.querySelector(':scope > [slot=marketing]');
    return slotOf(this, store, this.marketing);
  }
}

/**
 * SubscriptionOptionGroupSet and SubscriptionPeriodGroupSet: a group for each value. `by` is level, period, type, or any field of
 * the product (`displayName`, `isFamilyShareable`); the property `value`, a function of the option, makes any other key. `labels` are
 * lines `value=label`, separated by `;` where a label has spaces. Marketing content: `<div slot="marketing" data-value="1">`, or the
 * property `marketing`, a function of the value.
 */
export class OptionGroupSet extends HTMLElement {
  #key(option) {
    const by = this.getAttribute('by') ?? 'level';
    const { product } = option;
    if (typeof this.value === 'function') return String(this.value(option));
    if (by === 'level') return String(product.subscription?.groupLevel ?? '');
    if (by === 'period') return periodText('en', product.subscription?.period);
    return String(product[by] ?? product.subscription?.[by] ?? '');
  }
  #labels() {
    const words = this.getAttribute('labels') ?? '';
    const pieces = words.includes(';') || /\n/.test(words.trim()) ? words.split(/[;\n]/) : words.match(/[^\s,=]+=(?:(?!\s+[^\s,=]+=)[^,])+/g) ?? [];
    return Object.fromEntries(pieces.map((each) => each.trim()).filter(Boolean).map((each) => { const at = each.indexOf('='); return [each.slice(0, at).trim(), each.slice(at + 1).trim()]; }));
  }
  groups(options) {
    const by = this.getAttribute('by') ?? 'level';
    const names = { ...this.#labels(), ...(typeof this.labels === 'object' ? this.labels : {}) };
    const language = around(this, (each) => each.app)?.language ?? 'en';
    const values = [...new Set(options.map((each) => this.#key(each)))];
    if (by === 'level') values.sort((a, b) => Number(a) - Number(b));
    this.made ??= new Map();
    return values.map((value) => {
      if (!this.made.has(value)) {
        const group = document.createElement('perch-subscription-option-group');
        group.predicate = (option) => this.#key(option) === value;
        group.set = this;
        group.marketing = this.querySelector(`:scope > [slot=marketing][data-value="${CSS.escape(value)}"]`) ?? this.marketing?.(value) ?? null;
        if (group.marketing) group.marketing.slot = 'marketing';
        this.made.set(value, group);
      }
      const group = this.made.get(value);
      const first = options.find((each) => this.#key(each) === value);
      const own = typeof this.labels === 'function' ? this.labels(value) : names[value] ?? names[value.replace(/^1 /, '')];
      group.setAttribute('label', own ?? (typeof this.value === 'function' ? value : by === 'level' ? text(language, 'level', { value }) : by === 'period' ? everyText(language, first.product.subscription?.period) : value));
      for (const name of ['inline', 'option-group-style']) if (this.hasAttribute(name)) group.setAttribute(name, this.getAttribute(name));
      return group;
    });
  }
}

/**
 * SubscriptionOfferView: one plan with its offer and a button. `group-id` with `visible-relationship` (upgrade, downgrade, crossgrade,
 * current), or `product-id`; `prefers-promotional-icon`; slot `icon`. The property `detailAction` shows a button for details.
 */
export class PerchSubscriptionOffer extends Plans {
  static observedAttributes = ['group-id', 'product-id', 'visible-relationship', 'prefers-promotional-icon', 'button-label', 'promotional-offer'];
  draw() {
    const id = this.getAttribute('product-id');
    const relation = this.getAttribute('visible-relationship');
    const held = (this.all ?? []).some(isCurrent);
    const fits = (this.options ?? []).filter((each) => (!id || each.product.id === id) && (!relation || !held || relations[each.relation] === relation));
    const option = fits.find((each) => !isCurrent(each)) ?? fits[0];
    this.toggleAttribute('data-empty', !!this.options?.length && !option);
    if (!this.options?.length) return super.draw();
    if (!option) return this.show();
    const { product } = option;
    const caption = this.caption(option);
    this.show(h('div.product', { part: 'product' }, iconOf(this, product, { promotional: this.hasAttribute('prefers-promotional-icon'), border: this.hasAttribute('product-icon-border') }),
      h('div.texts', {}, h('h3', { part: 'title' }, product.displayName || product.id), h('p.soft', { part: 'description' }, product.description ?? ''), caption ? h('p.soft', { part: 'caption' }, caption) : null,
        this.detailAction ? h('button.link', { part: 'auxiliary', 'data-key': 'details', onclick: () => this.detailAction(product) }, this.t('details')) : null), this.subscribeButton(option)));
  }
}

for (const [tag, type] of Object.entries({
  'perch-subscription-option-group': OptionGroup, 'perch-subscription-option-group-set': OptionGroupSet, 'perch-subscription-store': PerchSubscriptionStore,
  'perch-subscription-offer': PerchSubscriptionOffer,
})) customElements.get(tag) ?? customElements.define(tag, type);

export { manageSubscriptions };

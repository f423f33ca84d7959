// Store views of subscriptions: SubscriptionStoreView, option groups and their sets, and the subscriptions sheet.
import { h, list, periodText, freePeriod, sheet, View, auxiliary } from './store.js';

const look = sheet(`
:host{position:relative}.store{border-radius:14px;background:var(--card);border:1px solid var(--line);overflow:hidden}
.store.full{background:var(--store-background,var(--tint))}.head{padding:1.4rem 1.2rem;text-align:center;background:var(--store-background,var(--tint))}
.store.full .head{background:none}.body{padding:1rem 1.2rem}.store.leading,.store.trailing{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr)}
.store.trailing .head{order:0}.store.leading .head{order:1}.bottom-bar .controls{position:sticky;bottom:0;background:var(--card);padding-top:.6rem;border-top:1px solid var(--line)}
.store.bottom{display:flex;flex-direction:column;min-height:30rem}.store.bottom .body{margin-top:auto}
.options{display:grid;gap:.6rem;border:0;margin:0 0 .8rem;padding:0;min-width:0}.option{position:relative;display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:0 .8rem;align-items:center;
border:1.5px solid var(--line);border-radius:12px;padding:.7rem .9rem;background:var(--item-background,var(--card));cursor:pointer;text-align:left;width:100%;min-height:0}
.option.plain{background:var(--card)}.option input{position:absolute;opacity:0;width:1px;height:1px}.option:has(input:checked){border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.option:focus-within{outline:2px solid var(--accent);outline-offset:2px}.option h3{font-size:1rem;display:flex;flex-wrap:wrap;gap:.4rem;align-items:center}
.option .price{font-weight:600;text-align:right;white-space:nowrap}.mark{font-size:.78rem;border-radius:99px;padding:.05rem .5rem;background:var(--tint);color:var(--accent);font-weight:600}
.picks{display:block;width:1.25rem;height:1.25rem;border-radius:50%;border:2px solid var(--soft);grid-row:span 2}.option:has(input:checked) .picks{border-color:var(--accent);background:radial-gradient(var(--accent) 45%,transparent 48%)}
.control-icon{grid-row:span 2;font-size:1.5rem;min-width:0}.prominent .option{padding:1.1rem 1rem}.prominent .option:has(input:checked){background:var(--tint)}.prominent .option:has(input:checked) .mark{background:var(--card)}
.compact{grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr))}.compact .option{grid-template-columns:minmax(0,1fr);text-align:center;padding:.5rem}.compact .picks,.compact .about,.compact .control-icon{display:none}.compact .price{text-align:center;grid-column:1}.compact .option h3{justify-content:center}
.paged{display:flex;overflow-x:auto;scroll-snap-type:x mandatory;gap:.6rem;padding:2px}.paged .option{flex:0 0 100%;scroll-snap-align:center}.dots{display:flex;gap:.4rem;justify-content:center;margin:0 0 .6rem}
.dots i{width:.5rem;height:.5rem;border-radius:50%;background:var(--line)}.dots i.here{background:var(--accent)}
button.subscribe{width:100%;border-radius:12px;padding:.6rem 1rem;background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
button.subscribe small{display:block;font-weight:400}.caption{text-align:center;font-size:.88rem;margin:.4rem 0}.tabs{display:flex;gap:.3rem;border-radius:99px;background:var(--tint);padding:.2rem;margin:0 0 .8rem}
.tabs button{flex:1;border:0;background:none}.tabs button[aria-selected=true]{background:var(--card);font-weight:600;box-shadow:0 1px 3px #0003}
.links{display:grid;gap:.5rem;margin:0 0 .8rem}.links button{border-radius:12px;text-align:left;display:flex;justify-content:space-between}.buttons .option{grid-template-columns:auto minmax(0,1fr) auto}
@media(max-width:30rem){.options:not(.compact) .option{grid-template-columns:auto minmax(0,1fr)}.options:not(.compact) .price{grid-column:2;text-align:left}}@media(max-width:44rem){.store.leading,.store.trailing{display:block}}`);

const relations = { PLAN_RELATION_UPGRADE: 'upgrade', PLAN_RELATION_DOWNGRADE: 'downgrade', PLAN_RELATION_CROSSGRADE: 'crossgrade', PLAN_RELATION_CURRENT: 'current' };
const placements = {
  picker: ['scroll-view', 'leading', 'trailing'], 'prominent-picker': ['scroll-view', 'leading', 'trailing'], buttons: ['scroll-view', 'leading', 'trailing', 'bottom', 'bottom-bar'],
  'compact-picker': ['bottom', 'bottom-bar', 'leading', 'trailing'], 'paged-picker': ['bottom', 'bottom-bar', 'leading', 'trailing'], 'paged-prominent-picker': ['bottom', 'bottom-bar', 'leading', 'trailing'],
};

/** What the introductory or other offer of an option says. */
export function offerLine(option) {
  const { product, offer } = option;
  if (!offer || offer.type !== 'OFFER_TYPE_INTRODUCTORY') return null;
  const found = (product.subscription?.introductoryOffers ?? []).find((each) => each.paymentMode === offer.paymentMode) ?? product.subscription?.introductoryOffers?.[0];
  const every = `${product.displayPrice}/${periodText(product.subscription?.period)}`;
  if (offer.paymentMode === 'OFFER_PAYMENT_MODE_FREE_TRIAL') return { isTrial: true, text: `${freePeriod(found?.period ?? offer.period)} free, then ${every}` };
  if (offer.paymentMode === 'OFFER_PAYMENT_MODE_PAY_UP_FRONT') return { text: `${found?.displayPrice} for ${freePeriod(found?.period)}, then ${every}` };
  return { text: `${found?.displayPrice}/${periodText(found?.period)} for ${periodText(found?.period, Number(found?.periodCount ?? 1))}, then ${every}` };
}

/**
 * SubscriptionStoreView. Attributes: `group-id` or `product-ids`; `visible-relationships` (words of upgrade, downgrade, crossgrade,
 * current, all); `control-style`; `control-placement`; `button-label` (words of price, display-name, action, single-line, multiline);
 * `item-background`; `background` (header or full-height); `store-button`; `option-group-style` (tabs or links). Slots: `marketing`,
 * `control-icon-ID`, `policies`. Children `perch-subscription-option-group` nest.
 */
export class PerchSubscriptionStore extends View {
  static sheets = [look];
  static observedAttributes = ['group-id', 'product-ids', 'visible-relationships', 'control-style', 'control-placement', 'button-label', 'background', 'item-background', 'store-button', 'option-group-style'];

  begin() {
    this.watched = null;
    this.group = this.getAttribute('group-id');
    this.path = [];
    this.shadowRoot.replaceChildren(h('div.store', {}, h('div.body', { 'aria-busy': 'true' }, h('span.spin', { role: 'img', 'aria-label': 'loading' }))));
    const ids = list(this.getAttribute('product-ids'));
    const watch = (group) => {
      this.group = group;
      this.ends.push(this.app.subscriptionStatusTask(group, (state) => { this.tell('subscriptionstatuschange', state); if (!state.loading) this.refresh(state); }));
    };
    if (this.group) watch(this.group);
    else if (ids.length) {
      const end = this.app.storeProductsTask(ids, (state) => {
        const group = state.success?.products?.find((each) => each.subscription)?.subscription.groupId;
        if (group && !this.group) watch(group);
        if (state.success && !group) this.#unavailable('These plans are not sold here.');
      });
      this.ends.push(end);
    }
    const changed = () => this.refresh();
    const { app } = this;
    app.addEventListener('accountchange', changed);
    this.ends.push(() => app.removeEventListener('accountchange', changed), () => clearTimeout(this.later), () => this.#watchProducts([]));
  }

  /** The options, each with its relation to the plan that the customer has. */
  async refresh(state) {
    if (!this.group) return;
    this.status = state ?? this.status;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    let answer;
    try {
      answer = await this.app.call('EntitlementService/ListPlanOptions', { groupId: this.group, locale: document.documentElement.lang === 'en' ? '' : document.documentElement.lang });
    } catch (error) {
      if (!this.options) this.#unavailable(error.message);
      return;
    }
    if (turn !== this.turn || !this.isConnected) return;
    // A group that the catalogue does not have may come with the next one.
    clearTimeout(this.later);
    if (answer.notInCatalog) this.later = setTimeout(() => this.refresh(), 2_000);
    this.#watchProducts((answer.options ?? []).map(({ product }) => product.id));
    const ids = list(this.getAttribute('product-ids'));
    const wanted = list(this.getAttribute('visible-relationships') ?? 'all');
    this.all = (answer.options ?? []).filter(({ product }) => !ids.length || ids.includes(product.id));
    const held = this.all.some((each) => each.relation === 'PLAN_RELATION_CURRENT');
    this.options = this.all.filter((each) => !held || wanted.includes('all') || wanted.includes(relations[each.relation]));
    this.hidden = held && this.options.length === 0;
    if (!this.all.length) return this.#unavailable('These plans are not sold here.');
    this.#show();
  }

  /** Names and prices are live as well. */
  #watchProducts(ids) {
    const key = ids.join(' ');
    if (this.watched === key) return;
    this.watched = key;
    this.endProducts?.();
    let isFirst = true;
    this.endProducts = ids.length ? this.app.storeProductsTask(ids, (state) => {
      if (!state.success) return;
      if (!isFirst) this.refresh();
      isFirst = false;
      this.tell('storeproductschange', state);
    }) : null;
  }

  #unavailable(text) { this.shadowRoot.replaceChildren(h('div.store', {}, h('div.body', {}, h('h3', {}, 'Unavailable'), h('p.soft', {}, text)))); }

  /** Groups of this level of nesting: children of the store, or of the group that is open. */
  #groups(parent) { return [...parent.children].flatMap((each) => (each.matches('perch-subscription-option-group') ? [each] : each.matches('perch-subscription-option-group-set') ? each.groups(this.options) : [])); }

  #show() {
    let parent = this;
    let options = this.options;
    const levels = [];
    for (let depth = 0; ; depth += 1) {
      const groups = this.#groups(parent).filter((group) => this.options.some((option) => group.accepts(option)));
      if (!groups.length) break;
      const style = parent === this ? this.getAttribute('option-group-style') ?? 'tabs' : parent.getAttribute('option-group-style') ?? 'tabs';
      const isOpen = this.path[depth] !== undefined && groups.some((group) => group.label === this.path[depth]);
      const chosen = groups.find((group) => group.label === this.path[depth]) ?? (style === 'links' && !isOpen ? null : groups[0]);
      levels.push({ groups, style, chosen, depth });
      if (!chosen) { options = []; break; }
      options = options.filter((option) => chosen.accepts(option));
      parent = chosen;
    }
    const style = this.getAttribute('control-style') ?? 'automatic';
    const control = placements[style] ? style : 'picker';
    const wanted = this.getAttribute('control-placement') ?? 'automatic';
    const placement = placements[control].includes(wanted) ? wanted : control.includes('paged') || control === 'compact-picker' ? 'bottom' : 'scroll-view';
    this.setAttribute('data-placement', placement);
    if (!options.some((each) => each.product.id === this.selected)) {
      this.selected = (options.find((each) => each.relation !== 'PLAN_RELATION_CURRENT') ?? options[0])?.product.id;
    }
    const own = parent === this ? null : parent.querySelector(':scope > [slot=marketing]');
    const marketing = own ? h('div', {}, own.cloneNode(true)) : h('slot', { name: 'marketing' }, h('h2', {}, this.all[0]?.product.subscription.groupDisplayName ?? ''));
    marketing.firstElementChild?.removeAttribute('slot');
    const isFull = this.getAttribute('background') === 'full-height';
    const focused = this.shadowRoot.activeElement?.value ?? this.shadowRoot.activeElement?.dataset?.key;
    this.shadowRoot.replaceChildren(h('div', { class: `store ${placement}${isFull ? ' full' : ''}` },
      h('div.head', {}, marketing),
      h('div.body', {}, levels.map((level) => this.#level(level)), options.length ? this.#controls(options, control) : null, h('slot', { name: 'policies' }),
        h('div.aux', {}, auxiliary(this, { cancellation: !!this.closest('dialog'), policies: true, 'redeem-code': false })))));
    const again = focused && [...this.shadowRoot.querySelectorAll('input, button')].find((each) => each.value === focused || each.dataset.key === focused);
    again?.focus({ preventScroll: true });
  }

  #level({ groups, style, chosen, depth }) {
    const open = (label) => { this.path = [...this.path.slice(0, depth), label]; this.#show(); };
    if (style === 'links') {
      if (chosen) return h('p', {}, h('button.link', { 'data-key': 'back' + depth, onclick: () => { this.path = this.path.slice(0, depth); this.#show(); } }, `‹ ${chosen.label}`));
      return h('div.links', {}, groups.map((group) => h('button', { 'data-key': group.label, onclick: () => open(group.label) }, h('span', {}, group.label), h('span', { 'aria-hidden': 'true' }, '›'))));
    }
    const move = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = groups[(groups.indexOf(chosen) + step + groups.length) % groups.length];
      open(next.label);
      [...this.shadowRoot.querySelectorAll('[role=tab]')].find((each) => each.textContent === next.label)?.focus();
    };
    return h('div.tabs', { role: 'tablist', 'aria-label': 'Plans', onkeydown: move }, groups.map((group) => h('button', { role: 'tab', 'data-key': group.label, 'aria-selected': String(group === chosen), tabindex: group === chosen ? '0' : '-1', onclick: () => open(group.label) }, group.label)));
  }

  #controls(options, control) {
    if (control === 'buttons') return h('div.controls.buttons', {}, h('div.options', {}, options.map((option) => this.#buttonOf(option))));
    const kinds = [control.includes('prominent') ? 'prominent' : '', control.startsWith('compact') ? 'compact' : '', control.startsWith('paged') ? 'paged' : ''].filter(Boolean);
    const chosen = options.find((each) => each.product.id === this.selected) ?? options[0];
    const name = `plan-${(PerchSubscriptionStore.count = (PerchSubscriptionStore.count ?? 0) + 1)}`;
    const fields = h('fieldset', { class: ['options', ...kinds].join(' '), 'aria-label': 'Plans' }, options.map((option) => this.#option(option, name)));
    const dots = kinds.includes('paged') ? h('div.dots', { 'aria-hidden': 'true' }, options.map((each) => h(each === chosen ? 'i.here' : 'i'))) : null;
    if (dots) requestAnimationFrame(() => { const here = fields.children[options.indexOf(chosen)]; if (here) fields.scrollLeft = here.offsetLeft - fields.offsetLeft; });
    return h('div.controls', {}, fields, dots, this.#subscribe(chosen), this.#caption(chosen));
  }

  #texts(option) {
    const { product } = option;
    const marks = [option.relation === 'PLAN_RELATION_CURRENT' ? 'Current plan' : null, option.preferred && option.relation !== 'PLAN_RELATION_CURRENT' ? 'Next period' : null, product.isFamilyShareable ? 'Family' : null].filter(Boolean);
    return [h('div', {}, h('h3', {}, product.displayName || product.id, marks.map((each) => h('span.mark', {}, each))), h('p.soft.about', {}, product.description ?? '')),
      h('div.price', {}, `${product.displayPrice}/${periodText(product.subscription?.period)}`)];
  }

  #option(option, name) {
    const { product } = option;
    const hasBackground = this.hasAttribute('item-background');
    return h('label', { class: `option${hasBackground ? '' : ' plain'}` },
      h('input', { type: 'radio', name, value: product.id, checked: product.id === this.selected, onchange: () => { this.selected = product.id; this.#show(); } }),
      h('span.control-icon', { 'aria-hidden': 'true' }, h('slot', { name: `control-icon-${product.id}` }, h('span.picks'))), this.#texts(option));
  }

  #buttonOf(option) {
    const isCurrent = option.relation === 'PLAN_RELATION_CURRENT';
    const label = this.#label(option);
    return h('div', {}, h('button.option', { disabled: isCurrent || !this.canBuy, onclick: (event) => this.#buy(option, event.currentTarget), 'aria-label': `${option.product.displayName}: ${label.text}` },
      h('span.control-icon', { 'aria-hidden': 'true' }, h('slot', { name: `control-icon-${option.product.id}` })), this.#texts(option)), this.#caption(option));
  }

  /** The label of the subscribe button, by `button-label`. */
  #label(option) {
    const { product } = option;
    const offer = offerLine(option);
    const action = option.relation === 'PLAN_RELATION_CURRENT' ? 'Current plan' : offer?.isTrial ? 'Try it free' : { PLAN_RELATION_UPGRADE: 'Upgrade', PLAN_RELATION_DOWNGRADE: 'Change plan', PLAN_RELATION_CROSSGRADE: 'Change plan' }[option.relation] ?? 'Subscribe';
    const price = offer?.text ?? `${product.displayPrice}/${periodText(product.subscription?.period)}`;
    const wanted = list(this.getAttribute('button-label') ?? 'automatic');
    const first = wanted.includes('price') ? price : wanted.includes('display-name') ? product.displayName : action;
    const isTwo = wanted.includes('multiline');
    return { first, second: isTwo ? (first === price ? action : price) : null, text: isTwo ? `${first}, ${price}` : first };
  }

  #subscribe(option) {
    const label = this.#label(option);
    return h('button.subscribe', { 'data-key': 'subscribe', disabled: option.relation === 'PLAN_RELATION_CURRENT' || !this.canBuy, onclick: (event) => this.#buy(option, event.currentTarget) }, label.first, label.second ? h('small', {}, label.second) : null);
  }

  #caption(option) {
    const offer = offerLine(option);
    const change = option.takesEffectAtRenewal ? 'The change begins with your next period.' : '';
    if (option.relation === 'PLAN_RELATION_CURRENT') return null;
    const isSaid = list(this.getAttribute('button-label')).includes('multiline') && this.getAttribute('control-style') !== 'buttons';
    return change || offer ? h('p.caption.soft', {}, change || (isSaid ? 'Cancel any time.' : `${offer.text}. Cancel any time.`)) : null;
  }

  async #buy(option, button) {
    button.disabled = true;
    await this.app.purchase(option.product, {}, this);
    if (button.isConnected) button.disabled = false;
    this.refresh();
  }
}

/** SubscriptionOptionGroup: `label`, and `level`, `period`, `product-ids` or a `predicate` property decide what is in it. */
export class OptionGroup extends HTMLElement {
  get label() { return this.getAttribute('label') ?? ''; }
  accepts(option) {
    const subscription = option.product.subscription ?? {};
    const [level, period, ids] = [this.getAttribute('level'), this.getAttribute('period'), list(this.getAttribute('product-ids'))];
    if (level && String(subscription.groupLevel) !== level) return false;
    if (period && periodText(subscription.period) !== period) return false;
    if (ids.length && !ids.includes(option.product.id)) return false;
    return this.predicate ? this.predicate(option) : true;
  }
}

/** SubscriptionOptionGroupSet (`by="level"`) and SubscriptionPeriodGroupSet (`by="period"`): a group for each value. */
export class OptionGroupSet extends HTMLElement {
  groups(options) {
    const by = this.getAttribute('by') ?? 'level';
    const names = Object.fromEntries(list(this.getAttribute('labels')).map((each) => each.split('=')));
    const values = [...new Set(options.map(({ product }) => (by === 'level' ? String(product.subscription?.groupLevel) : periodText(product.subscription?.period))))];
    if (by === 'level') values.sort((a, b) => Number(a) - Number(b));
    this.made ??= new Map();
    return values.map((value) => {
      if (!this.made.has(value)) {
        const group = document.createElement('perch-subscription-option-group');
        group.setAttribute('label', names[value] ?? (by === 'level' ? `Level ${value}` : { month: 'Monthly', year: 'Yearly', week: 'Weekly', '3 months': 'Quarterly' }[value] ?? value));
        group.setAttribute(by, value);
        this.made.set(value, group);
      }
      return this.made.get(value);
    });
  }
}

/** The sheet in which a customer manages subscriptions: change the plan, or switch renewal. */
export async function manageSubscriptions(app, groupId, host) {
  if (!(host ?? app).dispatchEvent(new CustomEvent('managesubscriptions', { detail: { groupId }, bubbles: true, composed: true, cancelable: true }))) return null;
  const { options = [] } = await app.call('EntitlementService/ListPlanOptions', { groupId });
  const { success } = await app.call('EntitlementService/GetSubscriptionStatus', { groupId });
  const status = success?.statuses?.[success.effectiveIndex ?? 0];
  const renews = !!status?.renewalInfo?.renewalInfo?.willAutoRenew;
  const current = options.find((each) => each.relation === 'PLAN_RELATION_CURRENT');
  const close = () => { dialog.close(); dialog.remove(); };
  const end = status?.transaction?.transaction?.expirationDateMs;
  const dialog = h('dialog.manage', { 'aria-label': 'Your subscription' }, h('h2', {}, 'Your subscription'),
    h('p', {}, current ? `${current.product.displayName}, ${renews ? 'renews' : 'ends'} ${end ? new Date(Number(end)).toISOString().slice(0, 16).replace('T', ' ') + ' UTC' : ''}` : 'You have no subscription.'),
    h('perch-subscription-store', { 'group-id': groupId, 'control-style': 'picker', 'store-button': 'policies=hidden cancellation=hidden' }),
    h('div.end', {}, current ? h('button.danger', { onclick: async () => {
      await app.call('TransactionService/ManageSubscriptions', { productId: current.product.id, autoRenew: !renews });
      close();
    } }, renews ? 'Cancel subscription' : 'Renew again') : null, h('button', { onclick: close }, 'Done')));
  (host ?? app).append(dialog);
  dialog.showModal();
  return dialog;
}

customElements.define('perch-subscription-option-group', OptionGroup);
customElements.define('perch-subscription-option-group-set', OptionGroupSet);
customElements.define('perch-subscription-store', PerchSubscriptionStore);

// The catalogue: products, levels, prices, offers and images, and what a reload changed.
import { h, session, Page, word, period, offerText, number, money, instant, attempt, ask, missing, toast } from './kit.js';

class ProductsPage extends Page {
  async open() {
    this.append(h('h1', {}, 'Products'), (this.about = h('p.what')), (this.changes = h('div', { 'aria-live': 'polite' })), (this.place = h('div')), (this.codesPlace = h('section.card', { 'aria-label': 'Offer codes' })), (this.checkPlace = h('section.card', { 'aria-label': 'Check a file' })));
    this.known = new Map();
    this.codesPlace.hidden = this.checkPlace.hidden = !session.allows('admin');
    if (!session.allows('admin')) return this.place.append(missing('Your token does not have the scope `admin`, which reading the catalogue needs.'));
    this.#checker();
    await this.#begin();
    // A reload may bring other products.
    this.on(session, 'heard', async ({ detail }) => {
      if (detail) return;
      const { revision, productIds } = await session.perch.call('AdminService/GetCatalog').catch(() => this.catalogue ?? {});
      if (!this.ended && (revision !== this.catalogue?.revision || String(productIds) !== String(this.catalogue?.productIds))) await this.#begin();
    });
  }

  async #begin() {
    this.products?.close();
    let catalogue;
    try {
      catalogue = await session.perch.call('AdminService/GetCatalog');
    } catch (error) {
      this.place.replaceChildren(h('p.note.bad', {}, error.message));
      return;
    }
    if (this.ended) return;
    const before = this.catalogue;
    this.catalogue = catalogue;
    session.products = null;
    const ids = catalogue.productIds ?? [];
    this.#showCodes();
    this.about.textContent = `${ids.length} product${ids.length === 1 ? '' : 's'} of ${catalogue.source || 'a catalogue without a name'}, loaded at revision ${catalogue.revision ?? 0}`;
    if (before) {
      const gone = (before.productIds ?? []).filter((id) => !ids.includes(id));
      for (const id of gone) this.#tell(`${id} is not in the catalogue any more`);
    }
    if (!ids.length) return this.place.replaceChildren(missing('The catalogue is empty.'));
    this.products = this.watch('EntitlementService/ProductsTask', { productIds: ids }, (state) => this.#show(state, before));
  }

  /** Offers of codes: no product lists them, because the App Store does not. */
  #showCodes() {
    const rows = (this.catalogue.codeOffers ?? []).flatMap(({ productId, offers }) => offers.map((offer) => h('tr', {},
      h('td', {}, h('b', {}, offer.id), h('br'), h('code', {}, productId)),
      h('td', {}, this.#terms(productId, offer), offer.stackable ? h('div.soft', {}, 'also behind the introductory offer') : ''),
      h('td', {}, [0, 3].includes(offer.eligibility?.length ?? 0) ? 'everybody' : offer.eligibility.map((each) => ({ new: 'new customers', existing: 'subscribers', expired: 'former subscribers' })[each] ?? each).join(', ')),
      h('td.wholly', {}, offer.codes?.length ? offer.codes.map((code) => h('div', {}, h('code', {}, code.code), ' ', this.#limits(code))) : h('span.soft', {}, 'its name is the code, without a limit')),
      h('td', {}, session.isTest ? [h('button', { 'aria-label': `Edit the codes of ${offer.id}`, onclick: () => this.#editCodes(productId, offer) }, 'Edit…'),
        h('button.danger', { 'aria-label': `Remove ${offer.id}`, onclick: () => this.#removeCodes(productId, offer) }, 'Remove…')] : ''))));
    this.codesPlace.replaceChildren(h('h2', {}, 'Offer codes'),
      rows.length ? h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Offers of codes' }, h('table.wide.stack', {}, h('thead', {}, h('tr', {}, ['Offer', 'Terms', 'For', 'Codes', ''].map((name) => h('th', { scope: 'col' }, name || h('span', { 'aria-hidden': 'true' }, '\u00a0'))))), h('tbody', {}, rows))) : h('p.what', {}, 'None.'),
      h('p.what', {}, 'Each account redeems an offer once. An account redeems a code on its own page.'),
      session.isTest && this.catalogue.productIds?.length ? h('button', { onclick: () => this.#editCodes() }, 'New offer of codes…') : '');
  }

  #terms(productId, offer) {
    const price = money({ milliunits: offer.priceMilliunits, currency: this.known.get(productId)?.price?.currency });
    return offer.paymentMode === 'OFFER_PAYMENT_MODE_ONE_TIME' ? `${price || 'free'}, once` : offerText({ ...offer, displayPrice: price || 'free' });
  }

  #limits(code) {
    const limit = number(code.redemptionLimit);
    const count = limit === 1 ? 'one-time use' : limit ? `${limit} redemptions` : 'no limit';
    return h('span.soft', {}, code.untilMs ? `${count}, until ${instant(code.untilMs, { seconds: false })}` : count);
  }

  /** A code a word, with its limit behind a colon: `SPRING:100 VIP:1`. */
  async #editCodes(productId, offer = {}) {
    const ends = [...new Set((offer.codes ?? []).map((code) => code.untilMs).filter(Boolean))];
    const values = await ask(offer.id ? `Codes of ${offer.id}` : 'New offer of codes', [
      ...(productId ? [] : [{ name: 'productId', label: 'Product', options: this.catalogue.productIds.map((id) => [id, this.known.get(id)?.displayName ? `${this.known.get(id).displayName} (${id})` : id]) },
        { name: 'id', label: 'Reference name', required: true, props: { maxlength: 64 } }]),
      { name: 'mode', label: 'How it is paid', value: offer.paymentMode ?? 'OFFER_PAYMENT_MODE_FREE_TRIAL', options: [['OFFER_PAYMENT_MODE_FREE_TRIAL', 'free'], ['OFFER_PAYMENT_MODE_PAY_UP_FRONT', 'once, for the whole time'], ['OFFER_PAYMENT_MODE_PAY_AS_YOU_GO', 'each period'], ['OFFER_PAYMENT_MODE_ONE_TIME', 'once (a product that is no subscription)']] },
      { name: 'price', label: 'Price', value: String(number(offer.priceMilliunits) / 1000) },
      { name: 'length', label: 'Period', value: String(number(offer.period?.value) || 1), type: 'number', props: { min: 1, max: 365 } },
      { name: 'unit', label: 'Unit', value: offer.period?.unit ?? 'PERIOD_UNIT_MONTH', options: ['DAY', 'WEEK', 'MONTH', 'YEAR'].map((unit) => [`PERIOD_UNIT_${unit}`, unit.toLowerCase()]) },
      { name: 'count', label: 'Number of periods, where each is paid', value: String(number(offer.periodCount) || 1), type: 'number', props: { min: 1, max: 52 } },
      ...['new', 'existing', 'expired'].map((name, place) => ({ name, label: ['New customers', 'Subscribers', 'Former subscribers'][place], type: 'check', value: !offer.id || !offer.eligibility?.length || offer.eligibility.includes(name) })),
      { name: 'codes', label: 'Codes, with a number of redemptions behind a colon; empty: the reference name', hint: 'SPRING:100 VIP:1', value: (offer.codes ?? []).map((code) => (number(code.redemptionLimit) ? `${code.code}:${code.redemptionLimit}` : code.code)).join(' ') },
      { name: 'until', label: 'Until, UTC; empty: no end', type: 'datetime-local', value: ends.length === 1 ? new Date(number(ends[0])).toISOString().slice(0, 16) : '' },
    ], { submit: offer.id ? 'Change' : 'Make', text: ends.length > 1 ? 'The codes have different ends: all get the end that is entered, and keep none without one.' : '' });
    if (!values) return;
    const until = values.until ? { untilMs: String(Date.parse(`${values.until}Z`)) } : {};
    const codes = values.codes.split(/[\s,]+/).filter(Boolean).map((text) => {
      const [, code, limit] = /^(.*?)(?::(\d+))?$/.exec(text);
      return { code, ...(limit ? { redemptionLimit: Number(limit) } : {}), ...until };
    });
    const eligibility = ['new', 'existing', 'expired'].filter((name) => values[name]);
    if (!eligibility.length) return toast('Nobody could redeem it: choose who may.', true);
    const edit = {
      type: 'OFFER_TYPE_CODE', id: offer.id ?? values.id, paymentMode: values.mode, priceMilliunits: String(Math.round(Number(values.price.replace(',', '.')) * 1000) || 0),
      period: { unit: values.unit, value: Number(values.length) }, periodCount: Number(values.count), eligibility: eligibility.length === 3 ? [] : eligibility, stackable: !!offer.stackable, codes,
    };
    if (await this.#configure({ productId: productId ?? values.productId, offers: [edit] }, `The codes of ${edit.id} are set`)) await this.#begin();
  }

  async #removeCodes(productId, offer) {
    if (!await ask(`Remove ${offer.id}`, [], { submit: 'Remove', danger: true, text: 'Nobody can redeem its codes any more. What was redeemed stays.' })) return;
    if (await this.#configure({ productId, offers: [{ type: 'OFFER_TYPE_CODE', id: offer.id, removed: true }] }, `${offer.id} is removed`)) await this.#begin();
  }

  #tell(text) {
    this.changes.prepend(h('p.note.warn', {}, `${new Date().toISOString().slice(11, 19)} ${text}`));
    while (this.changes.children.length > 6) this.changes.lastChild.remove();
  }

  #show(state) {
    if (state.loading) return;
    if (state.failure) return this.place.replaceChildren(h('p.note.bad', {}, `${state.failure.message} (${state.failure.reason})`));
    const products = state.success.products ?? [];
    const changed = new Set();
    for (const product of products) {
      const old = this.known.get(product.id);
      if (this.known.size && !old) { changed.add(product.id); this.#tell(`${product.id} is new`); }
      if (old) {
        const fields = ['displayName', 'displayPrice', 'description', 'isFamilyShareable', 'promotionalImageHash'].filter((name) => old[name] !== product[name]);
        if (JSON.stringify(old.subscription) !== JSON.stringify(product.subscription)) fields.push('subscription and offers');
        if (fields.length) {
          changed.add(product.id);
          this.#tell(`${product.id}: ${fields.map((name) => (name === 'displayPrice' || name === 'displayName' ? `${old[name]} became ${product[name]}` : name)).join(', ')}`);
        }
      }
    }
    this.known = new Map(products.map((product) => [product.id, product]));
    this.#showCodes();
    const groups = new Map();
    const others = [];
    for (const product of products) {
      if (!product.subscription) { others.push(product); continue; }
      const list = groups.get(product.subscription.groupId) ?? [];
      list.push(product);
      groups.set(product.subscription.groupId, list);
    }
    const unavailable = state.success.unavailableIds ?? [];
    const withdrawn = unavailable.length ? h('p.note', {}, 'Withdrawn from sale: ', unavailable.map((id) => [h('code', {}, id), ' ', this.#reinstate(id), ' '])) : '';
    this.place.replaceChildren(withdrawn,
      ...[...groups].map(([id, list]) => h('section.card', { 'aria-label': `Group ${id}` }, h('h2', {}, list[0].subscription.groupDisplayName || id, ' ', h('span.badge', {}, `group ${id}`)),
        this.#table(list.sort((a, b) => a.subscription.groupLevel - b.subscription.groupLevel), changed, true))),
      others.length ? h('section.card', { 'aria-label': 'Other products' }, h('h2', {}, 'Other products'), this.#table(others, changed, false)) : '');
  }

  #table(list, changed, isGroup) {
    const hasImages = list.some((product) => product.promotionalImageHash);
    const head = [...(isGroup ? ['Level'] : []), ...(hasImages ? [''] : []), 'Product', 'Price', isGroup ? 'Period' : 'Type', isGroup ? 'Offers' : 'Description', ''];
    return h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Products' }, h('table.wide.stack', {}, h('thead', {}, h('tr', {}, head.map((name) => h(name === 'Price' ? 'th.num' : 'th', { scope: 'col' }, name || h('span', { 'aria-hidden': 'true' }, ' '))))),
      h('tbody', {}, list.map((product) => {
        const subscription = product.subscription ?? {};
        const offers = [...(subscription.introductoryOffers ?? []), ...(subscription.promotionalOffers ?? []), ...(subscription.winBackOffers ?? [])];
        return h('tr', { class: changed.has(product.id) ? 'changed' : '' },
          isGroup ? h('td.wholly', {}, h('span.badge', {}, `level ${subscription.groupLevel ?? ''}`)) : null,
          hasImages ? h('td', {}, this.#image(product)) : null,
          h('td', {}, h('b', {}, product.displayName || product.id), product.isFamilyShareable ? [' ', h('span.badge', {}, 'family')] : null, h('br'), h('code', {}, product.id)),
          h('td.num', {}, product.displayPrice ?? '', (subscription.billingPlans ?? []).length > 1 ? h('div.soft', {}, subscription.billingPlans.map((plan) => `${plan.displayPrice} × ${plan.chargeCount}`).join(', ')) : ''),
          h('td', {}, isGroup ? period(subscription.period) : word(product.type)),
          h('td.wholly', {}, isGroup ? offers.map((offer) => h('div.offer', {}, h('span.badge', {}, word(offer.type)), ` ${offerText(offer)} `, offer.id ? h('code.soft', {}, offer.id) : '')) : product.description ?? ''),
          h('td', {}, session.isTest ? h('button', { 'aria-label': `Edit ${product.displayName || product.id}`, onclick: () => this.#edit(product) }, 'Edit…') : ''));
      }))));
  }

  #image(product) {
    if (!product.promotionalImageHash) return '';
    const image = h('img.thumb', { alt: '', width: 38, height: 38 });
    imageOf(product).then((address) => { image.src = address; }, () => {});
    return image;
  }

  #configure(product, said) {
    return attempt(() => session.perch.call('TestStoreService/Configure', { settings: [{ product }] }), said);
  }

  #reinstate(productId) {
    return h('button', { onclick: () => this.#configure({ productId, withdrawn: false }, `${productId} is sold again`) }, 'Sell again');
  }

  async #edit(product) {
    const values = await ask(`Edit ${product.id}`, [
      { name: 'name', label: 'Name, in all locales', value: product.displayName ?? '' },
      { name: 'price', label: 'Price', value: String(number(product.price?.milliunits) / 1000), required: true },
      { name: 'family', label: 'Shareable with the family', type: 'check', value: product.isFamilyShareable },
      { name: 'withdrawn', label: 'Withdrawn from sale', type: 'check' },
    ], { submit: 'Change' });
    if (!values) return;
    const edit = { productId: product.id };
    if (values.name !== (product.displayName ?? '')) edit.displayName = values.name;
    const milliunits = Math.round(Number(values.price.replace(',', '.')) * 1000);
    if (milliunits !== number(product.price?.milliunits)) edit.priceMilliunits = String(milliunits);
    if (values.family !== !!product.isFamilyShareable) edit.familyShareable = values.family;
    if (values.withdrawn) edit.withdrawn = true;
    await this.#configure(edit, `${product.id} is changed`);
  }

  #checker() {
    const file = h('input', { type: 'file', accept: '.storekit,application/json', onchange: async () => {
      const bytes = new Uint8Array(await file.files[0].arrayBuffer());
      let text = '';
      for (const byte of bytes) text += String.fromCharCode(byte);
      const content = btoa(text);
      const answer = await attempt(() => session.perch.call('AdminService/CheckCatalog', { file: content }));
      if (!answer) return result.replaceChildren();
      const summary = answer.summary ?? {};
      const warnings = summary.warnings ?? [];
      result.replaceChildren(
        h('p', {}, `Schema ${summary.schemaVersion ?? ''}: ${summary.subscriptionCount ?? 0} subscriptions in ${summary.groupCount ?? 0} groups, ${(summary.consumableCount ?? 0) + (summary.nonConsumableCount ?? 0) + (summary.nonRenewingCount ?? 0)} other products.`),
        h('ul', {}, warnings.map((each) => h('li', {}, each.line ? `line ${each.line}: ` : '', each.productId ? `${each.productId}: ` : '', each.message))),
        warnings.length ? '' : h('p.what', {}, 'Nothing is odd.'),
        h('button', { onclick: () => attempt(() => session.perch.call('AdminService/LoadCatalog', { file: content, source: file.files[0].name }), 'The catalogue is loaded') }, 'Load it'));
    } });
    const result = h('div');
    this.checkPlace.append(h('h2', {}, 'Check a file'), h('label.field', {}, 'A .storekit file: its warnings are shown, and nothing is loaded', file), result);
  }
}

const images = new Map();
/** The address of a product's image: bytes of a call, kept by their hash. */
export function imageOf(product, perch = session.perch) {
  const key = product.promotionalImageHash;
  if (!images.has(key)) {
    images.set(key, perch.call('EntitlementService/GetImage', { imageId: product.promotionalImageId }).then((answer) => {
      const bytes = Uint8Array.from(atob(answer.content), (each) => each.charCodeAt(0));
      return URL.createObjectURL(new Blob([bytes], { type: answer.contentType }));
    }));
  }
  return images.get(key);
}

customElements.define('perch-products-page', ProductsPage);

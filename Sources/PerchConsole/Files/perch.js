// A client of Perch for browsers and for Node 20: calls and streams over `fetch`, as Connect with JSON.
//
//     import { Perch } from './perch.js';
//     const perch = new Perch({ base: 'http://127.0.0.1:7447' });
//     const watch = perch.watch('EntitlementService/SubscriptionStatusTask', { account: 'alice', groupId: 'plus' },
//       (state) => { if (state.success) console.log(state.success.statuses); });
//     await perch.call('TransactionService/Purchase', { account: 'alice', order: { productId: 'app.perch.coins' } });
//     watch.close();
//
// All watches of a client share one stream (WatchService/Watch): an idle page makes no other request.
//
// Messages are those of proto/, in protobuf's JSON: int64 is a text, bytes are base64, an absent field has its default.

/** @typedef {{revision?: string, asOfMs?: string}} Position */
/** @typedef {{position?: Position, cause?: string, nextChange?: object, resumeToken?: string, notInCatalog?: boolean}} ValueInfo */
/** A state of a watch: exactly one of `loading`, `failure` and `success`. A failure keeps the last success as `last`.
 * @typedef {{loading?: object, failure?: {reason: string, message: string}, success?: any, last?: any, info?: ValueInfo}} State */
/** @typedef {object} PerchOptions
 * @property {string} [base]  Where the server is; empty: where the page came from.
 * @property {string | null | ((again?: boolean) => string | null | Promise<string | null>)} [token]  The bearer token, or a function that
 *   gives the newest one. `again`: the server refused the last one.
 * @property {{bundleId?: string, environment?: string}} [app]  The app; needed where the server has several.
 * @property {string} [clientId]  Who causes changes, up to 32 bytes.
 */

const keyed = /\/(Purchase|Finish|Sync|RequestRefund|RedeemOfferCode|ManageSubscriptions|ResolveBillingIssue|AnswerPriceIncrease|Operate|Configure|GrantEntitlement)$/;
const safe = /\/(Get|List|Explain|Inspect|Check|Find|Export)/;
/** Methods about the server, which name no app. */
const server = /\/(ListApps|CheckCatalog|GetServerStatus|Backup|RevokeToken|ListAudit|\w*DeadLetters?|ListNotifications|GetSignedPayload|SubmitNotification|\w*ConsoleCode)$/;
/** A hidden page gives its connection back after `hiddenMs`: a browser has six for all pages of a server. */
const [heartbeatSeconds, hiddenMs, watchesMax] = [10, 2_000, 256];
/** The body of an answer. One that is cut, or is no answer of Perch, is as if the server had not answered. */
const whole = (body, signal) => body.catch((error) => { throw signal?.aborted ? error : new PerchError('unreachable', 'the answer was cut'); });

/** An error of a call: Connect's code, and Perch's reason from the table in proto/README.md. */
export class PerchError extends Error {
  /** @param {string} code @param {string} message @param {string} [reason] @param {Object<string, string>} [details] */
  constructor(code, message, reason = '', details = {}) {
    super(message);
    this.name = 'PerchError';
    Object.assign(this, { code, reason, details });
  }
  /** Whether the same call may succeed later. */
  get isTransient() { return ['unavailable', 'resource_exhausted', 'aborted', 'internal', 'unreachable'].includes(this.code); }

  /** @param {any} json @param {number} [status] */
  static from(json, status = 0) {
    const codes = { 401: 'unauthenticated', 403: 'permission_denied', 404: 'unimplemented', 429: 'resource_exhausted', 503: 'unavailable' };
    const info = (json.details ?? []).find((each) => each.type === 'google.rpc.ErrorInfo');
    const { reason, details } = info ? errorInfo(info.value) : { reason: '', details: {} };
    return new PerchError(json.code ?? codes[status] ?? 'unknown', json.message ?? `HTTP ${status}`, reason, details);
  }
}

/** google.rpc.ErrorInfo, as protobuf in base64: the reason, and the details by name. */
function errorInfo(text) {
  const bytes = Uint8Array.from(atob(text.replace(/=+$/, '')), (each) => each.charCodeAt(0));
  const pieces = (bytes) => {
    const found = [];
    for (let at = 0; at < bytes.length;) {
      const tag = bytes[at++];
      let length = 0, shift = 0, byte;
      do { byte = bytes[at++]; length |= (byte & 127) << shift; shift += 7; } while (byte & 128);
      if ((tag & 7) !== 2) continue;
      found.push([tag >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
    return found;
  };
  const said = (bytes) => (bytes ? new TextDecoder().decode(bytes) : '');
  const result = { reason: '', details: {} };
  for (const [field, piece] of pieces(bytes)) {
    if (field === 1) result.reason = said(piece);
    if (field !== 3) continue;
    const entry = Object.fromEntries(pieces(piece));
    result.details[said(entry[1])] = said(entry[2]);
  }
  return result;
}

/** A wait that `wake` ends early. */
function pause(ms) {
  let wake;
  const promise = new Promise((done) => {
    const timer = setTimeout(done, ms);
    wake = () => { clearTimeout(timer); done(); };
  });
  return { promise, wake };
}

const revisionOf = (position) => Number(position?.revision ?? 0);
/** What two equal values share: a later signature of the same transaction is not news. */
const fingerprint = (value) => JSON.stringify(value, (key, part) => (key === 'signedDateMs' || key === 'jws' ? undefined : part));

/** A server. Events: `online` and `offline` as the stream comes and goes, `revision` where the stream is at another one, `credentials` where the token is refused, `refused` with the
 * error where a watch is, and `change` with `detail` {method, request, response} after each call that changed something. */
export class Perch extends EventTarget {
  /** @param {PerchOptions} [options] */
  constructor(options = {}) {
    super();
    this.base = (options.base ?? '').replace(/\/$/, '');
    this.token = options.token ?? null;
    this.app = options.app ?? null;
    this.clientId = options.clientId ?? 'web-' + Math.random().toString(36).slice(2, 10);
    this.isOnline = true;
    /** The newest revision that any answer named. */
    this.revision = 0;
    this.watches = new Set();
    this.feeds = [];
    globalThis.document?.addEventListener('visibilitychange', () => this.#seen(!document.hidden));
    globalThis.window?.addEventListener('pagehide', () => { this.isAway = true; for (const feed of this.feeds) feed.change(); });
    globalThis.window?.addEventListener('pageshow', () => this.#seen(true));
    for (const type of ['online', 'offline']) globalThis.window?.addEventListener(type, () => this.retry());
    if (globalThis.document?.hidden) this.#seen(false);
  }
  close() { for (const watch of [...this.watches]) watch.close(); }
  #seen(isVisible) {
    clearTimeout(this.hiding);
    const turn = (isAway) => {
      if (this.isAway === isAway) return;
      this.isAway = isAway;
      for (const feed of this.feeds) feed.change();
    };
    if (isVisible) turn(false);
    else this.hiding = setTimeout(() => turn(true), hiddenMs);
  }
  async #fields(more, again) {
    const token = typeof this.token === 'function' ? await this.token(again) : this.token;
    return { ...more, 'perch-client-id': this.clientId, ...(token ? { authorization: 'Bearer ' + token } : {}) };
  }
  #withApp(method, request) { return this.app && !request.app && !server.test(method) ? { app: this.app, ...request } : { ...request }; }
  /** A refused token is asked for once more, where a function gives it. */
  async #post(method, type, body, fields, signal, again = false) {
    const headers = await this.#fields({ 'content-type': type, ...fields }, again);
    const response = await fetch(`${this.base}/perch.v1.${method}`, { method: 'POST', headers, body, signal, cache: 'no-store', credentials: 'omit' }).catch((error) => {
      throw signal?.aborted ? error : new PerchError('unreachable', 'the server does not answer');
    });
    if (response.ok) return response;
    const said = await whole(response.text().then((text) => (text.startsWith('{') ? JSON.parse(text) : { message: text.trim() })), signal);
    return this.#refused(PerchError.from(said, response.status),
      again ? null : () => this.#post(method, type, body, fields, signal, true), headers.authorization ?? '');
  }
  #refused(error, again, authorization) {
    if (error.code !== 'unauthenticated') throw error;
    if (again && typeof this.token === 'function') return again();
    this.dispatchEvent(Object.assign(new CustomEvent('credentials', { detail: error }), { authorization }));
    throw error;
  }
  /**
   * Calls a method that answers once. Reads, and changes with an idempotency key, are repeated while the server cannot be
   * reached.
   * @param {string} method  Such as `TransactionService/Purchase`.
   * @param {object} [request]
   * @param {{signal?: AbortSignal, timeoutMs?: number}} [options]
   * @returns {Promise<any>}
   */
  async call(method, request = {}, { signal, timeoutMs = 15_000 } = {}) {
    const asked = this.#withApp(method, request);
    const isSafe = safe.test(method);
    if (keyed.test(method) && !asked.idempotencyKey) asked.idempotencyKey = btoa(`${this.clientId}-${crypto.randomUUID?.() ?? Math.random()}`);
    const body = JSON.stringify(asked);
    const end = Date.now() + timeoutMs;
    for (let failures = 0; ; failures += 1) {
      const limit = AbortSignal.timeout(Math.max(1, end - Date.now()));
      const both = signal ? AbortSignal.any([signal, limit]) : limit;
      try {
        const response = await this.#post(method, 'application/json', body, { 'connect-protocol-version': '1' }, both);
        const answer = await whole(response.json(), both);
        this.revision = Math.max(this.revision, revisionOf(answer.position));
        if (!isSafe && !server.test(method)) this.dispatchEvent(new CustomEvent('change', { detail: { method, request: asked, response: answer } }));
        return answer;
      } catch (error) {
        if (signal?.aborted) throw error;
        if (limit.aborted) throw new PerchError('deadline_exceeded', `no answer came within ${timeoutMs} ms`);
        const mayRepeat = isSafe || asked.idempotencyKey;
        const wait = Math.random() * Math.min(8_000, 250 * 2 ** failures);
        if (!error.isTransient || !mayRepeat || Date.now() + wait > end) throw error;
        await pause(wait).promise;
      }
    }
  }
  /**
   * Watches a state: products, a status, entitlements, intents or messages. The listener gets `loading` first, then every new
   * value. It survives lost connections and restarts, and no value comes twice in a row.
   * @param {string} method @param {object} request @param {(state: State) => void} listener
   * @param {{group?: Group}} [options]
   */
  watch(method, request, listener, { group } = {}) {
    const watch = new Watch(this, method, this.#withApp(method, request), listener, group);
    group?.members.add(watch);
    this.#add(watch);
    if (!watch.isUpdates) queueMicrotask(() => { if (!watch.state && !watch.isClosed) watch.say({ loading: {} }); });
    return watch;
  }
  /**
   * Every event of an account's transactions, each once and in order. Keep `event.cursor` and begin there after a restart.
   * @param {string} account @param {(event: any) => void} listener @param {{cursor?: string}} [options]
   */
  updates(account, listener, { cursor = '' } = {}) {
    const watch = new Watch(this, 'TransactionService/TransactionUpdates', this.#withApp('', { account }), listener);
    watch.token = cursor;
    this.#add(watch);
    return watch;
  }
  /** A group of watches that agree: `apply` gets all states that one change made, together. */
  group(apply) { return new Group(apply); }
  /** Tries the stream again at once, as after new credentials. */
  retry() { for (const feed of this.feeds) feed.change(); }
  #add(watch) {
    this.watches.add(watch);
    let feed = this.feeds.find((each) => each.members.size < watchesMax);
    if (!feed) this.feeds.push(feed = new Feed(this));
    watch.feed = feed;
    feed.members.add(watch);
    feed.change();
  }
  tellOnline(isOnline) {
    if (this.isOnline !== isOnline) this.dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
    this.isOnline = isOnline;
  }
  tellRevision(revision) { this.revision = Math.max(this.revision, revision); this.dispatchEvent(new Event('revision')); }
  /** Opens a stream and gives each of its messages to `take`, until it ends or nothing comes for two heartbeats. */
  async stream(method, request, take, signal, again = false) {
    const silence = new AbortController();
    const text = new TextEncoder().encode(JSON.stringify(request));
    const body = new Uint8Array(5 + text.length);
    new DataView(body.buffer).setUint32(1, text.length);
    body.set(text, 5);
    const fields = { 'connect-protocol-version': '1', 'perch-heartbeat': String(heartbeatSeconds), 'perch-groups': '1' };
    let timer;
    const hear = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), heartbeatSeconds * 2_000 + 1_000);
    };
    hear();
    try {
      const both = AbortSignal.any([signal, silence.signal]);
      const response = await this.#post(method, 'application/connect+json', body, fields, both, again);
      const reader = response.body.getReader();
      let held = new Uint8Array(0);
      for (;;) {
        const { value, done } = await reader.read();
        if (done) throw new PerchError('unavailable', 'the stream was cut');
        hear();
        const all = new Uint8Array(held.length + value.length);
        all.set(held);
        all.set(value, held.length);
        let at = 0;
        for (let length; all.length - at >= 5; at += 5 + length) {
          length = new DataView(all.buffer).getUint32(at + 1);
          if (all.length - at < 5 + length) break;
          const message = JSON.parse(new TextDecoder().decode(all.subarray(at + 5, at + 5 + length)));
          if (all[at] & 2 && message.error) return this.#refused(PerchError.from(message.error), again ? null : () => this.stream(method, request, take, signal, true));
          if (all[at] & 2) return undefined;
          take(message);
        }
        held = all.slice(at);
      }
    } catch (error) {
      if (silence.signal.aborted) throw new PerchError('unreachable', 'the server fell silent');
      if (error instanceof PerchError || signal.aborted) throw error;
      throw new PerchError('unreachable', 'the connection was lost');
    } finally {
      clearTimeout(timer);
    }
  }
}

/** One stream, and the watches on it. A change of its list is a new call with the tokens; the server keeps nothing between them. */
class Feed {
  constructor(perch) {
    Object.assign(this, { perch, members: new Set(), failures: 0 });
    this.cut = new AbortController();
  }
  /** Begins again with the watches of now; several changes at once are one. */
  change() {
    this.cut.abort();
    this.waiting?.wake();
    this.changes = (this.changes ?? 0) + 1;
    if (!this.isRunning) this.#run();
  }
  async #run() {
    this.isRunning = true;
    while (this.members.size) {
      // What the page is still building, or changes at once, is one call.
      await pause(5).promise;
      if (this.perch.isAway) { await this.#wait(60_000); continue; }
      this.cut = new AbortController();
      const began = Date.now();
      const watches = [...this.members];
      try {
        await this.perch.stream('WatchService/Watch', { watches: watches.map((each) => each.entry) }, (message) => this.#take(message, watches), this.cut.signal);
      } catch (error) {
        if (this.cut.signal.aborted) continue;
        if (Date.now() - began > 10_000) this.failures = 0;
        if (!this.#forgive(error, watches)) continue;
      }
      if (this.cut.signal.aborted) continue;
      this.failures += 1;
      await this.#wait(Math.random() * Math.min(60_000, 500 * 2 ** Math.min(this.failures, 7)));
    }
    this.isRunning = false;
  }
  #wait(ms) {
    this.waiting = pause(ms);
    return this.waiting.promise;
  }
  #take(message, watches) {
    this.perch.tellOnline(true);
    this.failures = 0;
    if (message.bookmark) {
      const revision = Number(message.bookmark.revision ?? 0);
      if (revision !== this.said) this.perch.tellRevision(revision);
      this.said = revision;
      const groups = new Set(watches.map((each) => each.group));
      for (const group of groups) group?.say();
      return;
    }
    const watch = watches[message.watch ?? 0];
    if (!watch.isClosed) watch.take(message[watch.field]);
  }
  /** What an error means for the next call; false: call again at once. */
  #forgive(error, watches) {
    const watch = watches[error.details?.watch ?? -1];
    if (error.code === 'unreachable' || error.code === 'unavailable') {
      this.perch.tellOnline(false);
    } else if (/^(TOKEN|CURSOR)_/.test(error.reason ?? '') && (watch ? watch.token : watches.some((each) => each.token))) {
      for (const each of watch ? [watch] : watches) each.token = '';
      return false;
    } else if (!error.isTransient) {
      this.perch.dispatchEvent(new CustomEvent('refused', { detail: error }));
      for (const each of watch ? [watch] : watches) each.fail(error);
      // An app may come with its catalogue; nothing else that is refused comes right by itself.
      if (watch && error.code !== 'unauthenticated' && error.reason !== 'APP_UNKNOWN') {
        watch.close();
        return false;
      }
      // Nothing that a second would change: a person has to.
      this.failures = Math.max(this.failures, 5);
    }
    return true;
  }
}

/** One watch: its request, its token, and its newest state. */
export class Watch {
  constructor(perch, method, request, listener, group) {
    Object.assign(this, { perch, method, request, listener, group, isUpdates: /\/(TransactionUpdates|AppChanges)$/.test(method) });
    const name = method.split('/').pop();
    this.field = name[0].toLowerCase() + name.slice(1);
    this.token = '';
    this.state = null;
  }
  get entry() { return { [this.field]: this.token ? { ...this.request, [this.isUpdates ? 'cursor' : 'resumeToken']: this.token } : this.request }; }
  /** The server is told with the next change of the list: a page that closes many views makes no call for each. */
  close() {
    if (this.isClosed) return;
    this.isClosed = true;
    this.perch.watches.delete(this);
    this.feed?.members.delete(this);
    this.group?.members.delete(this);
    if (this.feed && !this.feed.members.size) this.feed.change();
  }
  take(message) {
    if (this.isUpdates) {
      this.token = message.cursor ?? this.token;
      return this.listener(message);
    }
    this.token = message.info?.resumeToken ?? this.token;
    this.perch.revision = Math.max(this.perch.revision, revisionOf(message.info?.position));
    if (message.unchanged) {
      // The value is that of before, so a failure between is over.
      if (!this.state?.failure || !this.state.last) return undefined;
      this.print = fingerprint(this.state.last);
      return this.say({ success: this.state.last, info: this.state.info });
    }
    const print = fingerprint(message.success ?? message.failure ?? null);
    if (print === this.print) return undefined;
    this.print = print;
    const last = this.state?.success ?? this.state?.last;
    const state = message.failure ? { failure: message.failure, info: message.info, last } : { success: message.success ?? {}, info: message.info };
    return this.group ? this.group.hold(this, state) : this.say(state);
  }
  fail(error) {
    if (this.isUpdates) return;
    this.print = null;
    this.say({ failure: { reason: error.reason || error.code || '', message: error.message }, last: this.state?.success ?? this.state?.last });
  }
  say(state) {
    this.state = state;
    this.listener(state);
  }
}

/** States that are kept aside until the stream has said everything of their change. */
class Group {
  constructor(apply) {
    this.apply = apply;
    this.members = new Set();
    this.held = new Map();
  }
  hold(watch, state) { this.held.set(watch, state); }
  say() {
    if (!this.held.size) return;
    const states = this.held;
    this.held = new Map();
    for (const [watch, state] of states) watch.say(state);
    this.apply?.(states);
  }
}

// A client of Perch for browsers and for Node 20: calls and streams over `fetch`, as Connect with JSON.
//
//     import { Perch } from './perch.js';
//     const perch = new Perch({ base: 'http://127.0.0.1:7447' });
//     const watch = perch.watch('EntitlementService/SubscriptionStatusTask', { account: 'alice', groupId: 'plus' },
//       (state) => { if (state.success) console.log(state.success.statuses); });
//     await perch.call('TransactionService/Purchase', { account: 'alice', order: { productId: 'app.perch.coins' } });
//     watch.close();
//
// Messages are those of proto/, in protobuf's JSON: int64 is a text, bytes are base64, an absent field has its default.

/** @typedef {{revision?: string, asOfMs?: string}} Position */
/** @typedef {{position?: Position, cause?: string, nextChange?: object, resumeToken?: string, notInCatalog?: boolean}} ValueInfo */
/** A state of a watch: exactly one of `loading`, `failure` and `success`. A failure keeps the last success as `last`.
 * @typedef {{loading?: object, failure?: {reason: string, message: string}, success?: any, last?: any, info?: ValueInfo}} State */
/** @typedef {object} PerchOptions
 * @property {string} [base]  Where the server is; empty: where the page came from.
 * @property {string | (() => string | null)} [token]  The bearer token, or a function that knows the newest one.
 * @property {{bundleId?: string, environment?: string}} [app]  The app; needed where the server has several.
 * @property {string} [clientId]  Who causes changes, up to 32 bytes.
 * @property {number} [streams]  Streams at a time. A browser opens six connections of HTTP/1.1 to a server, for all windows together, so over
 *   plaintext the default is one. Other watches read again: after each own call, after those of other windows, and twice a second.
 */

const reads = {
  'EntitlementService/ProductsTask': 'EntitlementService/GetProducts',
  'EntitlementService/SubscriptionStatusTask': 'EntitlementService/GetSubscriptionStatus',
  'EntitlementService/CurrentEntitlementTask': 'EntitlementService/GetCurrentEntitlement', 'EntitlementService/EntitlementsTask': 'EntitlementService/GetEntitlements',
};
const keyed = /\/(Purchase|Finish|Sync|RequestRefund|RedeemOfferCode|ManageSubscriptions|Operate|Configure|GrantEntitlement)$/;
const safe = /\/(Get|List|Explain|Inspect|Check|Find)/;
/** Methods about the server, which name no app. */
const server = /\/(ListApps|CheckCatalog|GetServerStatus|Backup|RevokeToken|ListAudit|\w*DeadLetters?|\w*ConsoleCode)$/;
const [heartbeatSeconds, pollMs] = [10, 500];

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

/** A server. Events: `online` and `offline` as streams come and go, `credentials` where the token is refused, and `change` with
 * `detail` {method, request, response} after each call that changed something. */
export class Perch extends EventTarget {
  /** @param {PerchOptions} [options] */
  constructor(options = {}) {
    super();
    this.base = (options.base ?? '').replace(/\/$/, '');
    this.token = options.token ?? null;
    this.app = options.app ?? null;
    this.clientId = options.clientId ?? 'web-' + Math.random().toString(36).slice(2, 10);
    this.streams = options.streams ?? ((this.base || globalThis.location?.protocol || '').startsWith('https') ? 64 : 1);
    this.isOnline = true;
    /** The newest revision that any answer named. */
    this.revision = 0;
    this.watches = new Set();
    // Other windows of this origin tell their changes.
    if (typeof BroadcastChannel === 'function') {
      this.channel = new BroadcastChannel('perch:' + this.base);
      this.channel.unref?.();
      this.channel.onmessage = ({ data }) => this.#learn(data);
    }
    globalThis.document?.addEventListener('visibilitychange', () => this.refresh());
    globalThis.window?.addEventListener('pagehide', () => { this.isAway = true; for (const watch of this.watches) watch.cut.abort(); });
    globalThis.window?.addEventListener('pageshow', () => { this.isAway = false; this.refresh(); });
  }
  close() {
    for (const watch of this.watches) watch.close();
    this.channel?.close();
  }
  #fields(more) {
    const token = typeof this.token === 'function' ? this.token() : this.token;
    return { ...more, 'perch-client-id': this.clientId, ...(token ? { authorization: 'Bearer ' + token } : {}) };
  }
  #withApp(method, request) { return this.app && !request.app && !server.test(method) ? { app: this.app, ...request } : { ...request }; }
  async #post(method, type, body, fields, signal) {
    const headers = this.#fields({ 'content-type': type, ...fields });
    const response = await fetch(`${this.base}/perch.v1.${method}`, { method: 'POST', headers, body, signal, cache: 'no-store', credentials: 'omit' }).catch((error) => {
      throw signal?.aborted ? error : new PerchError('unreachable', 'the server does not answer');
    });
    if (response.ok) return response;
    const text = await response.text();
    const error = PerchError.from(text.startsWith('{') ? JSON.parse(text) : { message: text.trim() }, response.status);
    throw error.code === 'unauthenticated' ? (this.dispatchEvent(new CustomEvent('credentials', { detail: error })), error) : error;
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
    if (keyed.test(method) && !asked.idempotencyKey) asked.idempotencyKey = btoa(`${this.clientId}-${crypto.randomUUID()}`);
    const body = JSON.stringify(asked);
    const end = Date.now() + timeoutMs;
    for (let failures = 0; ; failures += 1) {
      const limit = AbortSignal.timeout(Math.max(1, end - Date.now()));
      const both = signal ? AbortSignal.any([signal, limit]) : limit;
      try {
        const response = await this.#post(method, 'application/json', body, { 'connect-protocol-version': '1' }, both);
        const answer = await response.json();
        if (!isSafe && !server.test(method)) {
          this.dispatchEvent(new CustomEvent('change', { detail: { method, request: asked, response: answer } }));
          this.channel?.postMessage(revisionOf(answer.position));
          this.#learn(revisionOf(answer.position));
        }
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
   * Watches a state: products, a status, an entitlement, intents or messages. The listener gets `loading` first, then every new
   * value. It survives lost connections and restarts, and no value comes twice in a row.
   * @param {string} method @param {object} request @param {(state: State) => void} listener
   * @param {{group?: Group}} [options]
   */
  watch(method, request, listener, { group } = {}) {
    const watch = new Watch(this, method, this.#withApp(method, request), listener, group);
    this.watches.add(watch);
    group?.members.add(watch);
    watch.run();
    return watch;
  }
  /**
   * Every event of an account's transactions, each once and in order. Keep `event.cursor` and begin there after a restart.
   * @param {string} account @param {(event: any) => void} listener @param {{cursor?: string}} [options]
   */
  updates(account, listener, { cursor = '' } = {}) {
    const watch = new Watch(this, 'TransactionService/TransactionUpdates', this.#withApp('', { account }), listener);
    watch.token = cursor;
    this.watches.add(watch);
    watch.run();
    return watch;
  }
  /** A group of watches that agree: `apply` gets all states that one change made, together. */
  group(apply) { return new Group(apply); }
  /** Reads every watch without a stream again. */
  refresh() { for (const watch of this.watches) watch.wake(); }
  #learn(revision) {
    this.revision = Math.max(this.revision, revision);
    this.refresh();
  }
  /** Whether one more watch may hold a stream. A catalogue changes rarely, so it is the first to go without. */
  takesStream(watch) {
    const others = [...this.watches].filter((other) => other !== watch && other.hasStream);
    return others.length < this.streams && (this.streams > 1 || !watch.method.endsWith('/ProductsTask'));
  }
  tellOnline(isOnline) {
    if (this.isOnline !== isOnline) this.dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
    this.isOnline = isOnline;
  }
  /** Opens a stream and gives each of its messages to `take`, until it ends or nothing comes for two heartbeats. */
  async stream(method, request, take, signal) {
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
      const response = await this.#post(method, 'application/connect+json', body, fields, both);
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
          if (all[at] & 2 && message.error) throw PerchError.from(message.error);
          if (all[at] & 2) return;
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

/** One watch: a stream, or reads where the streams are used up. */
export class Watch {
  constructor(perch, method, request, listener, group) {
    Object.assign(this, { perch, method, request, listener, group, isUpdates: /\/(TransactionUpdates|AppChanges)$/.test(method) });
    this.token = '';
    this.cut = new AbortController();
    this.hasStream = false;
    this.seen = 0; // Everything up to this revision that concerns this watch has been said.
    this.state = this.waiting = null;
    this.ender = new AbortController();
  }
  close() {
    this.ender.abort();
    this.wake();
    this.perch.watches.delete(this);
    this.group?.members.delete(this);
  }
  wake() { this.waiting?.wake(); }
  async run() {
    let failures = 0;
    while (!this.ender.signal.aborted) {
      // A page that is left gives its connections back, also where its other events wake this watch; one that is shown again goes on.
      if (this.perch.isAway) { await this.#wait(60_000); continue; }
      const began = Date.now();
      this.hasStream = this.perch.takesStream(this);
      try {
        if (this.hasStream) {
          await this.#follow(() => {});
        } else {
          await (reads[this.method] ? this.#read() : this.#glance());
          failures = 0;
          await this.#wait(pollMs * (this.method.endsWith('ProductsTask') ? 4 : globalThis.document?.hidden ? 10 : reads[this.method] ? 1 : 2));
          continue;
        }
      } catch (error) {
        if (this.ender.signal.aborted) return;
        if (this.cut.signal.aborted) { this.hasStream = false; continue; }
        const isTokens = /^(TOKEN|CURSOR)_/.test(error.reason ?? '');
        if (error.code === 'unreachable' || error.code === 'unavailable') {
          this.perch.tellOnline(false);
        } else if (isTokens && this.token) {
          this.token = '';
        } else if (!error.isTransient) {
          this.#deliver({ failure: { reason: error.reason || error.code || '', message: error.message }, last: this.state?.last });
          if (error.code !== 'unauthenticated') return this.close();
        }
      }
      this.hasStream = false;
      failures = Date.now() - began > 10_000 ? 0 : failures + 1;
      await this.#wait(Math.random() * Math.min(60_000, 500 * 2 ** Math.min(failures, 7)));
    }
  }
  #wait(ms) {
    this.waiting = pause(ms);
    return this.waiting.promise;
  }
  async #follow(heard) {
    this.cut = new AbortController();
    const request = this.token ? { ...this.request, [this.isUpdates ? 'cursor' : 'resumeToken']: this.token } : this.request;
    await this.perch.stream(this.method, request, (message) => { this.#take(message); heard(message); }, AbortSignal.any([this.ender.signal, this.cut.signal]));
  }
  /** A method without a read: a stream that is left when it has said what is new. */
  async #glance() {
    let isDone = false;
    const leave = () => { isDone = true; this.cut.abort(); };
    let timer = setTimeout(leave, 1_000);
    try {
      await this.#follow((message) => {
        clearTimeout(timer);
        timer = setTimeout(leave, message.success || message.failure || message.unchanged ? 0 : 150);
      });
    } catch (error) { if (!isDone) throw error; } finally { clearTimeout(timer); }
  }
  async #read() {
    const revision = this.perch.revision;
    if (!this.state) this.#deliver({ loading: {} });
    const answer = await this.perch.call(reads[this.method], this.request, { signal: this.ender.signal, timeoutMs: 3_000 });
    this.perch.tellOnline(true);
    this.#value(answer);
    this.seen = Math.max(this.seen, revision);
    this.group?.check();
  }
  #take(message) {
    this.perch.tellOnline(true);
    if (message.bookmark) {
      this.seen = Math.max(this.seen, Number(message.bookmark.revision ?? 0));
      this.group?.check();
    } else if (this.isUpdates) {
      this.token = message.cursor ?? this.token;
      this.listener(message);
    } else if (message.loading) {
      if (!this.state) this.#deliver({ loading: {} });
    } else {
      this.#value(message);
    }
  }
  #value(message) {
    this.token = message.info?.resumeToken ?? this.token;
    const revision = revisionOf(message.info?.position);
    [this.seen, this.perch.revision] = [Math.max(this.seen, revision), Math.max(this.perch.revision, revision)];
    if (message.unchanged) return;
    const print = fingerprint(message.success ?? message.failure ?? null);
    if (print === this.print) return;
    this.print = print;
    const last = this.state?.success ?? this.state?.last;
    this.#deliver(message.failure ? { failure: message.failure, info: message.info, last } : { success: message.success ?? {}, info: message.info });
  }
  #deliver(state) {
    this.state = state;
    if (!this.group || state.loading) return this.listener(state);
    this.group.hold(this, state);
  }
}

/** States that are kept aside until every member has said everything up to their revision. */
class Group {
  constructor(apply) {
    this.apply = apply;
    this.members = new Set();
    this.held = new Map();
  }
  hold(watch, state) {
    this.held.set(watch, state);
    for (const member of this.members) if (!member.hasStream) member.wake();
    this.check();
  }
  check() {
    if (!this.held.size) return;
    let revision = 0;
    for (const state of this.held.values()) revision = Math.max(revision, revisionOf(state.info?.position));
    for (const member of this.members) if (member.seen < revision && member.state) return;
    const states = this.held;
    this.held = new Map();
    for (const [watch, state] of states) watch.listener(state);
    this.apply?.(states);
  }
}

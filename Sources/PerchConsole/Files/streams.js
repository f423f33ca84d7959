// One stream for all windows of a browser: a shared worker that joins their watches. The console's client in kit.js talks to it.
import { Perch, PerchError } from './perch.js';

const watchesMax = 256;
const isUpdates = /^(transactionUpdates|appChanges)$/;
/** @type {Set<Feed>} */
const feeds = new Set();

/** One stream under one token. Its parts are the lists of windows; it begins again where one comes, with the newest tokens of all. */
class Feed {
  constructor(token) {
    this.token = token;
    this.parts = new Set();
    this.perch = new Perch({ token, clientId: 'console-windows' });
    feeds.add(this);
  }
  get size() { return [...this.parts].reduce((sum, part) => sum + part.watches.length, 0); }

  add(part) {
    part.feed = this;
    this.parts.add(part);
    this.#begin();
  }
  /** A part that goes leaves its watches on the stream until the next one comes: nobody hears them. */
  remove(part) {
    this.parts.delete(part);
    if (this.parts.size) return;
    this.cut?.abort();
    feeds.delete(this);
  }
  #begin() {
    this.cut?.abort();
    if (this.isWaiting) return;
    this.isWaiting = true;
    // Windows that open together are one call.
    setTimeout(() => { this.isWaiting = false; this.#run(); }, 5);
  }
  async #run() {
    const cut = (this.cut = new AbortController());
    const entries = [...this.parts].flatMap((part) => part.watches.map((watch, at) => ({ part, at, watch })));
    if (!entries.length) return;
    let error = new PerchError('unavailable', 'the stream ended');
    try {
      await this.perch.stream('WatchService/Watch', { watches: entries.map(({ watch }) => watch) }, (message) => this.#take(message, entries), cut.signal);
    } catch (failure) { error = failure; }
    if (!cut.signal.aborted) this.#fail(error, entries);
  }
  #take(message, entries) {
    if (message.bookmark) {
      for (const part of this.parts) part.say({ message });
      return;
    }
    const { part, at, watch } = entries[message.watch ?? 0];
    const [field] = Object.keys(watch);
    const token = isUpdates.test(field) ? { cursor: message[field]?.cursor } : { resumeToken: message[field]?.info?.resumeToken };
    const [[name, value]] = Object.entries(token);
    if (value) watch[field] = { ...watch[field], [name]: value };
    if (this.parts.has(part)) part.say({ message: { ...message, watch: at } });
  }
  /** An error of one watch is for its window alone. Another is for all, and each window decides when it comes again. */
  #fail(error, entries) {
    const named = entries[error.details?.watch ?? -1];
    for (const part of named ? [named.part] : [...this.parts]) {
      this.remove(part);
      const details = named ? { ...error.details, watch: String(named.at) } : error.details ?? {};
      part.say({ error: { code: error.code ?? 'unreachable', message: error.message, reason: error.reason ?? '', details } });
    }
    if (this.parts.size) this.#begin();
  }
}

globalThis.onconnect = ({ ports: [port] }) => {
  const parts = new Map();
  const end = (id) => {
    const part = parts.get(id);
    parts.delete(id);
    part?.feed.remove(part);
  };
  port.onmessage = ({ data }) => {
    if (data.end) return end(data.end);
    // The lock of a window that is gone, however it went, comes to the worker.
    if (data.lock) return navigator.locks.request(data.lock, () => { for (const id of [...parts.keys()]) end(id); });
    const part = { watches: data.watches, say: (said) => port.postMessage({ id: data.begin, ...said }) };
    parts.set(data.begin, part);
    const feed = [...feeds].find((each) => each.token === data.token && each.size + data.watches.length <= watchesMax) ?? new Feed(data.token);
    return feed.add(part);
  };
};

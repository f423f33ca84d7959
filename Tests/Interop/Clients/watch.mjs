// Watches several values of one account, and applies them together, through lost connections. A model to copy.
// Connect over fetch, in Node 20 and in browsers, without a library.
//
//     node watch.mjs http://ADDRESS ACCOUNT GROUP PRODUCT        PERCH_TOKEN has the credentials, if the server asks for some
//
// On HTTP/2 (browsers: TLS) the streams share a connection and agree at once. On HTTP/1.1 each has its own connection, and a
// value that changes alone waits for the other's next bookmark.

const HEARTBEAT = 10; // seconds

// The first field of a detail of an error. Details are google.rpc messages in base64; this field is a text or a message.
function detail(details, type) {
  const bytes = atob(details.find((each) => each.type === type)?.value ?? "");
  return bytes.slice(2, 2 + bytes.charCodeAt(1));
}

class StreamError extends Error {
  constructor({code = "unavailable", message = "the stream ended", details = []}) {
    super(message);
    this.reason = detail(details, "google.rpc.ErrorInfo");
    this.isFinal = this.reason && !details.some(({type}) => type === "google.rpc.RetryInfo");
    // A duration: numbers of seven bits a byte, seconds behind tag 8, nanoseconds behind 16.
    const [, seconds = "", nanos = ""] = /^(?:\x08([\x80-\xff]*[^]))?(?:\x10([\x80-\xff]*[^]))?$/.exec(
      detail(details, "google.rpc.RetryInfo")) ?? [];
    const number = (text) => [...text].reduceRight((sum, each) => sum * 128 + (each.charCodeAt(0) & 127), 0);
    Object.assign(this, {code, pause: 1_000 * number(seconds) + number(nanos) / 1e6});
  }
}

// The messages of a stream. Each is behind five bytes: flags and length. Flag 2 is the end, with or without an error.
async function* messages(url, request, headers, signal) {
  const body = new TextEncoder().encode(JSON.stringify(request));
  const envelope = new Uint8Array(5 + body.length);
  new DataView(envelope.buffer).setUint32(1, body.length);
  envelope.set(body, 5);
  const response = await fetch(url, {method: "POST", body: envelope, headers, signal});
  if (!response.ok) throw new StreamError(await response.json().catch(() => ({})));
  let data = new Uint8Array();
  for (const reader = response.body.getReader(); ;) {
    const {done, value} = await reader.read();
    if (done) throw new StreamError({});
    const joined = new Uint8Array(data.length + value.length);
    joined.set(data);
    joined.set(value, data.length);
    for (data = joined; data.length >= 5;) {
      const length = new DataView(data.buffer, data.byteOffset).getUint32(1);
      if (data.length < 5 + length) break;
      const message = JSON.parse(new TextDecoder().decode(data.subarray(5, 5 + length)));
      if (data[0] & 2) throw new StreamError(message.error ?? {});
      data = data.subarray(5 + length);
      yield message;
    }
  }
}

// Revision and instant of a value or a bookmark. JSON has 64-bit numbers as text, and leaves out 0.
const mark = (revision, instant) => [BigInt(revision ?? 0), BigInt(instant ?? 0)];
const before = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
const first = (marks) => marks.reduce((a, b) => (before(b, a) ? b : a));
const equal = (a, b) => !before(a, b) && !before(b, a);

// Keeps a value aside until all streams agree. The rule is in proto/README.md.
function took(watches, watch, {bookmark, success, info}, changed) {
  if (bookmark) {
    watch.last = mark(bookmark.revision, bookmark.serverTimeMs);
    watch.behind ??= watch.last;
  } else if (success) {
    const position = mark(info.position.revision, info.position.asOfMs);
    Object.assign(watch, {held: {success, position, token: info.resumeToken}, behind: undefined});
  }
  const waiting = watches.filter(({held}) => held);
  if (!waiting.length || watches.some(({behind}) => !behind)) return;
  const newest = waiting.map(({held}) => held.position).reduce((a, b) => (before(a, b) ? b : a));
  const isLevel = ({held}) => held && equal(held.position, newest);
  const needed = first(waiting.filter(isLevel).map(({behind}) => behind));
  if (watches.some((each) => before(each.last, needed) && !isLevel(each))) return;
  for (const each of waiting) {
    each.show(each.held.success);
    Object.assign(each, {token: each.held.token, held: undefined});
  }
  changed();
}

// Opens all streams with their tokens, until one ends, or says nothing for two heartbeats.
async function attempt(address, watches, changed, token) {
  const headers = {"content-type": "application/connect+json", "connect-protocol-version": "1", "perch-groups": "1",
    "perch-heartbeat": `${HEARTBEAT}`, ...(token && {authorization: `Bearer ${token}`})};
  const abort = new AbortController();
  const silence = () => setTimeout(() => abort.abort(new StreamError({message: "silence"})), 2_000 * HEARTBEAT);
  const run = async (watch) => {
    Object.assign(watch, {held: undefined, behind: undefined, last: undefined}); // it comes again: see `token`
    const request = {...watch.request, ...(watch.token && {resumeToken: watch.token})};
    let timer = silence();
    try {
      for await (const message of messages(`${address}/${watch.method}`, request, headers, abort.signal)) {
        clearTimeout(timer);
        timer = silence();
        took(watches, watch, message, changed);
      }
    } finally {
      clearTimeout(timer);
    }
  };
  await Promise.all(watches.map(run)).finally(() => abort.abort());
}

// Watches until an error that the same request would get again.
export async function follow(address, watches, changed, token) {
  for (let failures = 0; ; failures++) {
    const began = Date.now();
    const error = await attempt(address, watches, changed, token).catch((error) => error);
    const {code = "unavailable", reason = "", pause = 0, isFinal = false} = error;
    if (reason.startsWith("TOKEN_")) for (const watch of watches) watch.token = undefined; // of another store
    else if (isFinal) throw error;
    console.warn(`lost: ${code} ${reason} ${error.message}`);
    if (Date.now() - began > 10_000) failures = 0;
    const grown = Math.random() * Math.min(60_000, 1_000 * 2 ** failures);
    await new Promise((resolve) => setTimeout(resolve, pause + grown));
  }
}

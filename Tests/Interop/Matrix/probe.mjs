// One action of Node's fetch over Connect, for matrix.py: prints what it saw, a line of JSON for each message. See probe.py.
import {readFileSync} from "node:fs";
import {gzipSync, deflateSync} from "node:zlib";

const [address, action, ...words] = process.argv.slice(2);
const word = Object.fromEntries(words.map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]));
const base = `${word.ca ? "https" : "http"}://${address}`; // NODE_EXTRA_CA_CERTS has the authority
const service = "perch.v1.EntitlementService";
const say = (fields) => console.log(JSON.stringify(fields));
const decoded = (text) => Buffer.from(text, "base64");
const first = (bytes) => bytes.subarray(2, 2 + bytes[1]);

class Refused extends Error {
  constructor({code, details = []}) {
    super(code);
    const found = (type) => details.filter((each) => each.type === type).map((each) => first(decoded(each.value)))[0];
    const field = found("google.rpc.BadRequest");
    const reason = found("google.rpc.ErrorInfo") ?? "";
    this.seen = {code: code.toUpperCase().replace("CANCELED", "CANCELLED"), reason: `${reason}`, field: field ? `${first(field)}` : ""};
  }
}

function headers(kind) {
  return {"content-type": `application/${kind}`, "connect-protocol-version": "1",
    ...(word.bearer && {authorization: `Bearer ${word.bearer}`}), ...(word.deadline && {"connect-timeout-ms": word.deadline})};
}

async function unary(path, request) {
  let body = Buffer.from(JSON.stringify(request));
  const more = headers("json");
  if (word.compress) {
    body = word.compress === "gzip" ? gzipSync(body) : deflateSync(body);
    Object.assign(more, {"content-encoding": word.compress, "accept-encoding": word.compress});
  }
  const response = await fetch(`${base}/${path}`, {method: "POST", headers: more, body});
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer);
  return answer;
}

async function stream(path, request, seen) {
  const message = Buffer.from(JSON.stringify(request));
  const body = Buffer.concat([Buffer.alloc(5), message]);
  body.writeUInt32BE(message.length, 1);
  const abort = new AbortController();
  const response = await fetch(`${base}/${path}`, {method: "POST", headers: headers("connect+json"), body, signal: abort.signal});
  let data = Buffer.alloc(0);
  for await (const part of response.body) {
    data = Buffer.concat([data, part]);
    while (data.length >= 5 && data.length >= 5 + data.readUInt32BE(1)) {
      const said = JSON.parse(data.subarray(5, 5 + data.readUInt32BE(1)));
      if (data[0] & 2) { if (said.error) throw new Refused(said.error); return; }
      data = data.subarray(5 + data.readUInt32BE(1));
      if (seen(said)) { abort.abort(); throw new Refused({code: "canceled"}); }
    }
  }
}

const actions = {
  async products() {
    const productIds = word.ids.split(",");
    for (let n = 0; n < (word.count ?? 0); n++) productIds.push(`${word.prefix ?? "product-"}${n}`);
    const {success: {products = [], unavailableIds = []}} = await unary(`${service}/GetProducts`, {productIds});
    say({found: products.length, unavailable: unavailableIds.length});
  },
  async watch() {
    const resumeToken = Buffer.from(word.token ?? "", "hex").toString("base64");
    await stream(`${service}/SubscriptionStatusTask`, {account: word.account, groupId: "premium", resumeToken}, (message) => {
      const state = ["loading", "success", "unchanged"].find((each) => each in message) ?? null;
      const statuses = message.success?.statuses?.length ?? 0;
      say({state, statuses, token: Buffer.from(message.info?.resumeToken ?? "", "base64").toString("hex")});
      return (state === "success" || state === "unchanged") && statuses >= word.until;
    });
  },
  async error() { await unary(`${service}/GetSubscriptionStatus`, {account: "a"}); },
  async load() {
    const {summary} = await unary("perch.v1.AdminService/LoadCatalog", {file: readFileSync(word.file).toString("base64")});
    say({subscriptions: summary.subscriptionCount});
  },
  async health() { say({status: (await unary("grpc.health.v1.Health/Check", {})).status}); },
};

try {
  await actions[action]();
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  say(error.seen);
}

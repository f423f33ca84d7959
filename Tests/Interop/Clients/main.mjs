// Shows the model client of watch.mjs: node main.mjs ADDRESS ACCOUNT GROUP PRODUCT. PERCH_TOKEN has the credentials, if any.
import {follow} from "./watch.mjs";

const [address, account, groupId, productId] = process.argv.slice(2);
const shown = {states: [], entitled: false};
const service = "perch.v1.EntitlementService";
await follow(`http://${address}`, [
  {method: `${service}/SubscriptionStatusTask`, request: {account, groupId},
    show: ({statuses = []}) => { shown.states = statuses.map(({state}) => state); }},
  {method: `${service}/CurrentEntitlementTask`, request: {account, productId},
    show: ({transaction}) => { shown.entitled = transaction !== undefined; }},
], () => console.log(JSON.stringify(shown)), process.env.PERCH_TOKEN);

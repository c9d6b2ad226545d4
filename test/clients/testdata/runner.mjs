// Makes the calls that it reads with the TypeScript client, one JSON object on each line, and writes what came of each.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { Client, APIError, NoAnswerError, verify, verifyStandard } = await import(pathToFileURL(process.argv[2]));

const calls = {
  create_order: async (c, w) => {
    const { order, warning, replayed } = await c.createOrder(w.key, w.order);
    return { order, warning: warning ?? null, replayed };
  },
  create_order_for_nan: (c) => c.createOrder("venta-1", { amount_to_collect: NaN }),
  create_order_changed_meanwhile: (c, w) => {
    const created = c.createOrder(w.key, w.order);
    w.order.product = "Otra cosa";
    return created;
  },
  orders_changed_meanwhile: (c, w) => {
    const listed = c.orders(w.filter);
    w.filter.status = "cancelled";
    return collect(listed);
  },
  get_order: (c, w) => c.getOrder(w.id),
  orders: (c, w) => collect(c.orders(w.filter)),
  correct_order: async (c, w) => {
    const { order, message, warning } = await c.correctOrder(w.id, w.correction);
    return { order, message: message ?? null, warning: warning ?? null };
  },
  decide: (c, w) => c.decide(w.id, w.decision),
  cancel_orders: (c, w) => collect(c.orders(w.filter), (order) => c.cancelOrder(order.id)),
  cancel_order: (c, w) => c.cancelOrder(w.id, { reason: w.reason, note: w.note }),
  advance_test_order: (c, w) => c.advanceTestOrder(w.id),
  track: (c, w) => c.track(w.guide_code),
  stores: (c) => c.stores(),
  settlements: (c, w) => collect(c.settlements(w.filter)),
  get_settlement: (c, w) => c.getSettlement(w.id),
  balance: (c, w) => c.balance(w.store_id),
  register_webhook: (c, w) => c.registerWebhook(w.webhook),
  webhooks: (c) => c.webhooks(),
  get_webhook: (c, w) => c.getWebhook(w.id),
  change_webhook: (c, w) => c.changeWebhook(w.id, w.change),
  webhook_health: (c, w) => c.webhookHealth(w.id),
  deactivate_webhook: (c, w) => c.deactivateWebhook(w.id),
  rotate_webhook_secret: (c, w) => c.rotateWebhookSecret(w.id, { revoke: w.revoke }),
  test_webhook: (c, w) => c.testWebhook(w.id),
  redeliver_failed: (c, w) => c.redeliverFailed(w.id, w.from, w.to),
  redeliver_all: (c, w) => c.redeliverAll(w.id, w.from, w.to),
  deliveries: (c, w) => collect(c.deliveries(w.filter)),
  get_delivery: (c, w) => c.getDelivery(w.id),
  redeliver: (c, w) => c.redeliver(w.id),
  events: (c, w) => c.events(w.after, { wait: w.wait, names: w.names }),
  cities: (c, w) => c.cities(w.country_code),
  location_tree: (c, w) => c.locationTree(w.country_code, w.city),
  location_children: (c, w) => c.locationChildren(w.id),
  lookup_ubigeo: (c, w) => c.lookupUbigeo(w.country_code, w.codes),
  search_locations: (c, w) => c.searchLocations(w.country_code, w.text),
  verify: (c, w) => (w.scheme === "standard" ? verifyStandard : verify)(w.headers, Buffer.from(w.body), ...w.secrets),
};

async function collect(list, of = (element) => element) {
  const all = [];
  for await (const element of list) {
    all.push(await of(element));
  }
  return all;
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const outcome = { waits: [] };
  const sleep = async (milliseconds) => void outcome.waits.push(milliseconds / 1000);
  const { attempts, max_wait: maxWait } = request.options;
  try {
    const options = { timeout: request.timeout * 1000, sleep, attempts, wait: undefined, maxWait: maxWait && maxWait * 1000 };
    const client = new Client(request.base_url, request.key, options);
    const result = await calls[request.call](client, request.with);
    outcome.result = result ?? null;
  } catch (error) {
    if (error instanceof APIError) {
      outcome.error = { status: error.status, code: error.code, message: error.message, fields: error.fields };
    } else if (error instanceof NoAnswerError) {
      outcome.no_answer = true;
    } else {
      outcome.other = String(error.stack);
    }
  }
  console.log(JSON.stringify(outcome));
}

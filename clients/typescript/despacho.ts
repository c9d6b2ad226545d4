/**
 * A client of Despacho's API for a store's or an operator's own system. It creates orders exactly once, retries what
 * may be retried, and checks the signatures of webhooks. It needs Node 20 or later and nothing else.
 *
 * openapi.d.ts is generated from api/openapi.yaml, and despacho.js and despacho.d.ts from this file, by `make generate`.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { components } from "./openapi.js";

type Schemas = components["schemas"];
export type Order = Schemas["Order"];
export type OrderInput = Schemas["OrderInput"];
export type OrderCorrection = Schemas["OrderCorrection"];
export type CancelInput = Schemas["CancelInput"];
export type DecisionInput = Schemas["DecisionInput"];
export type OrderStatus = Schemas["OrderStatus"];
export type Tracking = Schemas["Tracking"];
export type Store = Schemas["Store"];
export type Settlement = Schemas["Settlement"];
export type SettlementDetail = Schemas["SettlementDetail"];
export type SettlementLine = Schemas["SettlementLine"];
export type Balance = Schemas["Balance"];
export type Webhook = Schemas["Webhook"];
export type WebhookInput = Schemas["WebhookInput"];
export type WebhookChange = Schemas["WebhookChange"];
export type WebhookDay = Schemas["WebhookDay"];
export type RegisteredWebhook = Schemas["RegisteredWebhook"];
export type Delivery = Schemas["Delivery"];
export type DeliveryStatus = Schemas["DeliveryStatus"];
export type EventPage = Schemas["EventListResponse"]["data"];
export type Location = Schemas["Location"];
export type District = Schemas["District"];
export type UbigeoMatch = Schemas["UbigeoMatch"];
export type FieldError = Schemas["FieldError"];
/** The body of a webhook's request. */
export type WebhookEvent = Schemas["WebhookEvent"];
/** The body of a webhook's request about a settlement. */
export type SettlementEvent = Schemas["SettlementEvent"];

/** An order that exists now. */
export interface CreatedOrder {
  order: Order;
  /** To be shown to whoever dispatches. */
  warning: string | undefined;
  /** Whether an earlier request with the same key created it. */
  replayed: boolean;
}

/** An order after a correction. */
export interface CorrectedOrder {
  order: Order;
  /** What the shipping cost was and what it is now, if it changed. */
  message: string | undefined;
  /** To be shown to whoever dispatches. */
  warning: string | undefined;
}

export interface OrderFilter {
  status?: OrderStatus;
  /** Days of the operator, as 2026-11-15. */
  from_date?: string;
  to_date?: string;
  /** The store's own number of the orders. */
  external_id?: string;
  /** The length of a page; by default the longest. */
  limit?: number;
}

export interface SettlementFilter {
  /** One of an operator's stores. */
  store_id?: string;
  /** The length of a page; by default the longest. */
  limit?: number;
}

export interface DeliveryFilter {
  webhook_id?: string;
  order_id?: string;
  /** The name of an event, as order.delivered. */
  event?: string;
  status?: DeliveryStatus;
  /** The length of a page; by default the longest. */
  limit?: number;
}

export interface Options {
  /** How many milliseconds a request may take; by default 15000. */
  timeout?: number | undefined;
  /** How often a request is sent at most; by default 6 times. */
  attempts?: number | undefined;
  /** The pause before the second attempt, in milliseconds; each further pause is twice as long, up to `maxWait`. By default 1000. */
  wait?: number | undefined;
  /** The longest pause: if the service asks for a longer one, its refusal is thrown. By default 120000. */
  maxWait?: number | undefined;
  /** Replaces the pause between attempts, for tests. */
  sleep?: ((milliseconds: number) => Promise<void>) | undefined;
}

/** What every error of this module is. */
export class DespachoError extends Error {
  override name = "DespachoError";
}

/**
 * An answer other than 2xx. Decide on `code`, and on `status` where the code is unknown or empty, as in an answer of a
 * proxy. `message` is Spanish text to show to a person.
 */
export class APIError extends DespachoError {
  override name = "APIError";
  readonly code: string;
  /** What is wrong in what was sent, all of it at once. */
  readonly fields: FieldError[];

  constructor(
    readonly status: number,
    body: Record<string, unknown>,
    /** What to quote when asking about the request. */
    readonly requestId: string,
    /** How many milliseconds the service asked to wait. */
    readonly retryAfter: number,
  ) {
    // A proxy's own answer may have something else under these names.
    super(typeof body["error"] === "string" ? body["error"] : `HTTP ${status}`);
    this.code = typeof body["code"] === "string" ? body["code"] : "";
    this.fields = Array.isArray(body["fields"]) ? body["fields"] : [];
  }
}

/** No answer of the service came: whether the request was carried out is not known. */
export class NoAnswerError extends DespachoError {
  override name = "NoAnswerError";
}

interface Call {
  method: string;
  path: string;
  query?: object;
  body?: object;
  headers?: Record<string, string>;
  /**
   * Sent twice, it does no more than once. It is sent again when there was no answer and after a server error too,
   * where otherwise it could have been carried out already.
   */
  repeatable?: boolean;
  /** How many milliseconds more than others it has: those that it asks the service to wait. */
  longer?: number;
}

interface Page {
  total: number;
  limit: number;
}

interface Listed {
  id: string;
}

/** The second of an element's time. */
const secondOf = (element: { created_at: string }) => element.created_at.slice(0, 19);

/** Asks one service with one API key. The catalog and the tracking need no key. */
export class Client {
  readonly #baseURL: string;
  readonly #key: string;
  readonly #options: { [Name in keyof Options]-?: NonNullable<Options[Name]> };

  constructor(baseURL: string, key = "", options: Options = {}) {
    // An option that is undefined is one that is not given.
    const { timeout = 15_000, attempts = 6, wait = 1000, maxWait = 120_000, sleep = pause } = options;
    if (!/^https?:\/\//i.test(baseURL)) {
      throw new TypeError("the address of the service begins with https://");
    }
    this.#baseURL = baseURL.replace(/\/+$/, "");
    this.#key = key;
    this.#options = { timeout, attempts, wait, maxWait, sleep };
  }

  /**
   * Creates an order exactly once, however often it has to ask. `idempotencyKey` is the sale's own number: it is the
   * same in every attempt, also in those after a restart, for 24 hours.
   */
  async createOrder(idempotencyKey: string, order: OrderInput): Promise<CreatedOrder> {
    const headers = { "Idempotency-Key": idempotencyKey };
    const { answer, received } = await this.#do<Schemas["CreatedOrderResponse"]>({
      method: "POST", path: "/v1/orders", body: order, headers, repeatable: true,
    });
    return { order: answer.data, warning: answer.warning, replayed: received.get("Idempotent-Replayed") === "true" };
  }

  /** Reads an order as it is now. */
  async getOrder(orderId: string): Promise<Order> {
    return (await this.#read<Schemas["OrderResponse"]>(`/v1/orders/${encodeURIComponent(orderId)}`)).data;
  }

  /** Lists orders, newest first, page after page. */
  orders(filter: OrderFilter = {}): AsyncGenerator<Order> {
    return this.#each<Order, Schemas["OrderListResponse"]["data"]>("/v1/orders", { ...filter }, (page) => page.orders, secondOf);
  }

  /**
   * Changes those fields of an order that the correction has: a store's while it is registered. `null` removes a value;
   * `undefined` leaves it as it is.
   */
  async correctOrder(orderId: string, correction: OrderCorrection): Promise<CorrectedOrder> {
    const path = `/v1/orders/${encodeURIComponent(orderId)}`;
    const { data, message, warning } = await this.#write<Schemas["CorrectedOrderResponse"]>("PATCH", path, correction);
    return { order: data, message, warning };
  }

  /** Cancels an order that is still registered. */
  async cancelOrder(orderId: string, why: CancelInput = {}): Promise<Order> {
    const path = `/v1/orders/${encodeURIComponent(orderId)}/cancel`;
    return (await this.#write<Schemas["OrderResponse"]>("PATCH", path, why)).data;
  }

  /**
   * Says what comes next after a failed attempt: another one, another one with what is corrected, or the way back. A
   * store decides once, until the order's `decision_deadline`.
   */
  async decide(orderId: string, decision: DecisionInput): Promise<Order> {
    const path = `/v1/orders/${encodeURIComponent(orderId)}/decision`;
    return (await this.#write<Schemas["OrderResponse"]>("POST", path, decision)).data;
  }

  /** Makes the next step of a test order at once. It needs a test key. */
  async advanceTestOrder(orderId: string): Promise<Order> {
    const path = `/v1/test/orders/${encodeURIComponent(orderId)}/advance`;
    return (await this.#write<Schemas["OrderResponse"]>("POST", path)).data;
  }

  /** Reads what anybody who has the guide code may see. */
  async track(guideCode: string): Promise<Tracking> {
    return (await this.#read<Schemas["TrackingResponse"]>(`/v1/track/${encodeURIComponent(guideCode)}`)).data;
  }

  /** Lists the operator's active stores. */
  async stores(): Promise<Store[]> {
    return (await this.#read<Schemas["StoreListResponse"]>("/v1/stores")).data;
  }

  /** Lists what the operator pays its stores, newest first, page after page, without the lines. */
  settlements(filter: SettlementFilter = {}): AsyncGenerator<Settlement> {
    return this.#each<Settlement, Schemas["SettlementListResponse"]["data"]>(
      "/v1/settlements", { ...filter }, (page) => page.settlements, (settlement) => settlement.number,
    );
  }

  /** Reads a settlement with its lines. */
  async getSettlement(settlementId: string): Promise<SettlementDetail> {
    return (await this.#read<Schemas["SettlementResponse"]>(`/v1/settlements/${encodeURIComponent(settlementId)}`)).data;
  }

  /** Reads what the operator owes the key's store, or all of its stores, of which an operator's key may choose one. */
  async balance(storeId?: string): Promise<Balance> {
    return (await this.#read<Schemas["BalanceResponse"]>("/v1/balance", { store_id: storeId })).data;
  }

  /** Registers a receiver of events. The secret is shown this once. */
  async registerWebhook(webhook: WebhookInput): Promise<RegisteredWebhook> {
    return (await this.#write<Schemas["WebhookRegisteredResponse"]>("POST", "/v1/webhooks", webhook)).data;
  }

  /** Lists the active webhooks. */
  async webhooks(): Promise<Webhook[]> {
    return (await this.#read<Schemas["WebhookListResponse"]>("/v1/webhooks")).data;
  }

  /** Reads a webhook as it is now, also after its deactivation. */
  async getWebhook(webhookId: string): Promise<Webhook> {
    return (await this.#read<Schemas["WebhookResponse"]>(`/v1/webhooks/${encodeURIComponent(webhookId)}`)).data;
  }

  /**
   * Changes the address, the events or the retries of a webhook without another secret. With `paused` it is paused,
   * which keeps its events, and resumed, which sends them.
   */
  async changeWebhook(webhookId: string, change: WebhookChange): Promise<Webhook> {
    const path = `/v1/webhooks/${encodeURIComponent(webhookId)}`;
    return (await this.#write<Schemas["WebhookResponse"]>("PATCH", path, change)).data;
  }

  /** Counts what arrived and what failed on each of the last seven days, oldest first. */
  async webhookHealth(webhookId: string): Promise<WebhookDay[]> {
    const path = `/v1/webhooks/${encodeURIComponent(webhookId)}/health`;
    return (await this.#read<Schemas["WebhookHealthResponse"]>(path)).data.days;
  }

  /** Ends a webhook. */
  async deactivateWebhook(webhookId: string): Promise<void> {
    await this.#write("DELETE", `/v1/webhooks/${encodeURIComponent(webhookId)}`);
  }

  /** Replaces a webhook's secret. The earlier one signs beside it for a day, unless it is revoked. */
  async rotateWebhookSecret(webhookId: string, options: { revoke?: boolean } = {}): Promise<RegisteredWebhook> {
    const path = `/v1/webhooks/${encodeURIComponent(webhookId)}/rotate`;
    return (await this.#write<Schemas["WebhookRegisteredResponse"]>("POST", path, options)).data;
  }

  /** Sends a signed webhook.test event and returns what the receiver answered. */
  async testWebhook(webhookId: string): Promise<Delivery> {
    return (await this.#write<Schemas["DeliveryResponse"]>("POST", `/v1/webhooks/${encodeURIComponent(webhookId)}/test`)).data;
  }

  /** Sends again what failed between two moments (ISO 8601), and returns how many events that is. */
  async redeliverFailed(webhookId: string, from: string, to: string): Promise<number> {
    return this.#redeliverRange(webhookId, { from, to });
  }

  /**
   * Sends again everything between two moments (ISO 8601), also what was delivered, and returns how many events that
   * is. Without `to` it is everything until now.
   */
  async redeliverAll(webhookId: string, from: string, to?: string): Promise<number> {
    return this.#redeliverRange(webhookId, { from, ...(to !== undefined && { to }), all: true });
  }

  async #redeliverRange(webhookId: string, chosen: Schemas["RedeliverInput"]): Promise<number> {
    const path = `/v1/webhooks/${encodeURIComponent(webhookId)}/redeliver`;
    return (await this.#write<Schemas["RedeliveringResponse"]>("POST", path, chosen)).data.redelivering;
  }

  /** Lists what was sent to webhooks, newest first, page after page. */
  deliveries(filter: DeliveryFilter = {}): AsyncGenerator<Delivery> {
    return this.#each<Delivery, Schemas["DeliveryListResponse"]["data"]>("/v1/deliveries", { ...filter }, (page) => page.deliveries, secondOf);
  }

  /** Reads a delivery, with what each attempt sent and what the receiver answered. */
  async getDelivery(deliveryId: string): Promise<Delivery> {
    return (await this.#read<Schemas["DeliveryResponse"]>(`/v1/deliveries/${encodeURIComponent(deliveryId)}`)).data;
  }

  /** Sends a delivery again and returns what the receiver answered. */
  async redeliver(deliveryId: string): Promise<Delivery> {
    const path = `/v1/deliveries/${encodeURIComponent(deliveryId)}/redeliver`;
    return (await this.#write<Schemas["DeliveryResponse"]>("POST", path)).data;
  }

  /**
   * Reads the events that follow a cursor, oldest first. If there is none, it waits for one for so many seconds, 20 at
   * most, and the request has that time besides the client's timeout. Store the page's cursor once its events are
   * dealt with: it is the next call's `after`. `names` choose the events; without any they are those that every reader
   * gets.
   */
  async events(after?: string, { wait = 10, limit = 200, names = [] as string[] } = {}): Promise<EventPage> {
    const query = { after, wait, limit, events: names.length > 0 ? names.join(",") : undefined };
    const call = { method: "GET", path: "/v1/events", query, repeatable: true, longer: wait * 1000 };
    return (await this.#do<Schemas["EventListResponse"]>(call)).answer.data;
  }

  /** Lists the cities of a country where something is delivered, by name. */
  async cities(countryCode: string): Promise<Location[]> {
    return (await this.#read<Schemas["LocationListResponse"]>("/public/cities", { country_code: countryCode })).data;
  }

  /** Lists the districts of a city with their zones. The city is its name or its id. */
  async locationTree(countryCode: string, city: string): Promise<District[]> {
    const query = { country_code: countryCode, city };
    return (await this.#read<Schemas["LocationTreeResponse"]>("/public/locations/tree", query)).data;
  }

  /** Lists what is right below a location: the zones of a district. */
  async locationChildren(locationId: string): Promise<Location[]> {
    const path = `/public/locations/${encodeURIComponent(locationId)}/children`;
    return (await this.#read<Schemas["LocationListResponse"]>(path)).data;
  }

  /** Turns INEI ubigeo codes into locations, in the order of the codes. */
  async lookupUbigeo(countryCode: string, codes: string[]): Promise<UbigeoMatch[]> {
    const query = { country_code: countryCode, codes: codes.join(",") };
    return (await this.#read<Schemas["UbigeoListResponse"]>("/public/locations/ubigeo", query)).data;
  }

  /** Finds cities, districts and zones by the beginning of their names. */
  async searchLocations(countryCode: string, text: string): Promise<Location[]> {
    const query = { country_code: countryCode, q: text };
    return (await this.#read<Schemas["LocationListResponse"]>("/public/locations", query)).data;
  }

  async #read<T>(path: string, query: object = {}): Promise<T> {
    return (await this.#do<T>({ method: "GET", path, query, repeatable: true })).answer;
  }

  async #write<T>(method: string, path: string, body?: object): Promise<T> {
    return (await this.#do<T>({ method, path, ...(body && { body }) })).answer;
  }

  /**
   * Yields the elements of a list page after page, from the newest to the oldest, each at most once.
   *
   * What enters the list pushes known elements onto the next page: only what follows the last element that was yielded
   * is yielded. What leaves the list, as by what is done with an element, pulls unknown ones onto pages that were read
   * already: if the list became shorter, the way goes back to a page with a known element. The list is sorted by
   * `rankOf`, which may be the same for several.
   */
  async *#each<T extends Listed, P extends Page>(
    path: string, filter: object, elementsOf: (page: P) => T[], rankOf: (element: T) => string | number,
  ): AsyncGenerator<T> {
    // The rank of the last element that was yielded, and which ones of that rank were.
    let last: string | number | undefined;
    let known = new Set<string>();
    const follows = (element: T) =>
      last === undefined || rankOf(element) < last || (rankOf(element) === last && !known.has(element.id));
    for (let number = 1, total = 0, back = false; ; ) {
      const page = (await this.#read<{ data: P }>(path, { limit: 200, ...filter, page: number })).data;
      const elements = elementsOf(page);
      const following = elements.filter(follows);
      back = number > 1 && following.length === elements.length && (back || page.total < total);
      total = page.total;
      if (back) {
        number = Math.max(1, Math.min(number - 1, Math.ceil(total / page.limit)));
        continue;
      }
      for (const element of following) {
        if (rankOf(element) !== last) {
          last = rankOf(element);
          known = new Set();
        }
        known.add(element.id);
        yield element;
      }
      if (elements.length === 0 || number * page.limit >= total) {
        return;
      }
      number++;
    }
  }

  /** Sends a request until it is answered, refused or out of attempts. */
  async #do<T>(call: Call): Promise<{ answer: T; received: Headers }> {
    // Written once: the program may change its object while the attempts go on.
    const content = call.body && JSON.stringify(call.body, refuseNoNumber);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send<T>(call, content);
      } catch (error) {
        // A little more or less than others that failed at the same moment, and never less than asked for.
        const growing = Math.min(this.#options.wait * 2 ** (attempt - 1) * (0.8 + 0.4 * Math.random()), this.#options.maxWait);
        const pause = error instanceof APIError ? Math.max(growing, error.retryAfter) : growing;
        if (attempt >= this.#options.attempts || pause > this.#options.maxWait || !retryable(error, call.repeatable ?? false)) {
          throw error;
        }
        await this.#options.sleep(pause);
      }
    }
  }

  /** Makes one attempt. It follows no redirect: that would hand the key to another server. */
  async #send<T>(call: Call, content: string | undefined): Promise<{ answer: T; received: Headers }> {
    const url = new URL(this.#baseURL + call.path);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined && value !== null) {
        url.searchParams.set(name, String(value));
      }
    }
    const headers = new Headers();
    for (const [name, text] of Object.entries({ ...call.headers, ...(this.#key && { "X-API-Key": this.#key }) })) {
      headers.set(name, headerText(name, text));
    }
    const signal = AbortSignal.timeout(this.#options.timeout + (call.longer ?? 0));
    const options: RequestInit = { method: call.method, headers, redirect: "manual", signal };
    if (content !== undefined) {
      headers.set("Content-Type", "application/json");
      options.body = content;
    }
    const request = new Request(url, options); // what cannot be sent is thrown here, not as a lost answer
    let response: Response;
    let text: string;
    try {
      response = await fetch(request);
      text = await response.text();
    } catch (cause) {
      throw new NoAnswerError("no answer of the service", { cause });
    }
    const answer = parse(text);
    if (response.ok) {
      // Every answer of the service has this member; one without it comes from somebody else, such as a proxy.
      const member = call.method === "DELETE" ? "message" : "data";
      if (answer?.[member] === undefined || answer[member] === null) {
        throw new NoAnswerError("the answer is not the service's");
      }
      return { answer: answer as T, received: response.headers };
    }
    const retryAfter = millisecondsToWait(response.headers.get("Retry-After") ?? "");
    throw new APIError(response.status, answer ?? {}, response.headers.get("X-Request-Id") ?? "", retryAfter);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Reads Retry-After in milliseconds: seconds, as the service sends it, or a date, as a proxy may. What is neither asks for nothing. */
function millisecondsToWait(asked: string): number {
  if (/^[0-9]+$/.test(asked)) {
    return Number(asked) * 1000;
  }
  const date = asked.endsWith(" GMT") ? Date.parse(asked) : NaN;
  return Number.isNaN(date) ? 0 : Math.max(date - Date.now(), 0);
}

/** Returns a header's text as fetch takes it: a character for each byte of its UTF-8. */
function headerText(name: string, text: string): string {
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text)) {
    throw new TypeError(`${name} has a character that a header cannot carry`);
  }
  return Buffer.from(text).toString("latin1");
}

/** Refuses a number that JSON has no form for: it would be sent as null, and an amount of null is none. */
function refuseNoNumber(name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`${name} is ${value}, which JSON cannot carry`);
  }
  return value;
}

/** Reads a JSON object; undefined for anything else, such as the page of a proxy. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Says whether it can help, and does no harm, to send the request again. */
function retryable(error: unknown, repeatable: boolean): boolean {
  if (!(error instanceof APIError)) {
    return repeatable && error instanceof NoAnswerError;
  }
  if (error.status === 429 || error.code === "overloaded") {
    return true; // the service has not looked at it
  }
  return repeatable && (error.status >= 500 || error.code === "idempotency_in_progress");
}

/** The headers of a request: of Node's http, of Express or of fetch. */
export type RequestHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Checks X-Service-Signature of a webhook's request over its raw body: whether it comes from the service, is unchanged
 * and is not an old one. While a secret is being changed, give both: either may have signed.
 */
export function verify(headers: RequestHeaders, body: Uint8Array, ...secrets: string[]): boolean {
  const given = headerReader(headers);
  const timestamp = given("x-service-timestamp");
  const signatures = `${given("x-service-signature")} ${given("x-service-signature-previous")}`;
  return check(timestamp, signatures, secrets, (secret) =>
    "sha256=" + createHash("sha256").update(`${secret}.${timestamp}.`).update(body).digest("hex"));
}

/** Checks webhook-signature, the signature of Standard Webhooks, in the same way. */
export function verifyStandard(headers: RequestHeaders, body: Uint8Array, ...secrets: string[]): boolean {
  const given = headerReader(headers);
  const timestamp = given("webhook-timestamp");
  return check(timestamp, given("webhook-signature"), secrets, (secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    // Anybody could have signed with an empty key.
    return key.length === 0 ? undefined : "v1," + createHmac("sha256", key).update(`${given("webhook-id")}.${timestamp}.`).update(body).digest("base64");
  });
}

function headerReader(headers: RequestHeaders): (name: string) => string {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const values = new Map(entries.map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => String(values.get(name) ?? "");
}

function check(
  timestamp: string, signatures: string, secrets: string[], sign: (secret: string) => string | undefined,
): boolean {
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) {
    return false;
  }
  return secrets.some((secret) => {
    // A variable of the environment that is not set is undefined, whatever its type says. In a text it would be the
    // word, with which anybody can sign.
    const signed = secret ? sign(secret) : undefined;
    if (signed === undefined) {
      return false;
    }
    const expected = Buffer.from(signed);
    return signatures.split(" ").some((signature) => {
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  });
}

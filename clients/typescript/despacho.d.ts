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
export declare class DespachoError extends Error {
    name: string;
}
/**
 * An answer other than 2xx. Decide on `code`, and on `status` where the code is unknown or empty, as in an answer of a
 * proxy. `message` is Spanish text to show to a person.
 */
export declare class APIError extends DespachoError {
    readonly status: number;
    /** What to quote when asking about the request. */
    readonly requestId: string;
    /** How many milliseconds the service asked to wait. */
    readonly retryAfter: number;
    name: string;
    readonly code: string;
    /** What is wrong in what was sent, all of it at once. */
    readonly fields: FieldError[];
    constructor(status: number, body: Record<string, unknown>, 
    /** What to quote when asking about the request. */
    requestId: string, 
    /** How many milliseconds the service asked to wait. */
    retryAfter: number);
}
/** No answer of the service came: whether the request was carried out is not known. */
export declare class NoAnswerError extends DespachoError {
    name: string;
}
/** Asks one service with one API key. The catalog and the tracking need no key. */
export declare class Client {
    #private;
    constructor(baseURL: string, key?: string, options?: Options);
    /**
     * Creates an order exactly once, however often it has to ask. `idempotencyKey` is the sale's own number: it is the
     * same in every attempt, also in those after a restart, for 24 hours.
     */
    createOrder(idempotencyKey: string, order: OrderInput): Promise<CreatedOrder>;
    /** Reads an order as it is now. */
    getOrder(orderId: string): Promise<Order>;
    /** Lists orders, newest first, page after page. */
    orders(filter?: OrderFilter): AsyncGenerator<Order>;
    /**
     * Changes those fields of an order that the correction has: a store's while it is registered. `null` removes a value;
     * `undefined` leaves it as it is.
     */
    correctOrder(orderId: string, correction: OrderCorrection): Promise<CorrectedOrder>;
    /** Cancels an order that is still registered. */
    cancelOrder(orderId: string, why?: CancelInput): Promise<Order>;
    /**
     * Says what comes next after a failed attempt: another one, another one with what is corrected, or the way back. A
     * store decides once, until the order's `decision_deadline`.
     */
    decide(orderId: string, decision: DecisionInput): Promise<Order>;
    /** Makes the next step of a test order at once. It needs a test key. */
    advanceTestOrder(orderId: string): Promise<Order>;
    /** Reads what anybody who has the guide code may see. */
    track(guideCode: string): Promise<Tracking>;
    /** Lists the operator's active stores. */
    stores(): Promise<Store[]>;
    /** Lists what the operator pays its stores, newest first, page after page, without the lines. */
    settlements(filter?: SettlementFilter): AsyncGenerator<Settlement>;
    /** Reads a settlement with its lines. */
    getSettlement(settlementId: string): Promise<SettlementDetail>;
    /** Reads what the operator owes the key's store, or all of its stores, of which an operator's key may choose one. */
    balance(storeId?: string): Promise<Balance>;
    /** Registers a receiver of events. The secret is shown this once. */
    registerWebhook(webhook: WebhookInput): Promise<RegisteredWebhook>;
    /** Lists the active webhooks. */
    webhooks(): Promise<Webhook[]>;
    /** Reads a webhook as it is now, also after its deactivation. */
    getWebhook(webhookId: string): Promise<Webhook>;
    /**
     * Changes the address, the events or the retries of a webhook without another secret. With `paused` it is paused,
     * which keeps its events, and resumed, which sends them.
     */
    changeWebhook(webhookId: string, change: WebhookChange): Promise<Webhook>;
    /** Counts what arrived and what failed on each of the last seven days, oldest first. */
    webhookHealth(webhookId: string): Promise<WebhookDay[]>;
    /** Ends a webhook. */
    deactivateWebhook(webhookId: string): Promise<void>;
    /** Replaces a webhook's secret. The earlier one signs beside it for a day, unless it is revoked. */
    rotateWebhookSecret(webhookId: string, options?: {
        revoke?: boolean;
    }): Promise<RegisteredWebhook>;
    /** Sends a signed webhook.test event and returns what the receiver answered. */
    testWebhook(webhookId: string): Promise<Delivery>;
    /** Sends again what failed between two moments (ISO 8601), and returns how many events that is. */
    redeliverFailed(webhookId: string, from: string, to: string): Promise<number>;
    /**
     * Sends again everything between two moments (ISO 8601), also what was delivered, and returns how many events that
     * is. Without `to` it is everything until now.
     */
    redeliverAll(webhookId: string, from: string, to?: string): Promise<number>;
    /** Lists what was sent to webhooks, newest first, page after page. */
    deliveries(filter?: DeliveryFilter): AsyncGenerator<Delivery>;
    /** Reads a delivery, with what each attempt sent and what the receiver answered. */
    getDelivery(deliveryId: string): Promise<Delivery>;
    /** Sends a delivery again and returns what the receiver answered. */
    redeliver(deliveryId: string): Promise<Delivery>;
    /**
     * Reads the events that follow a cursor, oldest first. If there is none, it waits for one for so many seconds, 20 at
     * most, and the request has that time besides the client's timeout. Store the page's cursor once its events are
     * dealt with: it is the next call's `after`. `names` choose the events; without any they are those that every reader
     * gets.
     */
    events(after?: string, { wait, limit, names }?: {
        wait?: number | undefined;
        limit?: number | undefined;
        names?: string[] | undefined;
    }): Promise<EventPage>;
    /** Lists the cities of a country where something is delivered, by name. */
    cities(countryCode: string): Promise<Location[]>;
    /** Lists the districts of a city with their zones. The city is its name or its id. */
    locationTree(countryCode: string, city: string): Promise<District[]>;
    /** Lists what is right below a location: the zones of a district. */
    locationChildren(locationId: string): Promise<Location[]>;
    /** Turns INEI ubigeo codes into locations, in the order of the codes. */
    lookupUbigeo(countryCode: string, codes: string[]): Promise<UbigeoMatch[]>;
    /** Finds cities, districts and zones by the beginning of their names. */
    searchLocations(countryCode: string, text: string): Promise<Location[]>;
}
/** The headers of a request: of Node's http, of Express or of fetch. */
export type RequestHeaders = Headers | Record<string, string | string[] | undefined>;
/**
 * Checks X-Service-Signature of a webhook's request over its raw body: whether it comes from the service, is unchanged
 * and is not an old one. While a secret is being changed, give both: either may have signed.
 */
export declare function verify(headers: RequestHeaders, body: Uint8Array, ...secrets: string[]): boolean;
/** Checks webhook-signature, the signature of Standard Webhooks, in the same way. */
export declare function verifyStandard(headers: RequestHeaders, body: Uint8Array, ...secrets: string[]): boolean;
export {};

<?php

// A client of Despacho's API for a store's or an operator's own system. It creates orders exactly
// once, retries what may be retried, and checks the signatures of webhooks. It needs PHP 8.1 or
// later and nothing else: copy this file into your project.

declare(strict_types=1);

namespace Despacho;

/** What every error of this file is. */
abstract class Exception extends \RuntimeException
{
}

/**
 * An answer other than 2xx. Decide on $errorCode, and on $status where the code is unknown or
 * empty, as in an answer of a proxy. The message is Spanish text to show to a person.
 */
final class ApiException extends Exception
{
    public readonly string $errorCode;
    /** @var list<array{field: string, message: string}> what is wrong in what was sent */
    public readonly array $fields;

    /** @param array<string, mixed> $body */
    public function __construct(
        public readonly int $status,
        array $body,
        /** What to quote when asking about the request. */
        public readonly string $requestId,
        /** How many seconds the service asked to wait. */
        public readonly int $retryAfter,
    ) {
        $this->errorCode = is_string($body['code'] ?? null) ? $body['code'] : '';
        $this->fields = is_array($body['fields'] ?? null) && array_is_list($body['fields']) ? $body['fields'] : [];
        parent::__construct(is_string($body['error'] ?? null) ? $body['error'] : 'HTTP ' . $status, $status);
    }
}

/** No answer of the service came: whether the request was carried out is not known. */
final class NoAnswerException extends Exception
{
}

/** An order that exists now. */
final class CreatedOrder
{
    /** @param array<string, mixed> $order */
    public function __construct(
        public readonly array $order,
        /** To be shown to whoever dispatches; null if there is none. */
        public readonly ?string $warning,
        /** Whether an earlier request with the same key created it. */
        public readonly bool $replayed,
    ) {
    }
}

/** An order after a correction. */
final class CorrectedOrder
{
    /** @param array<string, mixed> $order */
    public function __construct(
        public readonly array $order,
        /** What the shipping cost was and what it is now; null if it is the same. */
        public readonly ?string $message,
        /** To be shown to whoever dispatches; null if there is none. */
        public readonly ?string $warning,
    ) {
    }
}

/** Asks one service with one API key. The catalog and the tracking need no key. */
final class Client
{
    private readonly string $baseUrl;
    private readonly \Closure $sleep;

    /**
     * A request may take $timeout seconds. It is sent up to $attempts times; $wait is the pause before the second
     * attempt in seconds, and each further pause is twice as long, up to $maxWait. If the service asks for a longer
     * one, its refusal is thrown.
     *
     * @param ?callable(float): void $sleep replaces the pause, for tests
     */
    public function __construct(
        string $baseUrl,
        private readonly string $key = '',
        private readonly float $timeout = 15,
        private readonly int $attempts = 6,
        private readonly float $wait = 1,
        private readonly float $maxWait = 120,
        ?callable $sleep = null,
    ) {
        if (!preg_match('#^https?://#i', $baseUrl)) {
            throw new \InvalidArgumentException('the address of the service begins with https://');
        }
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->sleep = \Closure::fromCallable($sleep ?? static fn (float $seconds) => usleep((int) ($seconds * 1e6)));
    }

    /**
     * Creates an order exactly once, however often it has to ask. $idempotencyKey is the sale's own number: it is
     * the same in every attempt, also in those after a restart, for 24 hours.
     *
     * @param array<string, mixed> $order
     */
    public function createOrder(string $idempotencyKey, array $order): CreatedOrder
    {
        [$answer, $headers] = $this->perform('POST', '/v1/orders', body: $order, headers: ['Idempotency-Key: ' . $idempotencyKey], repeatable: true);
        return new CreatedOrder($answer['data'], $answer['warning'] ?? null, ($headers['idempotent-replayed'] ?? '') === 'true');
    }

    /** Reads an order as it is now. */
    public function getOrder(string $orderId): array
    {
        return $this->read('/v1/orders/' . rawurlencode($orderId))['data'];
    }

    /**
     * Lists orders, newest first, page after page.
     *
     * @param array{status?: string, from_date?: string, to_date?: string, external_id?: string, limit?: int} $filter days of the operator, as 2026-11-15
     * @return \Generator<int, array<string, mixed>>
     */
    public function orders(array $filter = []): \Generator
    {
        return $this->each('/v1/orders', 'orders', $filter);
    }

    /**
     * Changes those fields of an order that the correction has: a store's while it is registered. null removes a value.
     *
     * @param array<string, mixed> $correction
     */
    public function correctOrder(string $orderId, array $correction): CorrectedOrder
    {
        $answer = $this->write('PATCH', '/v1/orders/' . rawurlencode($orderId), $correction);
        return new CorrectedOrder($answer['data'], $answer['message'] ?? null, $answer['warning'] ?? null);
    }

    /** Cancels an order that is still registered. */
    public function cancelOrder(string $orderId, ?string $reason = null, ?string $note = null): array
    {
        return $this->write('PATCH', '/v1/orders/' . rawurlencode($orderId) . '/cancel', ['reason' => $reason, 'note' => $note])['data'];
    }

    /**
     * Says what comes next after a failed attempt: another one, another one with what is corrected, or the way back. A
     * store decides once, until the order's decision_deadline.
     *
     * @param array<string, mixed> $decision
     */
    public function decide(string $orderId, array $decision): array
    {
        return $this->write('POST', '/v1/orders/' . rawurlencode($orderId) . '/decision', $decision)['data'];
    }

    /** Makes the next step of a test order at once. It needs a test key. */
    public function advanceTestOrder(string $orderId): array
    {
        return $this->write('POST', '/v1/test/orders/' . rawurlencode($orderId) . '/advance')['data'];
    }

    /** Reads what anybody who has the guide code may see. */
    public function track(string $guideCode): array
    {
        return $this->read('/v1/track/' . rawurlencode($guideCode))['data'];
    }

    /** Lists the operator's active stores. */
    public function stores(): array
    {
        return $this->read('/v1/stores')['data'];
    }

    /**
     * Lists what the operator pays its stores, newest first, page after page, without the lines.
     *
     * @param array{store_id?: string, limit?: int} $filter
     * @return \Generator<int, array<string, mixed>>
     */
    public function settlements(array $filter = []): \Generator
    {
        return $this->each('/v1/settlements', 'settlements', $filter, static fn (array $settlement): int => $settlement['number']);
    }

    /** Reads a settlement with its lines. */
    public function getSettlement(string $settlementId): array
    {
        return $this->read('/v1/settlements/' . rawurlencode($settlementId))['data'];
    }

    /** Reads what the operator owes the key's store, or all of its stores, of which an operator's key may choose one. */
    public function balance(?string $storeId = null): array
    {
        return $this->read('/v1/balance', ['store_id' => $storeId])['data'];
    }

    /**
     * Registers a receiver of events. The secret is shown this once.
     *
     * @param list<string> $events
     */
    public function registerWebhook(string $url, array $events, bool $retry = false, ?string $storeId = null): array
    {
        return $this->write('POST', '/v1/webhooks', ['url' => $url, 'events' => $events, 'retry' => $retry, 'store_id' => $storeId])['data'];
    }

    /** Lists the active webhooks. */
    public function webhooks(): array
    {
        return $this->read('/v1/webhooks')['data'];
    }

    /** Reads a webhook as it is now, also after its deactivation. */
    public function getWebhook(string $webhookId): array
    {
        return $this->read('/v1/webhooks/' . rawurlencode($webhookId))['data'];
    }

    /**
     * Changes the address, the events or the retries of a webhook without another secret. With $paused it is paused,
     * which keeps its events, and resumed, which sends them. What is null stays as it is.
     *
     * @param ?list<string> $events
     */
    public function changeWebhook(string $webhookId, ?string $url = null, ?array $events = null, ?bool $retry = null, ?bool $paused = null): array
    {
        $change = ['url' => $url, 'events' => $events, 'retry' => $retry, 'paused' => $paused];
        return $this->write('PATCH', '/v1/webhooks/' . rawurlencode($webhookId), array_filter($change, static fn ($value) => $value !== null))['data'];
    }

    /** Counts what arrived and what failed on each of the last seven days, oldest first. */
    public function webhookHealth(string $webhookId): array
    {
        return $this->read('/v1/webhooks/' . rawurlencode($webhookId) . '/health')['data']['days'];
    }

    /** Ends a webhook. */
    public function deactivateWebhook(string $webhookId): void
    {
        $this->write('DELETE', '/v1/webhooks/' . rawurlencode($webhookId));
    }

    /** Replaces a webhook's secret. The earlier one signs beside it for a day, unless it is revoked. */
    public function rotateWebhookSecret(string $webhookId, bool $revoke = false): array
    {
        return $this->write('POST', '/v1/webhooks/' . rawurlencode($webhookId) . '/rotate', ['revoke' => $revoke])['data'];
    }

    /** Sends a signed webhook.test event and returns what the receiver answered. */
    public function testWebhook(string $webhookId): array
    {
        return $this->write('POST', '/v1/webhooks/' . rawurlencode($webhookId) . '/test')['data'];
    }

    /** Sends again what failed between two moments (ISO 8601), and returns how many events that is. */
    public function redeliverFailed(string $webhookId, string $from, string $to): int
    {
        return $this->redeliverRange($webhookId, ['from' => $from, 'to' => $to]);
    }

    /**
     * Sends again everything between two moments (ISO 8601), also what was delivered, and returns how many events that
     * is. Without $to it is everything until now.
     */
    public function redeliverAll(string $webhookId, string $from, ?string $to = null): int
    {
        return $this->redeliverRange($webhookId, ['from' => $from, 'to' => $to, 'all' => true]);
    }

    private function redeliverRange(string $webhookId, array $chosen): int
    {
        return $this->write('POST', '/v1/webhooks/' . rawurlencode($webhookId) . '/redeliver', $chosen)['data']['redelivering'];
    }

    /**
     * Lists what was sent to webhooks, newest first, page after page.
     *
     * @param array{webhook_id?: string, order_id?: string, event?: string, status?: string, limit?: int} $filter
     * @return \Generator<int, array<string, mixed>>
     */
    public function deliveries(array $filter = []): \Generator
    {
        return $this->each('/v1/deliveries', 'deliveries', $filter);
    }

    /** Reads a delivery, with what each attempt sent and what the receiver answered. */
    public function getDelivery(string $deliveryId): array
    {
        return $this->read('/v1/deliveries/' . rawurlencode($deliveryId))['data'];
    }

    /** Sends a delivery again and returns what the receiver answered. */
    public function redeliver(string $deliveryId): array
    {
        return $this->write('POST', '/v1/deliveries/' . rawurlencode($deliveryId) . '/redeliver')['data'];
    }

    /**
     * Reads the events that follow a cursor, oldest first. If there is none, it waits for one for so many seconds,
     * 20 at most, and the request has that time besides the client's timeout. Store the page's cursor once its events
     * are dealt with: it is the next call's $after. $names choose the events; without any they are those that every
     * reader gets.
     *
     * @param list<string> $names
     * @return array{events: list<array{id: string, body: array<string, mixed>}>, cursor: ?string, more: bool}
     */
    public function events(?string $after = null, int $wait = 10, int $limit = 200, array $names = []): array
    {
        $query = ['after' => $after, 'wait' => $wait, 'limit' => $limit, 'events' => implode(',', $names) ?: null];
        return $this->perform('GET', '/v1/events', query: $query, repeatable: true, longer: $wait)[0]['data'];
    }

    /** Lists the cities of a country where something is delivered, by name. */
    public function cities(string $countryCode): array
    {
        return $this->read('/public/cities', ['country_code' => $countryCode])['data'];
    }

    /** Lists the districts of a city with their zones. The city is its name or its id. */
    public function locationTree(string $countryCode, string $city): array
    {
        return $this->read('/public/locations/tree', ['country_code' => $countryCode, 'city' => $city])['data'];
    }

    /** Lists what is right below a location: the zones of a district. */
    public function locationChildren(string $locationId): array
    {
        return $this->read('/public/locations/' . rawurlencode($locationId) . '/children')['data'];
    }

    /**
     * Turns INEI ubigeo codes into locations, in the order of the codes.
     *
     * @param list<string> $codes
     */
    public function lookupUbigeo(string $countryCode, array $codes): array
    {
        return $this->read('/public/locations/ubigeo', ['country_code' => $countryCode, 'codes' => implode(',', $codes)])['data'];
    }

    /** Finds cities, districts and zones by the beginning of their names. */
    public function searchLocations(string $countryCode, string $text): array
    {
        return $this->read('/public/locations', ['country_code' => $countryCode, 'q' => $text])['data'];
    }

    private function read(string $path, array $query = []): array
    {
        return $this->perform('GET', $path, query: $query, repeatable: true)[0];
    }

    private function write(string $method, string $path, ?array $body = null): array
    {
        return $this->perform($method, $path, body: $body)[0];
    }

    /**
     * Yields the elements of a list page after page, from the newest to the oldest, each at most once.
     *
     * What enters the list pushes known elements onto the next page: only what follows the last element that was
     * yielded is yielded. What leaves the list, as by what is done with an element, pulls unknown ones onto pages that
     * were read already: if the list became shorter, the way goes back to a page with a known element. The list is
     * sorted by $rankOf, by default the second of the element's time.
     *
     * @param ?\Closure(array<string, mixed>): (string|int) $rankOf
     */
    private function each(string $path, string $member, array $filter, ?\Closure $rankOf = null): \Generator
    {
        // The rank of the last element that was yielded, and which ones of that rank were.
        [$last, $known] = [null, []];
        $rankOf ??= static fn (array $element): string => substr($element['created_at'], 0, 19);
        for ([$number, $total, $back] = [1, 0, false]; ; ) {
            $page = $this->read($path, ['limit' => 200, ...$filter, 'page' => $number])['data'];
            $elements = $page[$member];
            $following = array_filter($elements, static fn (array $element): bool =>
                $last === null || $rankOf($element) < $last || ($rankOf($element) === $last && !isset($known[$element['id']])));
            $back = $number > 1 && count($following) === count($elements) && ($back || $page['total'] < $total);
            $total = $page['total'];
            if ($back) {
                $number = max(1, min($number - 1, (int) ceil($total / $page['limit'])));
                continue;
            }
            foreach ($following as $element) {
                if ($rankOf($element) !== $last) {
                    [$last, $known] = [$rankOf($element), []];
                }
                $known[$element['id']] = true;
                yield $element;
            }
            if ($elements === [] || $number * $page['limit'] >= $total) {
                return;
            }
            $number++;
        }
    }

    /**
     * Sends a request until it is answered, refused or out of attempts. A repeatable request does no more when it is
     * sent twice: it is sent again when there was no answer and after a server error too, where otherwise it could
     * have been carried out already. $longer is how many seconds more than others a request has: those that it asks
     * the service to wait.
     *
     * @param list<string> $headers
     * @return array{array<string, mixed>, array<string, string>} the answer and its headers
     */
    private function perform(string $method, string $path, array $query = [], ?array $body = null, array $headers = [], bool $repeatable = false, float $longer = 0): array
    {
        $query = array_filter($query, static fn ($value) => $value !== null);
        $address = $this->baseUrl . $path . ($query === [] ? '' : '?' . http_build_query($query, '', '&'));
        if ($this->key !== '') {
            $headers[] = 'X-API-Key: ' . $this->key;
        }
        foreach ($headers as $header) {
            if (preg_match('/[\x00-\x08\x0a-\x1f\x7f]/', $header)) {
                throw new \InvalidArgumentException(strstr($header, ':', true) . ' has a character that a header cannot carry');
            }
        }
        $content = '';
        if ($body !== null) {
            $headers[] = 'Content-Type: application/json';
            $content = self::encode($body);
        }
        for ($attempt = 1; ; $attempt++) {
            try {
                return $this->send($method, $address, $headers, $content, $this->timeout + $longer);
            } catch (Exception $error) {
                // A little more or less than others that failed at the same moment, and never less than asked for.
                $pause = min($this->wait * 2 ** ($attempt - 1) * (0.8 + 0.4 * mt_rand() / mt_getrandmax()), $this->maxWait);
                if ($error instanceof ApiException) {
                    $pause = max($pause, $error->retryAfter);
                }
                if ($attempt >= $this->attempts || $pause > $this->maxWait || !self::retryable($error, $repeatable)) {
                    throw $error;
                }
            }
            ($this->sleep)($pause);
        }
    }

    /** Writes a body as JSON. A number has its shortest form, whatever php.ini says: 89.9 is no amount with 15 decimals. */
    private static function encode(array $body): string
    {
        $precision = ini_set('serialize_precision', '-1');
        try {
            return json_encode((object) $body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION);
        } finally {
            if ($precision !== false) {
                ini_set('serialize_precision', $precision);
            }
        }
    }

    /** Says whether it can help, and does no harm, to send the request again. */
    private static function retryable(Exception $error, bool $repeatable): bool
    {
        if (!$error instanceof ApiException) {
            return $repeatable;
        }
        if ($error->status === 429 || $error->errorCode === 'overloaded') {
            return true; // the service has not looked at it
        }
        return $repeatable && ($error->status >= 500 || $error->errorCode === 'idempotency_in_progress');
    }

    /** Makes one attempt. It follows no redirect: that would hand the key to another server. */
    private function send(string $method, string $address, array $headers, string $content, float $timeout): array
    {
        $context = stream_context_create(['http' => [
            'method' => $method, 'header' => [...$headers, 'Connection: close'], 'content' => $content, 'timeout' => $timeout,
            'protocol_version' => 1.1, 'ignore_errors' => true, 'follow_location' => 0,
        ]]);
        $ends = hrtime(true) + (int) ($timeout * 1e9);
        $stream = @fopen($address, 'r', false, $context);
        if ($stream === false) {
            throw new NoAnswerException(error_get_last()['message'] ?? 'no connection');
        }
        try {
            [$text, $ended] = self::contents($stream, $ends);
            $meta = stream_get_meta_data($stream);
        } finally {
            fclose($stream);
        }
        [$status, $received] = self::head($meta['wrapper_data'] ?? []);
        $answer = json_decode($text, true);
        $whole = $ended && strlen($text) >= (int) ($received['content-length'] ?? 0);
        if ($status >= 200 && $status < 300) {
            // Every answer of the service has this member; one without it comes from somebody else, such as a proxy.
            $member = $method === 'DELETE' ? 'message' : 'data';
            if (!$whole || !is_array($answer) || !isset($answer[$member])) {
                throw new NoAnswerException('the answer is not whole, or not the service\'s');
            }
            return [$answer, $received];
        }
        if ($status === 0) {
            throw new NoAnswerException('the answer has no status');
        }
        $retryAfter = self::secondsToWait($received['retry-after'] ?? '');
        throw new ApiException($status, is_array($answer) ? $answer : [], $received['x-request-id'] ?? '', $retryAfter);
    }

    /** Reads Retry-After: seconds, as the service sends it, or a date, as a proxy may. What is neither asks for nothing. */
    private static function secondsToWait(string $asked): int
    {
        if (preg_match('/^[0-9]+$/D', $asked)) {
            return (int) $asked;
        }
        $date = \DateTimeImmutable::createFromFormat('D, d M Y H:i:s \G\M\T', $asked, new \DateTimeZone('UTC'));
        return $date === false ? 0 : max($date->getTimestamp() - time(), 0);
    }

    /**
     * Reads an answer to its end, or until it has taken too long: the timeout of a stream is for each read, however
     * many there are.
     *
     * @param resource $stream
     * @return array{string, bool} what came, and whether it came to its end
     */
    private static function contents($stream, int $ends): array
    {
        for ($text = ''; ; $text .= $part) {
            // A chunked answer is read until it has as much as is asked for: what has come, or else the next byte.
            $length = max(1, stream_get_meta_data($stream)['unread_bytes']);
            // A connection that is lost here is a warning, which the error handlers of frameworks throw as their own.
            $part = @fread($stream, $length);
            if ($part === false || stream_get_meta_data($stream)['timed_out'] || hrtime(true) > $ends) {
                return [$text . $part, false];
            }
            if ($part === '' && @feof($stream)) {
                return [$text, true];
            }
        }
    }

    /**
     * @param list<string> $lines
     * @return array{int, array<string, string>} the status and the headers of the last answer
     */
    private static function head(array $lines): array
    {
        $status = 0;
        $headers = [];
        foreach ($lines as $line) {
            if (preg_match('#^HTTP/\S+ ([0-9]{3})#', $line, $match)) {
                [$status, $headers] = [(int) $match[1], []];
            } elseif (str_contains($line, ':')) {
                [$name, $value] = explode(':', $line, 2);
                $headers[strtolower($name)] = trim($value);
            }
        }
        return [$status, $headers];
    }
}

/** Tells whether a webhook's request comes from the service, is unchanged and is not an old one. */
final class Signature
{
    /**
     * Checks X-Service-Signature over the raw body. While a secret is being changed, give both: either may have signed.
     *
     * @param array<string, string> $headers $_SERVER, or the headers by their names
     */
    public static function verify(array $headers, string $body, string ...$secrets): bool
    {
        $given = self::names($headers);
        $timestamp = $given['x-service-timestamp'] ?? '';
        $signatures = ($given['x-service-signature'] ?? '') . ' ' . ($given['x-service-signature-previous'] ?? '');
        return self::check($timestamp, $signatures, $secrets, static fn (string $secret) => 'sha256=' . hash('sha256', $secret . '.' . $timestamp . '.' . $body));
    }

    /**
     * Checks webhook-signature, the signature of Standard Webhooks, in the same way.
     *
     * @param array<string, string> $headers $_SERVER, or the headers by their names
     */
    public static function verifyStandard(array $headers, string $body, string ...$secrets): bool
    {
        $given = self::names($headers);
        $timestamp = $given['webhook-timestamp'] ?? '';
        $signed = ($given['webhook-id'] ?? '') . '.' . $timestamp . '.' . $body;
        return self::check($timestamp, $given['webhook-signature'] ?? '', $secrets, static function (string $secret) use ($signed): ?string {
            $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
            return $key === false || $key === '' ? null : 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
        });
    }

    /** @param callable(string): ?string $sign */
    private static function check(string $timestamp, string $signatures, array $secrets, callable $sign): bool
    {
        if (!preg_match('/^[0-9]{1,12}$/D', $timestamp) || abs(time() - (int) $timestamp) > 300) {
            return false;
        }
        foreach ($secrets as $secret) {
            $expected = $sign($secret);
            foreach (explode(' ', $signatures) as $signature) {
                if ($secret !== '' && $expected !== null && hash_equals($expected, $signature)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The headers by their names in lower case; $_SERVER has X-Service-Event as HTTP_X_SERVICE_EVENT. */
    private static function names(array $headers): array
    {
        $names = [];
        foreach ($headers as $name => $value) {
            $names[strtolower(str_replace('_', '-', preg_replace('/^HTTP_/', '', (string) $name)))] = $value;
        }
        return $names;
    }
}

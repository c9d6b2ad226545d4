<?php

// Makes the calls that it reads with the PHP client, one JSON object on each line, and writes what
// came of each.

declare(strict_types=1);

require $argv[1];

use Despacho\{ApiException, Client, NoAnswerException, Signature};

// What frameworks do: every warning that is not silenced is an exception.
set_error_handler(static function (int $severity, string $message, string $file, int $line): bool {
    if (!(error_reporting() & $severity)) {
        return false;
    }
    throw new ErrorException($message, 0, $severity, $file, $line);
});

$calls = [
    'create_order' => static function (Client $c, array $w) {
        $created = $c->createOrder($w['key'], $w['order']);
        return ['order' => $created->order, 'warning' => $created->warning, 'replayed' => $created->replayed];
    },
    'create_order_for_nan' => static fn (Client $c) => $c->createOrder('venta-1', ['amount_to_collect' => NAN]),
    'get_order' => static fn (Client $c, array $w) => $c->getOrder($w['id']),
    'orders' => static fn (Client $c, array $w) => iterator_to_array($c->orders($w['filter'] ?? []), false),
    'correct_order' => static function (Client $c, array $w) {
        $corrected = $c->correctOrder($w['id'], $w['correction']);
        return ['order' => $corrected->order, 'message' => $corrected->message, 'warning' => $corrected->warning];
    },
    'decide' => static fn (Client $c, array $w) => $c->decide($w['id'], $w['decision']),
    'cancel_orders' => static function (Client $c, array $w) {
        $cancelled = [];
        foreach ($c->orders($w['filter']) as $order) {
            $cancelled[] = $c->cancelOrder($order['id']);
        }
        return $cancelled;
    },
    'cancel_order' => static fn (Client $c, array $w) => $c->cancelOrder($w['id'], $w['reason'] ?? null, $w['note'] ?? null),
    'advance_test_order' => static fn (Client $c, array $w) => $c->advanceTestOrder($w['id']),
    'track' => static fn (Client $c, array $w) => $c->track($w['guide_code']),
    'stores' => static fn (Client $c, array $w) => $c->stores(),
    'settlements' => static fn (Client $c, array $w) => iterator_to_array($c->settlements($w['filter'] ?? []), false),
    'get_settlement' => static fn (Client $c, array $w) => $c->getSettlement($w['id']),
    'balance' => static fn (Client $c, array $w) => $c->balance($w['store_id'] ?? null),
    'register_webhook' => static fn (Client $c, array $w) => $c->registerWebhook($w['webhook']['url'], $w['webhook']['events'], $w['webhook']['retry'] ?? false, $w['webhook']['store_id'] ?? null),
    'webhooks' => static fn (Client $c, array $w) => $c->webhooks(),
    'get_webhook' => static fn (Client $c, array $w) => $c->getWebhook($w['id']),
    'change_webhook' => static fn (Client $c, array $w) => $c->changeWebhook($w['id'], ...$w['change']),
    'webhook_health' => static fn (Client $c, array $w) => $c->webhookHealth($w['id']),
    'deactivate_webhook' => static fn (Client $c, array $w) => $c->deactivateWebhook($w['id']),
    'rotate_webhook_secret' => static fn (Client $c, array $w) => $c->rotateWebhookSecret($w['id'], $w['revoke']),
    'test_webhook' => static fn (Client $c, array $w) => $c->testWebhook($w['id']),
    'redeliver_failed' => static fn (Client $c, array $w) => $c->redeliverFailed($w['id'], $w['from'], $w['to']),
    'redeliver_all' => static fn (Client $c, array $w) => $c->redeliverAll($w['id'], $w['from'], $w['to'] ?? null),
    'deliveries' => static fn (Client $c, array $w) => iterator_to_array($c->deliveries($w['filter'] ?? []), false),
    'get_delivery' => static fn (Client $c, array $w) => $c->getDelivery($w['id']),
    'redeliver' => static fn (Client $c, array $w) => $c->redeliver($w['id']),
    'events' => static fn (Client $c, array $w) => $c->events($w['after'] ?? null, $w['wait'] ?? 10, names: $w['names'] ?? []),
    'cities' => static fn (Client $c, array $w) => $c->cities($w['country_code']),
    'location_tree' => static fn (Client $c, array $w) => $c->locationTree($w['country_code'], $w['city']),
    'location_children' => static fn (Client $c, array $w) => $c->locationChildren($w['id']),
    'lookup_ubigeo' => static fn (Client $c, array $w) => $c->lookupUbigeo($w['country_code'], $w['codes']),
    'search_locations' => static fn (Client $c, array $w) => $c->searchLocations($w['country_code'], $w['text']),
    'verify' => static fn (Client $c, array $w) => $w['scheme'] === 'standard'
        ? Signature::verifyStandard($w['headers'], $w['body'], ...$w['secrets'])
        : Signature::verify($w['headers'], $w['body'], ...$w['secrets']),
];

while (($line = fgets(STDIN)) !== false) {
    $request = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    $waits = [];
    $sleep = static function (float $seconds) use (&$waits): void {
        $waits[] = $seconds;
    };
    $outcome = [];
    try {
        $client = new Client(
            $request['base_url'],
            $request['key'],
            timeout: $request['timeout'],
            attempts: $request['options']['attempts'] ?? 6,
            maxWait: $request['options']['max_wait'] ?? 120,
            sleep: $sleep,
        );
        $outcome['result'] = $calls[$request['call']]($client, $request['with']);
    } catch (ApiException $e) {
        $outcome['error'] = ['status' => $e->status, 'code' => $e->errorCode, 'message' => $e->getMessage(), 'fields' => $e->fields];
    } catch (NoAnswerException) {
        $outcome['no_answer'] = true;
    } catch (Throwable $e) {
        $outcome['other'] = (string) $e;
    }
    echo json_encode([...$outcome, 'waits' => $waits], JSON_THROW_ON_ERROR), "\n";
}

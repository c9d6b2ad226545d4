"""Makes the calls that it reads with the Python client, one JSON object on each line, and writes what came of each."""

import json
import sys

sys.path.insert(0, sys.argv[1])
import despacho

CALLS = {
    "create_order": lambda c, w: created(c.create_order(w["key"], w["order"])),
    "create_order_for_nan": lambda c, w: c.create_order("venta-1", {"amount_to_collect": float("nan")}),
    "get_order": lambda c, w: c.get_order(w["id"]),
    "orders": lambda c, w: list(c.orders(**w.get("filter", {}))),
    "correct_order": lambda c, w: corrected(c.correct_order(w["id"], w["correction"])),
    "decide": lambda c, w: c.decide(w["id"], w["decision"]),
    "cancel_orders": lambda c, w: [c.cancel_order(o["id"]) for o in c.orders(**w["filter"])],
    "cancel_order": lambda c, w: c.cancel_order(w["id"], reason=w.get("reason"), note=w.get("note")),
    "advance_test_order": lambda c, w: c.advance_test_order(w["id"]),
    "track": lambda c, w: c.track(w["guide_code"]),
    "stores": lambda c, w: c.stores(),
    "settlements": lambda c, w: list(c.settlements(**w.get("filter", {}))),
    "get_settlement": lambda c, w: c.get_settlement(w["id"]),
    "balance": lambda c, w: c.balance(store_id=w.get("store_id")),
    "register_webhook": lambda c, w: c.register_webhook(**w["webhook"]),
    "webhooks": lambda c, w: c.webhooks(),
    "get_webhook": lambda c, w: c.get_webhook(w["id"]),
    "change_webhook": lambda c, w: c.change_webhook(w["id"], **w["change"]),
    "webhook_health": lambda c, w: c.webhook_health(w["id"]),
    "deactivate_webhook": lambda c, w: c.deactivate_webhook(w["id"]),
    "rotate_webhook_secret": lambda c, w: c.rotate_webhook_secret(w["id"], revoke=w["revoke"]),
    "test_webhook": lambda c, w: c.test_webhook(w["id"]),
    "redeliver_failed": lambda c, w: c.redeliver_failed(w["id"], w["from"], w["to"]),
    "redeliver_all": lambda c, w: c.redeliver_all(w["id"], w["from"], w.get("to")),
    "deliveries": lambda c, w: list(c.deliveries(**w.get("filter", {}))),
    "get_delivery": lambda c, w: c.get_delivery(w["id"]),
    "redeliver": lambda c, w: c.redeliver(w["id"]),
    "events": lambda c, w: c.events(w.get("after"), **{name: w[name] for name in ("wait", "names") if name in w}),
    "cities": lambda c, w: c.cities(w["country_code"]),
    "location_tree": lambda c, w: c.location_tree(w["country_code"], w["city"]),
    "location_children": lambda c, w: c.location_children(w["id"]),
    "lookup_ubigeo": lambda c, w: c.lookup_ubigeo(w["country_code"], w["codes"]),
    "search_locations": lambda c, w: c.search_locations(w["country_code"], w["text"]),
    "verify": lambda c, w: (despacho.verify_standard if w["scheme"] == "standard" else despacho.verify)(
        w["headers"], w["body"].encode(), *w["secrets"]
    ),
}


def created(order):
    return {"warning": order.pop("warning"), "replayed": order.pop("replayed"), "order": order}


def corrected(order):
    return {"message": order.pop("message"), "warning": order.pop("warning"), "order": order}


for line in sys.stdin:
    request, waits = json.loads(line), []
    outcome = {}
    try:
        client = despacho.Client(request["base_url"], request["key"], timeout=request["timeout"], sleep=waits.append, **request["options"])
        outcome["result"] = CALLS[request["call"]](client, request["with"])
    except despacho.APIError as e:
        outcome["error"] = {"status": e.status, "code": e.code, "message": e.message, "fields": e.fields}
    except despacho.NoAnswerError:
        outcome["no_answer"] = True
    except Exception as e:
        outcome["other"] = repr(e)
    print(json.dumps({**outcome, "waits": waits}), flush=True)

package browser

import "time"

// day is what the service shows a rider.
func (s *street) day(rider string) map[string]any {
	orders, ways := []map[string]any{}, map[string]float64{}
	inHand, delivered, failed, expected, confirmed := 0, 0, 0, 0, 0
	for _, order := range s.orders {
		if order.Rider != rider || order.Cancelled {
			continue
		}
		expected++
		if order.Loaded {
			confirmed++
		}
		if order.Status == "delivered" {
			delivered++
		} else {
			inHand++
		}
		if order.Reason != "" {
			failed++
		}
		orders = append(orders, order.view())
	}
	for _, act := range s.acts {
		for _, list := range act.Collections {
			for _, part := range list {
				ways[part["method"].(string)] += part["amount"].(float64)
			}
		}
	}
	total, by := 0.0, []map[string]any{}
	for _, method := range s.rules["methods"].([]map[string]any) {
		if amount := ways[method["code"].(string)]; amount > 0 {
			total += amount
			by = append(by, map[string]any{"method": method["code"], "label": method["label"], "amount": amount})
		}
	}
	load := map[string]any{"expected": expected, "confirmed": confirmed, "confirmed_at": nil}
	if !s.loaded.IsZero() {
		load["confirmed_at"] = s.loaded
	}
	return map[string]any{"now": time.Now().UTC(), "rules": s.rules, "orders": orders, "load": load, "hand_ins": s.handIns, "totals": map[string]any{
		"in_hand": inHand, "delivered": delivered, "failed": failed, "to_hand_in": total, "to_hand_in_by": by,
	}}
}

func (o *riderOrder) view() map[string]any {
	view := map[string]any{
		"id": o.ID, "guide_code": o.Guide, "status": o.Status, "substatus": nil, "recipient_name": o.Name, "recipient_phone": o.Phone,
		"delivery_address": o.Address, "delivery_reference": o.Reference, "notes": o.Notes, "district": o.District,
		"lat": o.Lat, "lng": o.Lng, "maps_url": nil, "product": "Zapatillas", "size": "M", "store_name": "Calzados Andina", "amount_to_collect": o.Amount,
		"payment_type": "cash_on_delivery", "tracking_url": "https://despacho.example/track/" + o.Guide, "loaded": o.Loaded,
		"returning": o.Returning, "needs_pin": o.PIN != "", "attempts": []any{}, "next_attempt_on": nil, "done": nil,
	}
	switch {
	case o.Status == "delivered":
		view["done"] = map[string]any{"type": "delivered", "at": o.At, "collected": o.Collected}
	case o.Reason != "":
		view["substatus"] = "attempt_failed"
		view["done"] = map[string]any{"type": "attempt_failed", "at": o.At, "collected": nil}
		view["attempts"] = []map[string]any{{"number": 1, "reason": o.Reason, "label": "Ausente", "note": nil, "occurred_at": o.At}}
	}
	return view
}

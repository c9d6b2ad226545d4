package cluster

import (
	"encoding/json"
	"maps"

	"despacho/internal/catalog"
)

// The destination of orders, and the location that operators cover.
var (
	Miraflores = catalog.DistrictID("PE", "150122")
	Lima       = catalog.CityID("PE", "1501")
)

// NewOrder is the body of a creation, with these members instead of or beside the usual ones.
func NewOrder(members map[string]any) []byte {
	order := map[string]any{
		"recipient_name": "Rosa Díaz", "recipient_phone": "987 654 321", "delivery_address": "Av. Larco 345",
		"location_id": Miraflores, "product": "Zapatillas",
	}
	maps.Copy(order, members)
	body, err := json.Marshal(order)
	if err != nil {
		panic(err) // it has only strings and numbers
	}
	return body
}

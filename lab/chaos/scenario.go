package chaos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"despacho/catalog"
	"despacho/models"
)

// scenario is the sequence of moves that a client makes with an order.
type scenario struct {
	name   string
	weight int
	steps  []models.Move
	// by is the actor of a cancel.
	by models.Actor
	// late waits until the timer has cancelled the order before the first move.
	late bool
}

// scenarios are chosen by weight.
var scenarios = []scenario{
	{name: "delivered", weight: 40, steps: []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}},
	{name: "delivered by another rider", weight: 12, steps: []models.Move{models.MoveReceive, models.MoveAssign, models.MoveAssign, models.MoveDeliver}},
	{name: "cancelled by the store", weight: 12, steps: []models.Move{models.MoveCancel}, by: models.ByStore},
	{name: "cancelled once received", weight: 8, steps: []models.Move{models.MoveReceive, models.MoveCancel}, by: models.ByOperator},
	{name: "cancelled on its way", weight: 6, steps: []models.Move{models.MoveReceive, models.MoveAssign, models.MoveCancel}, by: models.ByOperator},
	{name: "left with a rider", weight: 6, steps: []models.Move{models.MoveReceive, models.MoveAssign}},
	{name: "forgotten", weight: 8},
	{name: "received too late", weight: 8, late: true, steps: []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}},
}

func chooseScenario(rng *rand.Rand) scenario {
	total := 0
	for _, l := range scenarios {
		total += l.weight
	}
	n := rng.IntN(total)
	for _, l := range scenarios {
		if n -= l.weight; n < 0 {
			return l
		}
	}
	panic("the weights have been counted")
}

// The destination of orders, and the location that is covered.
var (
	miraflores = catalog.DistrictID("PE", "150122")
	lima       = catalog.CityID("PE", "1501")
)

// newOrder is the body of a creation. Its delivery_reference is the Idempotency-Key, so that the
// orders made with a key can be counted in the database.
func newOrder(rng *rand.Rand, key string) (body []byte, cash bool) {
	order := map[string]any{
		"recipient_name": "Rosa Díaz", "recipient_phone": "987 654 321", "location_id": miraflores, "product": "Zapatillas",
		"delivery_address": fmt.Sprintf("Av. Larco %d", 100+rng.IntN(900)), "delivery_reference": key,
	}
	if cash = rng.IntN(3) == 0; cash {
		order["amount_to_collect"] = float64(rng.IntN(50_000)+100) / 100
	}
	body, err := json.Marshal(order)
	if err != nil {
		panic(err) // it holds only strings and numbers
	}
	return body, cash
}

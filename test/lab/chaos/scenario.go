package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"despacho/models"
	"despacho/test/lab/cluster"
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
	// hurried makes the moves without a pause.
	hurried bool
}

// manyMoves is an order that is given to another rider again and again, more often than Temporal
// takes updates for one run.
func manyMoves(count int) scenario {
	steps := []models.Move{models.MoveReceive}
	for range count {
		steps = append(steps, models.MoveAssign)
	}
	return scenario{name: "thousands of moves", steps: append(steps, models.MoveDeliver), hurried: true}
}

const leftWithARider = "left with a rider"

// scenarios are chosen by weight.
var scenarios = []scenario{
	{name: "delivered", weight: 40, steps: []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}},
	{name: "delivered by another rider", weight: 12, steps: []models.Move{models.MoveReceive, models.MoveAssign, models.MoveAssign, models.MoveDeliver}},
	{name: "cancelled by the store", weight: 12, steps: []models.Move{models.MoveCancel}, by: models.ByStore},
	{name: "cancelled once received", weight: 8, steps: []models.Move{models.MoveReceive, models.MoveCancel}, by: models.ByOperator},
	{name: "cancelled on its way", weight: 6, steps: []models.Move{models.MoveReceive, models.MoveAssign, models.MoveCancel}, by: models.ByOperator},
	{name: leftWithARider, weight: 6, steps: []models.Move{models.MoveReceive, models.MoveAssign}},
	{name: "forgotten", weight: 8},
	{name: "received too late", weight: 8, late: true, steps: []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}},
}

// scenariosThatEnd leave no open order, of which a worker keeps the workflow in memory.
func scenariosThatEnd() []scenario {
	return slices.DeleteFunc(slices.Clone(scenarios), func(l scenario) bool { return l.name == leftWithARider })
}

func chooseScenario(rng *rand.Rand, scenarios []scenario) scenario {
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

// newOrder is the body of a creation. Its delivery_reference is the Idempotency-Key, so that the
// orders made with a key can be counted in the database.
func newOrder(rng *rand.Rand, key string) (body []byte, cash bool) {
	members := map[string]any{"delivery_address": fmt.Sprintf("Av. Larco %d", 100+rng.IntN(900)), "delivery_reference": key}
	if cash = rng.IntN(3) == 0; cash {
		members["amount_to_collect"] = float64(rng.IntN(50_000)+100) / 100
	}
	return cluster.NewOrder(members), cash
}

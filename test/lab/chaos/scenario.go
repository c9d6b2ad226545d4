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
	steps  []step
	// late waits until the timer has cancelled the order before the first move.
	late bool
	// hurried makes the moves without a pause.
	hurried bool
	// open leaves the order open.
	open bool
}

// step is a move of a scenario and who makes it, if not the operator's staff. The timer's decision
// is waited for, while the package is brought back.
type step struct {
	move models.Move
	by   models.Actor
	// reordered is what the rider does after move and the phone sends beside it.
	reordered models.Move
}

func by(actor models.Actor, move models.Move) step { return step{move: move, by: actor} }

// staff are moves of the operator's staff.
func staff(moves ...models.Move) (steps []step) {
	for _, move := range moves {
		steps = append(steps, step{move: move, by: models.ByOperator})
	}
	return steps
}

// manyMoves is an order that is given to another rider again and again, more often than Temporal
// takes updates for one run.
func manyMoves(count int) scenario {
	moves := []models.Move{models.MoveReceive}
	for range count {
		moves = append(moves, models.MoveAssign)
	}
	return scenario{name: "thousands of moves", steps: staff(append(moves, models.MoveDeliver)...), hurried: true}
}

// The beginnings of scenarios: until a rider has the package, until it is delivered, until the
// first attempt has failed.
var (
	toTheDoor = staff(models.MoveReceive, models.MoveAssign)
	delivered = staff(models.MoveReceive, models.MoveAssign, models.MoveDeliver)
	failed    = append(slices.Clone(toTheDoor), staff(models.MoveFail)...)
)

// after is a sequence of moves that begins with another.
func after(first []step, then ...step) []step { return append(slices.Clone(first), then...) }

// scenarios are chosen by weight.
var scenarios = []scenario{
	{name: "delivered", weight: 30, steps: delivered},
	{name: "delivered by another rider", weight: 8, steps: after(toTheDoor, staff(models.MoveAssign, models.MoveDeliver)...)},
	{name: "cancelled by the store", weight: 8, steps: []step{by(models.ByStore, models.MoveCancel)}},
	{name: "cancelled once received", weight: 6, steps: staff(models.MoveReceive, models.MoveCancel)},
	{name: "cancelled on its way", weight: 4, steps: after(toTheDoor, staff(models.MoveCancel)...)},
	{name: "left with a rider", weight: 4, open: true, steps: toTheDoor},
	{name: "forgotten", weight: 6},
	{name: "received too late", weight: 6, late: true, steps: delivered},

	{name: "delivered by the rider", weight: 12, steps: after(toTheDoor, by(models.ByRider, models.MoveDeliver))},
	{name: "failed, then delivered by the rider", weight: 5, steps: after(toTheDoor, by(models.ByRider, models.MoveFail),
		by(models.ByRider, models.MoveFail), by(models.ByRider, models.MoveDeliver))},
	{name: "failed and delivered by the rider, in any order", weight: 6, steps: after(toTheDoor,
		step{move: models.MoveFail, by: models.ByRider, reordered: models.MoveDeliver})},
	{name: "delivered by a rider who has it no more", weight: 4, open: true, steps: after(toTheDoor, staff(models.MoveReceive)[0],
		by(models.ByRider, models.MoveDeliver))},
	{name: "delivered by the rider after it was cancelled", weight: 4, steps: after(toTheDoor, staff(models.MoveCancel)[0],
		by(models.ByRider, models.MoveDeliver))},
	{name: "delivered by the rider by mistake", weight: 4, open: true, steps: after(toTheDoor, by(models.ByRider, models.MoveDeliver),
		staff(models.MoveUndo)[0], by(models.ByRider, models.MoveFail), step{move: models.MoveReceive})},
	{name: "failed, then delivered on the same trip", weight: 4, steps: after(failed, staff(models.MoveFail, models.MoveDeliver)...)},
	{name: "failed, and the store wants another attempt", weight: 5, steps: after(failed, by(models.ByStore, models.MoveRetry),
		step{move: models.MoveReceive}, step{move: models.MoveAssign}, step{move: models.MoveDeliver})},
	{name: "failed, and nobody decides", weight: 5, steps: after(failed, by(models.ByAuto, models.MoveRetry),
		step{move: models.MoveAssign}, step{move: models.MoveDeliver})},
	{name: "left undecided", weight: 3, open: true, steps: after(failed, staff(models.MoveReceive)...)},
	{name: "returned by the store's decision", weight: 5, steps: after(failed, step{move: models.MoveReceive},
		by(models.ByStore, models.MoveReturn), step{move: models.MoveHandBack})},
	{name: "returned after second thoughts", weight: 3, steps: after(failed, staff(models.MoveRetry, models.MoveReturn,
		models.MoveRetry, models.MoveReturn, models.MoveReceive, models.MoveHandBack)...)},
	{name: "brought back without an attempt", weight: 3, steps: after(toTheDoor, staff(models.MoveReceive, models.MoveAssign,
		models.MoveDeliver)...)},
	{name: "received by mistake", weight: 3, steps: staff(models.MoveReceive, models.MoveUndo, models.MoveReceive,
		models.MoveAssign, models.MoveDeliver)},
	{name: "assigned by mistake", weight: 3, steps: after(toTheDoor, staff(models.MoveUndo, models.MoveAssign, models.MoveDeliver)...)},
	{name: "failed by mistake", weight: 3, steps: after(failed, staff(models.MoveUndo, models.MoveDeliver)...)},
	{name: "delivered by mistake", weight: 5, steps: after(delivered, staff(models.MoveUndo, models.MoveDeliver)...)},
	{name: "delivered by mistake, then failed", weight: 3, steps: after(delivered, staff(models.MoveUndo, models.MoveFail,
		models.MoveReturn, models.MoveReceive, models.MoveHandBack)...)},
}

// scenariosThatEnd leave no open order, of which a worker keeps the workflow in memory.
func scenariosThatEnd() []scenario {
	return slices.DeleteFunc(slices.Clone(scenarios), func(l scenario) bool { return l.open })
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

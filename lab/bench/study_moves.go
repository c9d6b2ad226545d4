package bench

import (
	"context"
	"time"

	"despacho/workflows"
)

var moveComparisons = []comparison{
	{name: "move by update (assign), unloaded p50 against a bare update with one local activity", unit: "ms", goal: ratioAtMost(2), result: "assign", baseline: "bare"},
	{name: "of that move, the update alone against the bare one", unit: "ms", result: "update", baseline: "bare"},
}

func moveRows(scale) []string { return namesOf(moveComparisons) }

// studyMoves times one move at a time: through the panel's API, the way people make it; its update
// alone; and an update of a workflow that does nothing. Each is the second update of its workflow,
// so that both workers know it.
func studyMoves(ctx context.Context, s *stack) ([]Row, error) {
	people := s.main.staffOf(theOne)
	defer people.Close()
	one := func(call func(context.Context) (time.Duration, error)) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) { return typical(ctx, s.scale.samples, call) }
	}
	return s.contest(ctx, map[string]func(context.Context) (float64, error){
		"assign": one(func(ctx context.Context) (time.Duration, error) {
			order, err := people.received(ctx)
			if err != nil {
				return 0, err
			}
			return timed(func(ctx context.Context) error { return people.assign(ctx, order) })(ctx)
		}),
		"update": one(func(ctx context.Context) (time.Duration, error) {
			order, err := people.received(ctx)
			if err != nil {
				return 0, err
			}
			message := workflows.Assigned{RiderID: id("rider", theOne)}
			return timed(func(ctx context.Context) error {
				return s.update(ctx, workflowOf(order), workflows.AssignedName, message)
			})(ctx)
		}),
		"bare": one(func(ctx context.Context) (time.Duration, error) {
			workflowID, err := s.startBare(ctx)
			if err != nil {
				return 0, err
			}
			touch := func(ctx context.Context) error { return s.update(ctx, workflowID, bareUpdate) }
			if err := touch(ctx); err != nil {
				return 0, err
			}
			return timed(touch)(ctx)
		}),
	}, moveComparisons)
}

package bench

import (
	"context"
	"time"

	"despacho/models"
	"despacho/workflows"
)

var moveComparisons = []comparison{
	{name: "move by update (assign), unloaded p50 against a bare update with one local activity", unit: "ms", goal: ratioAtMost(1.35), result: "assign", baseline: "bare"},
	{name: "of that move, the update alone against the bare one", unit: "ms", result: "update", baseline: "bare"},
}

func moveRows(scale) []string { return namesOf(moveComparisons) }

// studyMoves measures the latency of one move at a time: through the panel API, as a workflow
// update, and as an update of a bare workflow. Each is the second update of its workflow, so that
// the worker has it cached.
func studyMoves(ctx context.Context, s *stack) ([]Row, error) {
	caller := s.main.operatorClient(mainOperator)
	defer caller.Close()
	one := func(call func(context.Context) (time.Duration, error)) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) { return medianLatency(ctx, s.scale.samples, call) }
	}
	return s.measureComparisons(ctx, map[string]func(context.Context) (float64, error){
		"assign": one(func(ctx context.Context) (time.Duration, error) {
			order, err := caller.received(ctx)
			if err != nil {
				return 0, err
			}
			return timed(func(ctx context.Context) error { return caller.assign(ctx, order) })(ctx)
		}),
		"update": one(func(ctx context.Context) (time.Duration, error) {
			order, err := caller.received(ctx)
			if err != nil {
				return 0, err
			}
			rider := id("rider", mainOperator)
			message := models.Message{RiderID: &rider}
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

package chaos

import (
	"context"
	"encoding/json"
	"net/http"

	"despacho/test/lab/cluster"
	"despacho/workflows"
)

// poisonBodies are deliveries that no order may take: a time that is in the year 10000 in UTC, a
// point that does not exist, an amount and a way of payment that nobody has.
var poisonBodies = []string{
	`{"captured_at":"9999-12-31T23:59:59-12:00"}`,
	`{"captured_at":"0001-01-01T00:00:00Z"}`,
	`{"lat":91,"lng":0}`,
	`{"actual_amount_collected":1e30}`,
	`{"collections":[{"method":"barter","amount":1}]}`,
}

// poisonSignals are the same as they can be sent with the Temporal CLI.
var poisonSignals = map[string]string{
	workflows.CancelName:        `{"reason":"a\u0000b"}`,
	workflows.DeliveredName:     `{"captured_at":"9999-12-31T23:59:59-12:00"}`,
	workflows.AttemptFailedName: `{"reason":"raining"}`,
	workflows.RetryPlannedName:  `{"on":"soon"}`,
	workflows.UndoneName:        `{"reason":""}`,
}

// sendPoison sends invalid data to an order. It must be refused; that the order goes on is shown by
// its next move.
func (c *client) sendPoison(ctx context.Context, tracked *trackedOrder) {
	body := poisonBodies[c.rng.IntN(len(poisonBodies))]
	answer, err := c.call(ctx, cluster.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + tracked.id + "/deliver", Token: c.s.operator.token,
		Body: []byte(body),
	})
	if err == nil && answer.Status < http.StatusInternalServerError && answer.Status != http.StatusTooManyRequests {
		c.s.report.checked(invariantPoison, 1)
		if answer.Status != http.StatusBadRequest {
			c.s.report.violate(invariantPoison, tracked.id, "%s was answered %d: %.300s", body, answer.Status, answer.Body)
		}
	}
	for name, content := range poisonSignals {
		// Temporal may be down, or the workflow not started yet.
		if c.s.Client.SignalWorkflow(ctx, workflows.OrderWorkflowPrefix+tracked.id, "", name, json.RawMessage(content)) == nil {
			tracked.note("poison: signal %s", name)
			c.s.report.count("poison signals")
		}
	}
}

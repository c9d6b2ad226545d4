package cluster

import (
	"context"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
)

// History reads a run's events; an empty runID is the latest run. With an error it has the events
// read so far.
func History(ctx context.Context, c client.Client, workflowID, runID string) (*history.History, error) {
	var all history.History
	for events := c.GetWorkflowHistory(ctx, workflowID, runID, false,
		enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			return &all, err
		}
		all.Events = append(all.Events, event)
	}
	return &all, nil
}

// Package lifecost counts what an order's workflow costs from its recorded history.
package lifecost

import (
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
)

// Cost is the events and billable actions of a run.
type Cost struct{ Events, Actions int }

// Of counts a run's events and its billable actions: a start, a timer, a signal, an update, an
// activity attempt, a search-attribute upsert, a side effect; all local activities of one workflow
// task count one together.
func Of(h *history.History) Cost {
	c := Cost{Events: len(h.Events)}
	tasksWithLocalActivities := map[int64]bool{}
	for _, event := range h.Events {
		switch event.EventType {
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enums.EVENT_TYPE_TIMER_STARTED,
			enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
			enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			c.Actions++
		case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			c.Actions += int(event.GetActivityTaskStartedEventAttributes().Attempt)
		case enums.EVENT_TYPE_MARKER_RECORDED:
			marker := event.GetMarkerRecordedEventAttributes()
			if marker.MarkerName == "LocalActivity" {
				tasksWithLocalActivities[marker.WorkflowTaskCompletedEventId] = true
			} else {
				c.Actions++
			}
		}
	}
	c.Actions += len(tasksWithLocalActivities)
	return c
}

// scheduleActions are the actions of a schedule itself for each run that it starts.
const scheduleActions = 2

// ADay is the number of actions a day of a schedule whose every run costs c.
func (c Cost) ADay(every time.Duration) int {
	return (c.Actions + scheduleActions) * int(24*time.Hour/every)
}

// Disturbed reports whether a workflow task timed out or failed, as on a busy machine, which adds
// events.
func Disturbed(h *history.History) bool {
	return slices.ContainsFunc(h.Events, func(event *history.HistoryEvent) bool {
		return event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT ||
			event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_FAILED
	})
}

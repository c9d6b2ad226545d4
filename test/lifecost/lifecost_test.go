package lifecost_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"

	"despacho/test/lifecost"
)

func event(kind enums.EventType) *history.HistoryEvent { return &history.HistoryEvent{EventType: kind} }

func marker(name string, task int64) *history.HistoryEvent {
	return &history.HistoryEvent{
		EventType: enums.EVENT_TYPE_MARKER_RECORDED,
		Attributes: &history.HistoryEvent_MarkerRecordedEventAttributes{MarkerRecordedEventAttributes: &history.MarkerRecordedEventAttributes{
			MarkerName: name, WorkflowTaskCompletedEventId: task,
		}},
	}
}

func attempts(count int32) *history.HistoryEvent {
	return &history.HistoryEvent{
		EventType: enums.EVENT_TYPE_ACTIVITY_TASK_STARTED,
		Attributes: &history.HistoryEvent_ActivityTaskStartedEventAttributes{ActivityTaskStartedEventAttributes: &history.ActivityTaskStartedEventAttributes{
			Attempt: count,
		}},
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []*history.HistoryEvent
		want   lifecost.Cost
	}{
		"nothing":                       {nil, lifecost.Cost{}},
		"workflow tasks cost no action": {[]*history.HistoryEvent{event(enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED), event(enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)}, lifecost.Cost{Events: 2}},
		"a start, a timer, a signal, an update": {[]*history.HistoryEvent{
			event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED), event(enums.EVENT_TYPE_TIMER_STARTED), event(enums.EVENT_TYPE_TIMER_CANCELED),
			event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED), event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED), event(enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED),
		}, lifecost.Cost{Events: 6, Actions: 4}},
		"every attempt of an activity":              {[]*history.HistoryEvent{attempts(1), attempts(3)}, lifecost.Cost{Events: 2, Actions: 4}},
		"local activities of one task count one":    {[]*history.HistoryEvent{marker("LocalActivity", 4), marker("LocalActivity", 4), marker("LocalActivity", 9)}, lifecost.Cost{Events: 3, Actions: 2}},
		"a side effect is no local activity's part": {[]*history.HistoryEvent{marker("SideEffect", 4), marker("LocalActivity", 4)}, lifecost.Cost{Events: 2, Actions: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, lifecost.Of(&history.History{Events: c.events}))
		})
	}
}

func TestDisturbed(t *testing.T) {
	t.Parallel()
	calm := &history.History{Events: []*history.HistoryEvent{event(enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)}}
	require.False(t, lifecost.Disturbed(calm))
	calm.Events = append(calm.Events, event(enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT))
	require.True(t, lifecost.Disturbed(calm))
}

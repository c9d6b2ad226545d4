package telemetry_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/telemetry"
)

func TestBacklog_isExported(t *testing.T) {
	t.Parallel()
	webhook, operator := uuid.New(), uuid.New()
	metrics := telemetry.NewMetrics()
	metrics.WatchBacklog(clock.System(), func(context.Context) (telemetry.Backlog, error) {
		return telemetry.Backlog{
			OrdersWithoutWorkflow: 3, OldestOrder: 90 * time.Second, DeliveriesPending: 7, Overdue: time.Minute,
			Pending: []telemetry.PendingWebhook{{ID: webhook, OperatorID: operator, Deliveries: 5}},
			Failing: []telemetry.FailingWebhook{{ID: webhook, OperatorID: operator, For: time.Hour}},
		}, nil
	})
	shown := scrape(t, metrics)
	labels := `{operator="` + operator.String() + `",webhook="` + webhook.String() + `"}`
	for _, line := range []string{
		"orders_without_workflow 3", "orders_without_workflow_oldest_seconds 90",
		"webhook_deliveries_pending 7", "webhook_deliveries_overdue_seconds 60",
		"webhook_pending" + labels + " 5", "webhook_failing_seconds" + labels + " 3600",
	} {
		require.Contains(t, shown, line+"\n")
	}
}

// The database is read once for all scrapes of a quarter of a minute, whether that succeeds or
// fails.
func TestBacklog_isReadSeldom(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, time.March, 10, 15, 0, 0, 0, time.UTC))
	reads := 0
	var failure error
	metrics := telemetry.NewMetrics()
	metrics.WatchBacklog(now, func(context.Context) (telemetry.Backlog, error) {
		reads++
		return telemetry.Backlog{OrdersWithoutWorkflow: reads}, failure
	})
	page := func() string {
		answer := httptest.NewRecorder()
		metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		require.Equal(t, http.StatusOK, answer.Code)
		return answer.Body.String()
	}
	require.Contains(t, page(), "orders_without_workflow 1\n")
	now.Advance(14 * time.Second)
	require.Contains(t, page(), "orders_without_workflow 1\n")
	now.Advance(time.Second)
	require.Contains(t, page(), "orders_without_workflow 2\n")
	now.Advance(-time.Hour)
	require.Contains(t, page(), "orders_without_workflow 3\n", "a clock that was set back")

	failure = errors.New("no database")
	now.Advance(time.Minute)
	for range 3 {
		shown := page()
		require.NotContains(t, shown, "\norders_without_workflow")
		require.Contains(t, shown, "go_goroutines ")
	}
	require.Equal(t, 4, reads)
	require.Contains(t, page(), `promhttp_metric_handler_errors_total{cause="gathering"} 3`)
}

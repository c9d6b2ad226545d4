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

	"despacho/internal/telemetry"
)

func TestBacklog_isExported(t *testing.T) {
	t.Parallel()
	webhook, operator := uuid.New(), uuid.New()
	metrics := telemetry.NewMetrics()
	metrics.WatchBacklog(func(context.Context) (telemetry.Backlog, error) {
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

// A database that cannot be read costs only its own metrics.
func TestBacklog_notRead(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	metrics.WatchBacklog(func(context.Context) (telemetry.Backlog, error) {
		return telemetry.Backlog{}, errors.New("no database")
	})
	page := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.NotContains(t, page.Body.String(), "\norders_without_workflow")
	require.Contains(t, page.Body.String(), "go_goroutines ")
}

package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
)

// backlogTimeout is below the timeout of a scrape, so that a database that hangs costs only these
// metrics.
const backlogTimeout = 3 * time.Second

// Backlog is what waits in the database, for all processes together.
type Backlog struct {
	// OrdersWithoutWorkflow are the orders whose workflow start or latest move is unconfirmed.
	OrdersWithoutWorkflow int
	// OldestOrder is how long the first of them has waited.
	OldestOrder time.Duration
	// DeliveriesPending are the webhook deliveries that are neither delivered nor failed.
	DeliveriesPending int
	// Overdue is how long the first delivery to a webhook that does not fail has been due.
	Overdue time.Duration
	// Pending are the webhooks with most pending deliveries.
	Pending []PendingWebhook
	// Failing are the active webhooks whose latest attempts failed, the one that fails for longest
	// first.
	Failing []FailingWebhook
}

// PendingWebhook is a webhook with pending deliveries.
type PendingWebhook struct {
	ID, OperatorID uuid.UUID
	Deliveries     int
}

// FailingWebhook is a webhook that has had no success since its first failure.
type FailingWebhook struct {
	ID, OperatorID uuid.UUID
	For            time.Duration
}

// Every process exports the same figures: max() over them is the figure of the installation.
var (
	ordersWithoutWorkflow = prometheus.NewDesc("orders_without_workflow",
		"Orders in the database whose workflow start or latest move is unconfirmed, at most 10,000.", nil, nil)
	ordersWithoutWorkflowOldest = prometheus.NewDesc("orders_without_workflow_oldest_seconds",
		"How long the first of them has waited.", nil, nil)
	deliveriesPending = prometheus.NewDesc("webhook_deliveries_pending",
		"Webhook deliveries in the database that are neither delivered nor failed, at most 10,000.", nil, nil)
	deliveriesOverdue = prometheus.NewDesc("webhook_deliveries_overdue_seconds",
		"How long the first delivery to a webhook that does not fail has been due.", nil, nil)
	webhookPending = prometheus.NewDesc("webhook_pending",
		"Pending deliveries of one webhook; the twenty webhooks with most.", []string{"webhook", "operator"}, nil)
	webhookFailing = prometheus.NewDesc("webhook_failing_seconds",
		"How long a webhook has failed without a success; the hundred that fail for longest.", []string{"webhook", "operator"},
		nil)
)

// WatchBacklog exports what waits in the database, which is read with every scrape.
func (m *Metrics) WatchBacklog(read func(context.Context) (Backlog, error)) {
	m.registry.MustRegister(backlogCollector(read))
}

type backlogCollector func(context.Context) (Backlog, error)

// Describe sends the descriptions of all metrics.
func (b backlogCollector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{
		ordersWithoutWorkflow, ordersWithoutWorkflowOldest, deliveriesPending, deliveriesOverdue, webhookPending, webhookFailing,
	} {
		descriptions <- description
	}
}

// Collect sends the metrics of a reading.
func (b backlogCollector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	latest, err := b(ctx)
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(ordersWithoutWorkflow, fmt.Errorf("backlog not read: %w", err))
		return
	}
	gauge := func(description *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, value, labels...)
	}
	gauge(ordersWithoutWorkflow, float64(latest.OrdersWithoutWorkflow))
	gauge(ordersWithoutWorkflowOldest, latest.OldestOrder.Seconds())
	gauge(deliveriesPending, float64(latest.DeliveriesPending))
	gauge(deliveriesOverdue, latest.Overdue.Seconds())
	for _, webhook := range latest.Pending {
		gauge(webhookPending, float64(webhook.Deliveries), webhook.ID.String(), webhook.OperatorID.String())
	}
	for _, webhook := range latest.Failing {
		gauge(webhookFailing, webhook.For.Seconds(), webhook.ID.String(), webhook.OperatorID.String())
	}
}

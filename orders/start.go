package orders

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/db"
	"despacho/internal/clock"
	"despacho/models"
	"despacho/webhooks"
	"despacho/workflows"
)

var errStartTimeout = errors.New("no answer from Temporal in time")

// start starts an order's workflow. It never fails the creation: what it cannot start, the
// reconcile workflow will.
func (s *Service) start(ctx context.Context, order *models.Order, storeName string, snapshot *workflows.Snapshot) {
	// The start does not depend on the client's connection. The timeout is a cancellation instead
	// of a deadline, because the SDK gives a single call only half of a deadline to leave time for
	// a retry, and a busy Temporal would lose starts that it was about to confirm.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer time.AfterFunc(s.options.StartTimeout, func() { cancel(errStartTimeout) }).Stop()
	options := s.startOptions(order, storeName)
	// With REJECT_DUPLICATE a retry after a lost response finds the workflow already started.
	options.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	_, err := s.temporal.ExecuteWorkflow(ctx, options, workflows.OrderWorkflowName, workflows.OrderInput{OrderID: order.ID, Snapshot: snapshot})
	if err != nil && !isAlreadyStarted(err) {
		s.log.WarnContext(ctx, "order stored but its workflow not started; the reconcile workflow will start it", "order_id", order.ID, "error", errors.Join(err, context.Cause(ctx)))
		return
	}
	s.started.add(order.ID, order.Seq)
}

// StartMissing reconciles one order: starts its workflow, or signals `refresh`. The signal is for a
// run that missed a move: an update enters the history only after its move is in the database, and
// a crash in between loses it from the history.
func (s *Service) StartMissing(ctx context.Context, orderID uuid.UUID) error {
	view, err := s.db.OrderViewByID(ctx, orderID)
	if err != nil {
		return err
	}
	switch {
	case view.State().Final() || view.State().Revivable():
		err = s.temporal.SignalWorkflow(ctx, workflows.OrderWorkflowID(orderID), "", workflows.RefreshName, nil)
		if isNotRunning(err) {
			err = nil // completed, as expected
		}
	default:
		err = s.startOrRefresh(ctx, view)
	}
	if err != nil {
		return err
	}
	return s.db.MarkWorkflowsStarted(ctx, []db.OrderVersion{{ID: orderID, Seq: view.Seq}}, s.clock.Now())
}

func (s *Service) startOrRefresh(ctx context.Context, view *models.OrderView) error {
	storeName, err := s.storeNameOf(ctx, &view.Order)
	if err != nil {
		return err
	}
	options, input := s.startOptions(&view.Order, storeName), workflows.OrderInput{OrderID: view.ID}
	if view.Seq > 1 {
		_, err = s.temporal.SignalWithStartWorkflow(ctx, options.ID, workflows.RefreshName, nil, options, workflows.OrderWorkflowName, input)
		return err
	}
	options.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	// A run that completed has auto-cancelled the order since it was read.
	options.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
	if _, err = s.temporal.ExecuteWorkflow(ctx, options, workflows.OrderWorkflowName, input); isAlreadyStarted(err) {
		return nil
	}
	return err
}

func (s *Service) startOptions(order *models.Order, storeName string) client.StartWorkflowOptions {
	summary := "Guía " + order.GuideCode
	if storeName != "" {
		summary += " · " + storeName
	}
	attributes := []temporal.SearchAttributeUpdate{
		workflows.GuideCodeAttribute.ValueSet(order.GuideCode),
		workflows.OperatorAttribute.ValueSet(order.OperatorID.String()),
	}
	if order.StoreID != nil {
		attributes = append(attributes, workflows.StoreAttribute.ValueSet(order.StoreID.String()))
	}
	return client.StartWorkflowOptions{
		ID:                    workflows.OrderWorkflowID(order.ID),
		TaskQueue:             s.options.TaskQueue,
		WorkflowTaskTimeout:   s.options.WorkflowTaskTimeout,
		StaticSummary:         summary,
		Priority:              workflows.FairTo(order.OperatorID),
		TypedSearchAttributes: temporal.NewSearchAttributes(attributes...),
	}
}

func (s *Service) storeNameOf(ctx context.Context, order *models.Order) (string, error) {
	if order.StoreID == nil {
		return "", nil
	}
	store, err := s.db.Store(ctx, *order.StoreID)
	if err != nil {
		return "", err
	}
	return store.Name, nil
}

func (s *settings) storeName(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return s.stores[*id].Name
}

// deliveryRefs returns the workflow references of new deliveries.
func deliveryRefs(hooks []models.Webhook, deliveries []models.WebhookDelivery) []workflows.WebhookDeliveryRef {
	var refs []workflows.WebhookDeliveryRef
	for _, delivery := range deliveries {
		for _, hook := range hooks {
			if hook.ID == delivery.WebhookID {
				refs = append(refs, webhooks.Ref(db.DeliveryTarget{
					ID: delivery.ID, WebhookID: hook.ID, Event: delivery.Event, URL: hook.URL, Retry: hook.Retry,
				}))
			}
		}
	}
	return refs
}

func isAlreadyStarted(err error) bool {
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	return errors.As(err, &already)
}

// startConfirmations records in batches which orders have a running workflow. It only saves the
// reconcile workflow from checking them, so it may lag or be lost.
type startConfirmations struct {
	db    *db.DB
	clock clock.Clock
	log   *slog.Logger

	orders chan db.OrderVersion
	done   chan struct{}
	once   sync.Once
}

const (
	flushInterval = 200 * time.Millisecond
	flushSize     = 500
)

func newStartConfirmations(database *db.DB, clk clock.Clock, log *slog.Logger) *startConfirmations {
	m := &startConfirmations{db: database, clock: clk, log: log, orders: make(chan db.OrderVersion, 4*flushSize), done: make(chan struct{})}
	go m.run()
	return m
}

func (m *startConfirmations) add(id uuid.UUID, seq int) {
	select {
	case m.orders <- db.OrderVersion{ID: id, Seq: seq}:
	default: // the buffer is full because the database is slow; the reconcile workflow will check the order
	}
}

func (m *startConfirmations) close() {
	m.once.Do(func() { close(m.orders) })
	<-m.done
}

func (m *startConfirmations) run() {
	defer close(m.done)
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	var batch []db.OrderVersion
	for {
		select {
		case order, open := <-m.orders:
			if !open {
				m.write(batch)
				return
			}
			if batch = append(batch, order); len(batch) < flushSize {
				continue
			}
		case <-tick.C:
		}
		m.write(batch)
		batch = batch[:0]
	}
}

func (m *startConfirmations) write(batch []db.OrderVersion) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := m.db.MarkWorkflowsStarted(ctx, batch, m.clock.Now()); err != nil {
		m.log.Warn("started workflows not marked; the reconcile workflow will find them running", "count", len(batch), "error", err)
	}
}

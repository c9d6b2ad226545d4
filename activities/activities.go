// Package activities implements the Temporal activities: the database, webhooks, map links and
// identity checks.
package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/identity"
	"despacho/internal/maplink"
	"despacho/internal/orders"
	"despacho/internal/webhooks"
	"despacho/workflows"
)

// Activities holds the dependencies of the activities.
type Activities struct {
	Orders   *orders.Service
	DB       *db.DB
	Clock    clock.Clock
	Log      *slog.Logger
	Webhooks *webhooks.Service
	MapLinks *maplink.Resolver
	// Identity is nil where no provider is configured.
	Identity *identity.Verifier
	// LastPass is how long the last pass of Reconcile may take after the run's time is over.
	LastPass time.Duration
}

var _ workflows.Activities = (*Activities)(nil)

// Register registers every activity under the name of its method.
func (a *Activities) Register(w worker.Registry) {
	methods, names := reflect.ValueOf(a), reflect.TypeFor[workflows.Activities]()
	for i := range names.NumMethod() {
		name := names.Method(i).Name
		w.RegisterActivityWithOptions(methods.MethodByName(name).Interface(), activity.RegisterOptions{Name: name})
	}
}

// LoadOrder reads an order for its workflow.
func (a *Activities) LoadOrder(ctx context.Context, orderID uuid.UUID) (snapshot *workflows.Snapshot, err error) {
	defer func() { err = a.orderError(ctx, "read", orderID, recover(), err) }()
	return a.Orders.LoadSnapshot(ctx, orderID)
}

// ApplyMove writes a decided move.
func (a *Activities) ApplyMove(
	ctx context.Context, move workflows.ApplyMoveInput,
) (result *workflows.ApplyMoveResult, err error) {
	defer func() { err = a.orderError(ctx, string(move.Move), move.OrderID, recover(), err) }()
	return a.Orders.Apply(ctx, move)
}

// orderError decides whether an error of an order's database access is retried: only an outage is.
// Data that the database does not accept, or a defect, would fail in every attempt and block every
// later move of the order. Such an error is logged here and becomes a non-retryable one.
func (a *Activities) orderError(ctx context.Context, access string, orderID uuid.UUID, panicked any, err error) error {
	switch {
	case panicked != nil:
		a.Log.ErrorContext(ctx, "order not stored: panic", "order_id", orderID, "access", access, "error",
			fmt.Errorf("panic: %v", panicked), "stack", string(debug.Stack()))
		return workflows.NotStored()
	case err == nil, db.IsUnavailable(err), ctx.Err() != nil:
		return err
	case errors.Is(err, orders.ErrOrderNotFound):
		return workflows.OrderMissing()
	}
	a.Log.ErrorContext(ctx, "order not stored", "order_id", orderID, "access", access, "error", err)
	return workflows.NotStored()
}

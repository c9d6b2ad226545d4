package workflows

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Activities are what the workflows call; package activities implements them. An activity's name in
// Temporal is that of its method: renaming a method breaks running workflows.
type Activities interface {
	// LoadOrder reads an order for its workflow.
	LoadOrder(ctx context.Context, orderID uuid.UUID) (*Snapshot, error)
	// ApplyMove writes a decided move.
	ApplyMove(ctx context.Context, move ApplyMoveInput) (*ApplyMoveResult, error)
	// CallWebhook makes the first attempt at a webhook call and returns its outcome, to be read in
	// the history.
	CallWebhook(ctx context.Context, id uuid.UUID) (outcome string, err error)
	// ResolveMapLink resolves a short map link to the delivery point.
	ResolveMapLink(ctx context.Context, orderID uuid.UUID) error
	// VerifyIdentity looks up the recipient's DNI.
	VerifyIdentity(ctx context.Context, orderID uuid.UUID) error
	// Simulate makes a step of a test order.
	Simulate(ctx context.Context, move SimulatedMove) (*SimulatedOrder, error)
	// Reconcile makes the passes of a run of the reconcile workflow.
	Reconcile(ctx context.Context, duration time.Duration) error
}

// The activities' names. Workflows call them by name: they run in the worker, not here.
const (
	LoadOrderActivity      = "LoadOrder"
	ApplyMoveActivity      = "ApplyMove"
	CallWebhookActivity    = "CallWebhook"
	ResolveMapLinkActivity = "ResolveMapLink"
	VerifyIdentityActivity = "VerifyIdentity"
	SimulateActivity       = "Simulate"
	ReconcileActivity      = "Reconcile"
)

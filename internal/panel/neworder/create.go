package neworder

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/recovered"
)

// Creator creates orders.
type Creator struct {
	Orders *orders.Service
	Clock  clock.Clock
	Log    *slog.Logger
	// Wait is how long a repeated request waits for the first one.
	Wait time.Duration
	// Places are those of all files of the process.
	Places *Places
}

const createRetryInterval = 100 * time.Millisecond

// Once creates an order unless one was created with the key, and returns it either way. A
// double click waits for the first request.
func (c Creator) Once(ctx context.Context, caller orders.Caller, in *jsonbody.Object, key string) (*orders.Created, error) {
	until := time.After(c.Wait)
	for {
		created, err := c.Orders.Create(ctx, caller, in, key)
		if !errors.Is(err, orders.ErrKeyInProgress) {
			return created, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-until:
			return nil, err
		case <-time.After(createRetryInterval):
		}
	}
}

// createdAtOnce bounds the load of all files of one operator: each row takes a connection to the
// database.
const createdAtOnce = 8

// Places are createdAtOnce of each operator; its files take them in turn.
type Places struct {
	byOperator sync.Map // *semaphore.Weighted
}

func (p *Places) of(operatorID uuid.UUID) *semaphore.Weighted {
	places, _ := p.byOperator.LoadOrStore(operatorID, semaphore.NewWeighted(createdAtOnce))
	return places.(*semaphore.Weighted)
}

// Create creates the orders of the rows that have none, several in parallel, and starts none after
// the deadline.
func (r *Reader) Create(ctx context.Context, rows []*Row, deadline time.Time) {
	places := r.Places.of(r.caller.Operator.ID)
	var creations sync.WaitGroup
	for _, row := range rows {
		if row.State() != "ready" {
			continue
		}
		if places.Acquire(ctx, 1) != nil {
			row.Pending = true
			continue
		}
		if r.Clock.Now().After(deadline) {
			places.Release(1)
			row.Pending = true
			continue
		}
		creations.Go(func() {
			defer places.Release(1)
			err := recovered.Call(ctx, r.Log, func() error {
				r.createRow(ctx, row)
				return nil
			})
			row.Pending = row.Pending || err != nil
		})
	}
	creations.Wait()
}

func (r *Reader) createRow(ctx context.Context, row *Row) {
	created, err := r.Once(ctx, r.caller, row.in, row.key)
	switch {
	case err == nil:
		row.Created = created
	case errors.Is(err, orders.ErrKeyReused):
		row.addError(codeColumn, "ya se usó con otros datos")
	case apperror.From(err).Kind == apperror.Internal, errors.Is(err, orders.ErrKeyInProgress):
		r.Log.WarnContext(ctx, "row of an upload not created", "row", row.Number, "error", err)
		row.Pending = true
	default:
		if err := r.explain(row, err); err != nil {
			row.Pending = true
		}
	}
}

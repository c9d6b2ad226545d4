package orders

import (
	"context"

	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/workflows"
)

// CreateMeanwhile is Create under an Idempotency-Key with a call of meanwhile after the key is
// claimed and before the order is written.
func (s *Service) CreateMeanwhile(ctx context.Context, caller Caller, in *jsonbody.Object, key string, meanwhile func() error) (*Created, error) {
	return s.withIdempotencyKey(ctx, caller, in, key, func(record *models.IdempotencyRecord) (*Created, error) {
		if err := meanwhile(); err != nil {
			return nil, err
		}
		return s.create(ctx, caller, in, record)
	})
}

// StartQueued starts the workflow of a created order as the starter does when its turn comes.
func (s *Service) StartQueued(ctx context.Context, created *models.Order) error {
	return s.start(ctx, workflowStart{Order: created, snapshot: &workflows.Snapshot{
		State: created.State(), Seq: created.Seq, GuideCode: created.GuideCode, AutoCancelAt: created.AutoCancelAt,
	}})
}

// ClaimKey is what a request with an Idempotency-Key does first.
var ClaimKey = claimKey

// EraseRow erases an order's row alone.
var EraseRow = eraseOrder

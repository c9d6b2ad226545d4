package orders

import (
	"context"

	"despacho/internal/jsonbody"
	"despacho/models"
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

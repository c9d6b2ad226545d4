package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/body"
	"despacho/models"
)

// lease is how long a request may hold an Idempotency-Key before another may suppose that it died.
const lease = 60 * time.Second

// once runs a creation under an Idempotency-Key: the first request creates, the others are told what it was told.
func (s *Service) once(ctx context.Context, caller Caller, in *body.Object, key string, create func(*models.IdempotencyRecord) (Answer, error)) (Answer, error) {
	now := s.clock.Now()
	record := &models.IdempotencyRecord{
		APIKeyID: *caller.KeyID, Key: key, BodyHash: in.Hash(),
		LeaseToken: uuid.New(), LeaseUntil: now.Add(lease),
		CreatedAt: now, ExpiresAt: now.Add(s.options.IdempotencyTTL),
	}
	claim, held, err := s.db.ClaimKey(ctx, record, now)
	if err != nil {
		return Answer{}, err
	}
	switch claim {
	case db.InProgress:
		return Answer{}, ErrKeyInProgress
	case db.OtherBody:
		return Answer{}, ErrKeyReused
	case db.Answered:
		return Answer{Status: *held.StatusCode, Location: *held.Location, Body: held.Response, Replayed: true}, nil
	}
	answer, err := create(record)
	if err != nil {
		// Only successes are remembered. The request may be over already; the key must be free all the same.
		if freeErr := s.db.FreeKey(context.WithoutCancel(ctx), record.APIKeyID, record.Key, record.LeaseToken); freeErr != nil {
			s.log.WarnContext(ctx, "idempotency key not freed; its lease will run out", "error", freeErr)
		}
	}
	return answer, err
}

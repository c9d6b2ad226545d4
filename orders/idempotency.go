package orders

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// withIdempotencyKey runs a creation under an Idempotency-Key: the first request creates, later
// ones get its stored response.
func (s *Service) withIdempotencyKey(ctx context.Context, caller Caller, in *jsonbody.Object, key string, create func(*models.IdempotencyRecord) (CreateResponse, error)) (CreateResponse, error) {
	now := s.clock.Now()
	record := &models.IdempotencyRecord{
		ScopeID: caller.idempotencyScope(), Key: key, BodyHash: in.Hash(),
		LeaseToken: uuid.New(), LeaseUntil: now.Add(s.options.KeyLease),
		CreatedAt: now, ExpiresAt: now.Add(s.options.IdempotencyTTL),
	}
	claim, held, err := s.db.ClaimKey(ctx, record, now)
	if err != nil {
		return CreateResponse{}, err
	}
	switch claim {
	case db.InProgress:
		return CreateResponse{}, ErrKeyInProgress
	case db.BodyMismatch:
		return CreateResponse{}, ErrKeyReused
	case db.Completed:
		return replayedResponse(held), nil
	}
	answer, err := create(record)
	if err != nil {
		// Only successes are stored. The key is released even if the client has disconnected.
		if freeErr := s.db.ReleaseKey(context.WithoutCancel(ctx), record.ScopeID, record.Key, record.LeaseToken); freeErr != nil {
			s.log.WarnContext(ctx, "idempotency key not freed; its lease will run out", "error", freeErr)
		}
	}
	return answer, err
}

// PreviousResponse is the stored response of an Idempotency-Key.
type PreviousResponse struct {
	Response CreateResponse
	// SameBody reports whether the request body is the same; with another body the key is refused.
	SameBody bool
}

// PreviousResponses returns, by Idempotency-Key, the stored responses of those requests that were
// completed before.
func (s *Service) PreviousResponses(ctx context.Context, caller Caller, requests map[string]*jsonbody.Object) (map[string]PreviousResponse, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	records, err := s.db.CompletedKeys(ctx, caller.idempotencyScope(), slices.Collect(maps.Keys(requests)), s.clock.Now())
	if err != nil {
		return nil, err
	}
	previous := make(map[string]PreviousResponse, len(records))
	for i := range records {
		previous[records[i].Key] = PreviousResponse{Response: replayedResponse(&records[i]), SameBody: bytes.Equal(records[i].BodyHash, requests[records[i].Key].Hash())}
	}
	return previous, nil
}

func replayedResponse(record *models.IdempotencyRecord) CreateResponse {
	return CreateResponse{Status: *record.StatusCode, Location: *record.Location, Body: record.Response, Replayed: true}
}

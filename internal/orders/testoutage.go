package orders

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"fmt"

	"despacho/internal/jsonbody"
	"despacho/models"
)

// errTestOutage is the error of a lost connection to the database, so that it is answered as one.
var errTestOutage = fmt.Errorf("the outage of a test order: %w", driver.ErrBadConn)

// testOutage fails the first creation of a test order whose scenario is an outage. A repeated
// request, recognised by its Idempotency-Key or without one by its body, goes on.
func (s *Service) testOutage(ctx context.Context, caller Caller, in *jsonbody.Object, record *models.IdempotencyRecord) error {
	request := in.Hash()
	if record != nil {
		request = []byte("key " + record.Key)
	}
	sum := sha256.Sum256(request)
	subject := "test-outage:" + caller.idempotencyScope().String() + ":" + hex.EncodeToString(sum[:])
	if requests, err := s.db.CountToday(ctx, subject, s.clock.Now()); err != nil || requests > 1 {
		return err
	}
	return errTestOutage
}

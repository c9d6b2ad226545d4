package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// releaseTimeout bounds what a request that failed waits for a database that does not answer: the
// lease of its key runs out in any case.
const releaseTimeout = 2 * time.Second

// withIdempotencyKey runs a creation under an Idempotency-Key: the first request creates, later
// ones get its stored outcome.
func (s *Service) withIdempotencyKey(
	ctx context.Context, caller Caller, in *jsonbody.Object, key string, create func(*models.IdempotencyRecord) (*Created, error),
) (*Created, error) {
	now := s.clock.Now()
	record := &models.IdempotencyRecord{
		ScopeID: caller.idempotencyScope(), Key: key, BodyHash: in.Hash(),
		LeaseToken: uuid.New(), LeaseUntil: now.Add(s.options.KeyLease),
		CreatedAt: now, ExpiresAt: now.Add(s.options.IdempotencyTTL),
	}
	response, err := claimKey(ctx, s.db, record, now)
	if err != nil {
		return nil, err
	}
	if response != nil {
		return s.replay(ctx, response)
	}
	created, err := create(record)
	if err != nil {
		// Only successes are stored. The key is released even if the client has disconnected.
		releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		if freeErr := heldKey(releasing, s.db, record).Delete(&models.IdempotencyRecord{}).Error; freeErr != nil {
			s.log.WarnContext(ctx, "idempotency key not freed; its lease will run out", "error", freeErr)
		}
	}
	return created, err
}

// storedCreated is the JSON of a Created in the database.
type storedCreated struct {
	Order   json.RawMessage `json:"data"`
	Warning string          `json:"warning,omitempty"`
	// DocumentLeftOut means that the order has a document number, which is not stored here: the
	// order's row has it, encrypted.
	DocumentLeftOut bool `json:"document_left_out,omitempty"`
}

// saveCreated stores the outcome of the request that claimed the key.
func saveCreated(ctx context.Context, tx *db.DB, record *models.IdempotencyRecord, created *Created) error {
	outcome := storedCreated{Order: created.JSON, Warning: created.Warning}
	if created.Order.RecipientDocNumber != nil {
		order := *created.Order
		order.RecipientDocNumber = nil
		withoutDocument, err := json.Marshal(&order)
		if err != nil {
			return err
		}
		outcome.Order, outcome.DocumentLeftOut = withoutDocument, true
	}
	stored, err := json.Marshal(outcome)
	if err != nil {
		return err
	}
	err = db.RequireOneRow(heldKey(ctx, tx, record).UpdateColumns(map[string]any{"response": stored,
		"order_id": created.Order.ID}))
	if db.IsNotFound(err) {
		return ErrKeyInProgress // the lease expired and another request claimed the key
	}
	return err
}

// replay returns the outcome of the first request as that got it, byte for byte.
func (s *Service) replay(ctx context.Context, response []byte) (*Created, error) {
	created, documentLeftOut, err := readCreated(response)
	if err != nil || !documentLeftOut {
		return created, err
	}
	order, err := s.db.OrderViewByID(ctx, created.Order.ID)
	if err != nil {
		return nil, err
	}
	created.Order.RecipientDocNumber = s.shownDocument(&order.Order)
	created.JSON, err = withDocument(created.JSON, created.Order.RecipientDocNumber)
	return created, err
}

// withDocument puts the document number into the JSON of an order that was stored without it, and
// leaves every other byte as it is. Within a text the quotes of the member would be escaped.
func withDocument(order json.RawMessage, number *string) (json.RawMessage, error) {
	value, err := json.Marshal(number)
	if err != nil {
		return nil, err
	}
	const member = `"recipient_doc_number":`
	return bytes.Replace(order, []byte(member+"null"), append([]byte(member), value...), 1), nil
}

// readCreated reads what saveCreated stored.
func readCreated(response []byte) (created *Created, documentLeftOut bool, err error) {
	var stored storedCreated
	if err := json.Unmarshal(response, &stored); err != nil {
		return nil, false, err
	}
	created = &Created{JSON: stored.Order, Warning: stored.Warning, Replayed: true}
	if err := json.Unmarshal(stored.Order, &created.Order); err != nil {
		return nil, false, err
	}
	created.Order.Version = 1 // as the first request got it
	return created, stored.DocumentLeftOut, nil
}

// PreviousCreation is an earlier creation with the same Idempotency-Key.
type PreviousCreation struct {
	*Created
	bodyHash []byte
}

// SameBody reports whether the body was the same; with another one the key is refused.
func (p PreviousCreation) SameBody(in *jsonbody.Object) bool {
	return bytes.Equal(p.bodyHash, in.Hash())
}

// PreviousCreations returns, by Idempotency-Key, the outcomes of the requests that were completed
// with one of the keys. They are without the document's number.
func (s *Service) PreviousCreations(ctx context.Context, caller Caller, keys []string) (map[string]PreviousCreation, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var records []models.IdempotencyRecord
	err := s.db.Query(ctx).Where("scope_id = ? AND key IN ? AND response IS NOT NULL AND expires_at > ?",
		caller.idempotencyScope(), keys, s.clock.Now()).
		Find(&records).Error
	if err != nil {
		return nil, err
	}
	previous := make(map[string]PreviousCreation, len(records))
	for _, record := range records {
		created, _, err := readCreated(record.Response)
		if err != nil {
			return nil, err
		}
		previous[record.Key] = PreviousCreation{Created: created, bodyHash: record.BodyHash}
	}
	return previous, nil
}

package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/api/common/v1"

	"despacho/internal/apperror"
	"despacho/internal/historycodec"
	"despacho/models"
)

// maxHistorySubjects bounds the workflows that one request may ask about. A page of the Temporal UI
// has a hundred.
const maxHistorySubjects = 1000

var errTooManySubjects = apperror.New(apperror.Invalid, "too_many_workflows", "La solicitud nombra demasiados workflows.")

// DecodeHistory decrypts payloads of Temporal histories for a person. Payloads of another
// operator's workflows, and those that no operator owns, are returned as they are: the namespace is
// shared by all operators. The owner that a payload names is authenticated, so another's payload
// cannot be passed off as one's own.
func (s *Service) DecodeHistory(ctx context.Context, caller Caller, payloads []*common.Payload) ([]*common.Payload, error) {
	owned, err := s.ownedHistories(ctx, caller, payloads)
	if err != nil {
		return nil, err
	}
	decoded := make([]*common.Payload, len(payloads))
	for i, payload := range payloads {
		decoded[i] = payload
		if !owned[historycodec.Owner(payload)] {
			continue
		}
		one, err := s.options.HistoryCodec.Decode([]*common.Payload{payload})
		var unreadable *historycodec.UnreadableError
		if errors.As(err, &unreadable) {
			return nil, apperror.New(apperror.Unprocessable, "history_unreadable",
				"El dato no se puede descifrar con la clave "+unreadable.KeyID+" de este servicio.").Because(err)
		}
		if err != nil {
			return nil, err
		}
		decoded[i] = one[0]
	}
	return decoded, nil
}

// EncodeHistory encrypts payloads that a person sends to Temporal, such as a signal's. They belong
// to the person's operator: which workflow they are for is not known.
func (s *Service) EncodeHistory(caller Caller, payloads []*common.Payload) ([]*common.Payload, error) {
	return s.options.HistoryCodec.WithOwner(operatorOwner(caller)).Encode(payloads)
}

// operatorOwner is the owner of payloads that people of the caller's operator have encoded.
func operatorOwner(caller Caller) string { return "operator-" + caller.Operator.ID.String() }

// ownedHistories returns which of the owners that encrypted payloads name are the caller's.
func (s *Service) ownedHistories(ctx context.Context, caller Caller, payloads []*common.Payload) (map[string]bool, error) {
	subjects := map[string]uuid.UUID{}
	for _, payload := range payloads {
		owner := historycodec.Owner(payload)
		if id, ok := subjectOf(owner); ok && historycodec.IsEncrypted(payload) {
			subjects[owner] = id
		}
	}
	if len(subjects) > maxHistorySubjects {
		return nil, errTooManySubjects
	}
	owned := map[string]bool{operatorOwner(caller): true}
	if len(subjects) == 0 {
		return owned, nil
	}
	ids := make([]uuid.UUID, 0, len(subjects))
	for _, id := range subjects {
		ids = append(ids, id)
	}
	own, err := s.ownSubjects(ctx, caller.Operator.ID, ids)
	for owner, id := range subjects {
		owned[owner] = own[id]
	}
	return owned, err
}

// ownSubjects returns those of the orders that are the operator's.
func (s *Service) ownSubjects(ctx context.Context, operatorID uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	var rows []uuid.UUID
	err := s.db.Query(ctx).Model(&models.Order{}).Where("operator_id = ? AND id IN ?", operatorID, ids).Pluck("id", &rows).Error
	owned := make(map[uuid.UUID]bool, len(rows))
	for _, id := range rows {
		owned[id] = true
	}
	return owned, err
}

package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/models"
	"despacho/workflows"
)

// ErrNotEnded refuses to erase the data of an order that somebody still works with.
var ErrNotEnded = apperror.New(apperror.Conflict, "order_not_ended", "El pedido todavía está en curso, o sus avisos se están enviando. Sus datos se pueden eliminar cuando termine.")

// Erasure is the outcome of an erasure by phone.
type Erasure struct {
	// Erased and Open count the orders that were erased, and those that have not ended.
	Erased int `json:"erased"`
	Open   int `json:"open"`
}

// count counts an order by the outcome of its erasure, and returns the error of one that failed.
func (e *Erasure) count(orderID uuid.UUID, outcome error) error {
	switch {
	case errors.Is(outcome, ErrNotEnded):
		e.Open++
		return nil
	case outcome == nil:
		e.Erased++
		return nil
	}
	return fmt.Errorf("the recipient of order %s was not erased: %w", orderID, outcome)
}

// Erase erases the recipient's data of an ended order: in its row, timeline and corrections, in its
// events and what receivers responded, in the recorded response to its creation, in Temporal's
// history, the cached answer about the DNI, and the photos. The external id stays, like the guide
// code: it is the store's number of the order.
func (s *Service) Erase(ctx context.Context, operator *models.Operator, id uuid.UUID) (*View, error) {
	caller := Caller{Operator: operator}
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if err := s.erase(ctx, &order.Order); err != nil {
		return nil, err
	}
	return s.Get(ctx, caller, id)
}

// EraseByPhone erases every ended live order of an operator to a phone in E.164. An order, also an
// open one, that is to another phone since somebody corrected it loses that phone and nothing else.
// Test orders are erased by ApplyRetention. An order that fails keeps no other from being erased,
// unless Temporal or the database is unavailable; its error is returned at the end.
func (s *Service) EraseByPhone(ctx context.Context, operator *models.Operator, phone string) (Erasure, error) {
	var outcome Erasure
	scope := Caller{Operator: operator}.Scope()
	corrected, err := s.db.OrdersCorrectedFrom(ctx, scope, phone)
	if err != nil {
		return outcome, err
	}
	var failed error
	for _, id := range corrected {
		err := outcome.count(id, s.eraseCorrectedPhone(ctx, id, phone))
		if failed = errors.Join(failed, err); IsUnavailable(err) {
			return outcome, failed
		}
	}
	found, err := s.db.OrdersByPhone(ctx, scope, phone)
	if err != nil {
		return outcome, errors.Join(failed, err)
	}
	for i := range found {
		err := outcome.count(found[i].ID, s.erase(ctx, &found[i]))
		if failed = errors.Join(failed, err); IsUnavailable(err) {
			return outcome, failed
		}
	}
	return outcome, failed
}

// eraseCorrectedPhone removes a phone that an order had before from all that was stored meanwhile:
// the corrections, the events and what receivers responded, and the response to the creation. The
// corrections go with the rest or not at all: a repeated request finds the order by them.
func (s *Service) eraseCorrectedPhone(ctx context.Context, orderID uuid.UUID, phone string) error {
	pending, err := s.db.HasPendingDeliveries(ctx, orderID)
	if err != nil {
		return err
	}
	if pending {
		return ErrNotEnded
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		// An erasure of the order comes before or after: what it removed is not written back.
		if _, err := tx.LockOrder(ctx, orderID); err != nil {
			return err
		}
		if err := tx.EraseCorrectedPhone(ctx, orderID, phone); err != nil {
			return err
		}
		deliveries, err := tx.LockDeliveriesOf(ctx, orderID)
		if err != nil {
			return err
		}
		for i := range deliveries {
			deliveries[i].Data = withoutPhone(deliveries[i].Data, phone)
			if err := tx.EraseDelivery(ctx, &deliveries[i]); err != nil {
				return err
			}
		}
		events, err := tx.LockUnerasedFeedEventsOf(ctx, orderID)
		if err != nil {
			return err
		}
		for i := range events {
			events[i].Data = withoutPhone(events[i].Data, phone)
			if forStore := events[i].StoreData; forStore != nil {
				*forStore = withoutPhone(*forStore, phone)
			}
			if err := tx.EraseFeedEvent(ctx, &events[i]); err != nil {
				return err
			}
		}
		response, err := tx.CreationResponse(ctx, orderID)
		if db.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.EraseCreationResponse(ctx, orderID, []byte(withoutPhone(string(response), phone)))
	})
}

// withoutPhone is the JSON of an order without a phone of the recipient, and with every other byte
// as it is. Within a text the quotes of the member would be escaped.
func withoutPhone(stored, phone string) string {
	const member = `"recipient_phone":"`
	return strings.ReplaceAll(stored, member+phone+`"`, member+models.ErasedPhone+`"`)
}

// erase erases one order. The history and the answer about the DNI are deleted first: until the row
// is erased, a repeated request finds the order again. A photo that this process cannot remove,
// such as a worker without the disk of the api, is removed by the sweeper of an api, which finds it
// among the erased ones.
func (s *Service) erase(ctx context.Context, order *models.Order) error {
	pending, err := s.db.HasPendingDeliveries(ctx, order.ID)
	if err != nil {
		return err
	}
	if !order.Status.Ended() || pending {
		return ErrNotEnded
	}
	if err := s.deleteHistory(ctx, order.ID); err != nil {
		return err
	}
	if err := s.forgetIdentity(ctx, order); err != nil {
		return err
	}
	photos, err := s.eraseRows(ctx, order)
	if err != nil {
		return err
	}
	for _, photo := range photos {
		if err := s.options.Photos.Remove(ctx, photo); err != nil {
			s.log.WarnContext(ctx, "photo of an erased order not removed; the sweeper will", "order_id", order.ID, "error", err)
		}
	}
	return nil
}

// eraseRows erases what the database has of the recipient and returns the photos of the order, the
// replaced ones among them.
func (s *Service) eraseRows(ctx context.Context, order *models.Order) (photos []string, err error) {
	now := s.clock.Now()
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		// A correction comes before or after: the photos that it leaves are those that go.
		locked, err := tx.LockOrder(ctx, order.ID)
		if err != nil {
			return err
		}
		if locked.Seq != order.Seq {
			// It was revived meanwhile, and may have ended again. That run's history is still there and its
			// events may be being sent: once the row is erased nobody would look for them.
			return ErrNotEnded
		}
		if photos, err = tx.ReplacedPhotos(ctx, order.ID); err != nil {
			return err
		}
		if locked.ProofPhoto != nil {
			photos = append(photos, *locked.ProofPhoto)
		}
		if err := tx.EraseOrder(ctx, order.ID, erasedSearchText(order), now); err != nil {
			return err
		}
		if err := eraseEventsOf(ctx, tx, order.ID, now); err != nil {
			return err
		}
		if err := s.eraseResponse(ctx, tx, order.ID); err != nil {
			return err
		}
		if order.Test {
			return nil // every test order is erased: the audit log would be full of them
		}
		return tx.Audit(ctx, models.AuditEntry{OperatorID: order.OperatorID, At: now, Action: models.AuditErased, SubjectID: &order.ID})
	})
	return photos, err
}

// eraseEventsOf removes the personal data of an order's events, as they are sent and as the feed
// lists them.
func eraseEventsOf(ctx context.Context, tx *db.DB, orderID uuid.UUID, now time.Time) error {
	deliveries, err := tx.LockDeliveriesOf(ctx, orderID)
	if err != nil {
		return err
	}
	if err := eraseDeliveries(ctx, tx, deliveries, now); err != nil {
		return err
	}
	events, err := tx.LockUnerasedFeedEventsOf(ctx, orderID)
	if err != nil {
		return err
	}
	return eraseFeedEvents(ctx, tx, events, now)
}

// eraseResponse replaces the response that a repeated creation would get by the order as it is now.
func (s *Service) eraseResponse(ctx context.Context, tx *db.DB, orderID uuid.UUID) error {
	order, err := tx.OrderViewByID(ctx, orderID)
	if err != nil {
		return err
	}
	erased, err := json.Marshal(s.view(order, false))
	if err != nil {
		return err
	}
	stored, err := json.Marshal(storedCreated{Order: erased})
	if err != nil {
		return err
	}
	return tx.EraseCreationResponse(ctx, orderID, stored)
}

// eraseDeliveries removes the personal data of events. A redelivery sends what is left. Every
// erasure locks them by id: of two that have some in common one waits, and none is in a deadlock.
func eraseDeliveries(ctx context.Context, tx *db.DB, deliveries []models.WebhookDelivery, now time.Time) error {
	slices.SortFunc(deliveries, func(a, b models.WebhookDelivery) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for i := range deliveries {
		delivery := &deliveries[i]
		data, err := erasedData(delivery.Data)
		if err != nil {
			return err
		}
		delivery.Data, delivery.ErasedAt = data, &now
		if err := tx.EraseDelivery(ctx, delivery); err != nil {
			return err
		}
	}
	return nil
}

// eraseFeedEvents removes the personal data of events in the feed, which lists what is left. They
// are locked by id, like deliveries.
func eraseFeedEvents(ctx context.Context, tx *db.DB, events []models.FeedEvent, now time.Time) error {
	slices.SortFunc(events, func(a, b models.FeedEvent) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for i := range events {
		event := &events[i]
		data, err := erasedData(event.Data)
		if err != nil {
			return err
		}
		// What is erased is all that the store's differs in.
		event.Data, event.StoreData, event.ErasedAt = data, nil, &now
		if err := tx.EraseFeedEvent(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

// erasedData is an event's data without what tells who the recipient is. The external id stays. Of
// data that is not a JSON object nothing stays: it would keep everything beside it from being
// erased.
func erasedData(stored string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(stored))
	decoder.UseNumber()
	var data map[string]any
	if err := decoder.Decode(&data); err != nil || data == nil {
		return "{}", nil
	}
	for member, erased := range map[string]any{
		"recipient_name": models.ErasedText, "recipient_phone": models.ErasedPhone, "delivery_address": models.ErasedText, "delivery_reference": nil,
	} {
		if _, present := data[member]; present {
			data[member] = erased
		}
	}
	delete(data, "delivery_proof")
	left, err := json.Marshal(data)
	return string(left), err
}

// deleteHistory deletes the closed runs of an order's workflow: the reason of a cancel and the name
// of a photo are in them. The latest run is asked for by its id, because the list of runs may be
// behind.
func (s *Service) deleteHistory(ctx context.Context, orderID uuid.UUID) error {
	id := workflows.OrderWorkflowID(orderID)
	runs := map[string]enums.WorkflowExecutionStatus{}
	latest, err := s.temporal.DescribeWorkflowExecution(ctx, id, "")
	switch {
	case err == nil:
		info := latest.GetWorkflowExecutionInfo()
		runs[info.GetExecution().GetRunId()] = info.GetStatus()
	case !workflows.IsNotRunning(err):
		return ErrMoveUnconfirmed.Because(err)
	}
	earlier, err := s.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowId = '" + id + "'"})
	if err != nil {
		return ErrMoveUnconfirmed.Because(err)
	}
	for _, info := range earlier.GetExecutions() {
		if _, known := runs[info.GetExecution().GetRunId()]; !known {
			runs[info.GetExecution().GetRunId()] = info.GetStatus()
		}
	}
	for _, status := range runs {
		if status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			return ErrNotEnded
		}
	}
	for run := range runs {
		_, err := s.temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: s.options.Namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: id, RunId: run},
		})
		if err != nil && !workflows.IsNotRunning(err) {
			return ErrMoveUnconfirmed.Because(err)
		}
	}
	return nil
}

// forgetIdentity removes what a provider answered about the recipient's DNI: it has the name. A
// number that cannot be decrypted any more has no answer that could be found either.
func (s *Service) forgetIdentity(ctx context.Context, order *models.Order) error {
	if s.options.Identity == nil || order.RecipientDocType == nil || *order.RecipientDocType != models.DocDNI {
		return nil
	}
	number := s.shownDocument(order)
	if number == nil {
		return nil
	}
	return s.options.Identity.Forget(ctx, *number)
}

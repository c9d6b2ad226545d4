package orders

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/models"
	"despacho/workflows"
)

// ErrNotEnded refuses to erase the data of an order that somebody still works with.
var ErrNotEnded = apperror.New(apperror.Conflict, "order_not_ended",
	"El pedido todavía está en curso, o sus avisos se están enviando. Sus datos se pueden eliminar cuando termine.")

// Erase erases the recipient's data of an ended order: in its row, timeline and corrections, in its
// events and what receivers responded, in the recorded response to its creation, in Temporal's
// history, and the photos. The external id stays, like the guide code: it is the store's number of
// the order.
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

// erase erases one order. The history is deleted first: until the row is erased, a repeated request
// finds the order again. A photo that this process cannot remove,
// such as a worker without the disk of the api, is removed by the sweeper of an api, which finds it
// among the erased ones.
func (s *Service) erase(ctx context.Context, order *models.Order) error {
	pending, err := s.hasPendingDeliveries(ctx, order.ID)
	if err != nil {
		return err
	}
	if !order.Status.Ended() || pending {
		return ErrNotEnded
	}
	if err := s.deleteHistory(ctx, order.ID); err != nil {
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

// hasPendingDeliveries reports whether events of an order are being sent. Those of a paused webhook
// are not: they may wait for as long as its owner likes, and go without what was erased meanwhile.
func (s *Service) hasPendingDeliveries(ctx context.Context, orderID uuid.UUID) (bool, error) {
	var count int64
	err := s.db.Query(ctx).Model(&models.WebhookDelivery{}).
		Where("order_id = ? AND status = ?", orderID, models.WebhookDeliveryPending).
		Where("webhook_id NOT IN (SELECT id FROM webhooks WHERE paused_at IS NOT NULL)").Count(&count).Error
	return count > 0, err
}

// eraseRows erases what the database has of the recipient and returns the photos of the order, the
// replaced ones among them.
func (s *Service) eraseRows(ctx context.Context, order *models.Order) (photos []string, err error) {
	now := s.clock.Now()
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		// A correction comes before or after: the photos that it leaves are those that go.
		locked, err := lockOrder(ctx, tx, order.ID)
		if err != nil {
			return err
		}
		if locked.Seq != order.Seq {
			// It was revived meanwhile, and may have ended again. That run's history is still there and its
			// events may be being sent: once the row is erased nobody would look for them.
			return ErrNotEnded
		}
		if photos, err = recordErasedPhotos(ctx, tx, locked, now); err != nil {
			return err
		}
		if err := eraseOrder(ctx, tx, order, now); err != nil {
			return err
		}
		if err := rewriteEventsOf(ctx, tx, order.ID, erasedData, &now); err != nil {
			return err
		}
		if err := s.eraseResponse(ctx, tx, order.ID); err != nil {
			return err
		}
		if order.Test {
			return nil // every test order is erased: the audit log would be full of them
		}
		return tx.Audit(ctx, models.AuditEntry{OperatorID: order.OperatorID, At: now, Action: models.AuditErased,
			SubjectID: &order.ID})
	})
	return photos, err
}

// eraseOrder removes from an order's row, timeline and corrections what tells who its recipient is.
// The external id is the store's number of the order, not data of the recipient: it stays. It
// returns db.ErrNotFound for an order that has not ended.
func eraseOrder(ctx context.Context, tx *db.DB, order *models.Order, now time.Time) error {
	erased := tx.Query(ctx).Model(&models.Order{}).Where("id = ? AND status IN ?", order.ID,
		models.EndedStatuses).UpdateColumns(map[string]any{
		"recipient_name": models.ErasedText, "recipient_phone": models.ErasedPhone,
		"recipient_doc_type": nil, "recipient_doc_encrypted": nil, "recipient_doc_verified": nil, "doc_outcome": nil,
		"doc_name_matches": nil,
		"delivery_address": models.ErasedText, "delivery_reference": nil, "delivery_lat": nil, "delivery_lng": nil,
		"delivery_maps_url": nil, "point_source": nil, "notes": nil, "search_text": erasedSearchText(order),
		"proof_photo": nil, "proof_captured_at": nil, "proof_lat": nil, "proof_lng": nil,
		"attempts": order.Attempts.Anonymous(), "collections": order.Collections.Anonymous(), "received_by": nil,
		"cancel_reason": nil, "cancel_note": nil, "erased_at": now, "updated_at": now,
	})
	if err := db.RequireOneRow(erased); err != nil {
		return err
	}
	err := tx.Query(ctx).Model(&models.Correction{}).Where("order_id = ? AND field NOT IN ?", order.ID,
		models.ImpersonalCorrections).
		UpdateColumns(map[string]any{"old_value": nil, "new_value": nil}).Error
	if err != nil {
		return err
	}
	return tx.Query(ctx).Model(&models.TimelineEntry{}).Where("order_id = ?", order.ID).
		UpdateColumns(map[string]any{"detail": nil, "photo": nil, "before": nil}).Error
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
	return replaceResponse(ctx, tx, orderID, stored)
}

func replaceResponse(ctx context.Context, tx *db.DB, orderID uuid.UUID, response []byte) error {
	return tx.Query(ctx).Model(&models.IdempotencyRecord{}).Where("order_id = ?", orderID).UpdateColumn("response",
		response).Error
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
	case !isNotRunning(err):
		return ErrMoveUnconfirmed.Because(err)
	}
	earlier, err := s.temporal.ListWorkflow(ctx,
		&workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowId = '" + id + "'"})
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
		if err != nil && !isNotRunning(err) {
			return ErrMoveUnconfirmed.Because(err)
		}
	}
	return nil
}

package webhooks

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/webhooks/sender"
	"despacho/models"
)

// Page is one page of the delivery log, newest first.
type Page struct {
	Records []Record
	Total   int64
}

// Deliveries reads a page of the deliveries that the caller may see. Of those of another owner's
// webhook it returns neither the webhook nor the attempts.
func (s *Service) Deliveries(ctx context.Context, scope db.WebhookScope, filter Filter) (*Page, error) {
	deliveries, total, err := readLog(ctx, s.DB, scope, filter)
	if err != nil {
		return nil, err
	}
	hooks, err := webhooksOf(ctx, s.DB, scope, deliveries)
	if err != nil {
		return nil, err
	}
	var own []models.WebhookDelivery
	for _, delivery := range deliveries {
		if hooks[delivery.WebhookID] != nil {
			own = append(own, delivery)
		}
	}
	attempts, err := attemptsOf(ctx, s.DB, own)
	if err != nil {
		return nil, err
	}
	if err := rereadDelivered(ctx, s.DB, deliveries, attempts); err != nil {
		return nil, err
	}
	page := &Page{Records: make([]Record, len(deliveries)), Total: total}
	for i, delivery := range deliveries {
		page.Records[i] = Record{Delivery: delivery, Webhook: hooks[delivery.WebhookID], Attempts: attempts[delivery.ID]}
	}
	return page, nil
}

// rereadDelivered reads the calls again that were pending a moment before their last attempt was
// read as a success: the outcome is written with the attempt.
func rereadDelivered(
	ctx context.Context, database *db.DB, calls []models.WebhookDelivery, attempts map[uuid.UUID][]models.WebhookAttempt,
) error {
	for i := range calls {
		made := attempts[calls[i].ID]
		if calls[i].Status != models.WebhookDeliveryPending || len(made) == 0 {
			continue
		}
		if last := made[len(made)-1]; last.FinishedAt == nil || last.Error != nil {
			continue
		}
		now, err := readCall(ctx, database, calls[i].ID)
		if err != nil {
			return err
		}
		calls[i] = *now
	}
	return nil
}

// Delivery reads a delivery of one of the caller's own webhooks.
func (s *Service) Delivery(ctx context.Context, scope db.WebhookScope, id uuid.UUID) (*Record, error) {
	delivery, err := findCall(ctx, s.DB, scope, id)
	if db.IsNotFound(err) {
		return nil, ErrDeliveryNotFound
	}
	if err != nil {
		return nil, err
	}
	hook, err := hookIn(ctx, s.DB, scope, delivery.WebhookID)
	if err != nil {
		return nil, err
	}
	attempts, err := attemptsOf(ctx, s.DB, []models.WebhookDelivery{*delivery})
	if err != nil {
		return nil, err
	}
	return &Record{Delivery: *delivery, Webhook: hook, Attempts: attempts[id]}, nil
}

// SentBody is the body that an attempt sent, nil if it sent none. It is made again of the event's
// data and the time of the attempt, which decide it: what was erased since is not in it.
func (s *Service) SentBody(delivery *models.WebhookDelivery, attempt *models.WebhookAttempt) *string {
	if failure := attempt.Error; failure != nil &&
		(slices.Contains([]string{textInactive, textStoreClosed, textUnsigned}, *failure) || sender.IsUnsent(*failure)) {
		return nil
	}
	body, err := s.body(delivery, attempt.StartedAt)
	if err != nil {
		return nil
	}
	text := string(body)
	return &text
}

func (s *Service) body(delivery *models.WebhookDelivery, at time.Time) ([]byte, error) {
	data := json.RawMessage(s.PhotoURLs.SignEvent(delivery.Data, at))
	return sender.Body(sender.Request{Event: string(delivery.Event), TenantID: delivery.OperatorID.String(), Test: delivery.Test,
		Data: data}, at)
}

// GuideCodes returns the guide codes of the orders on a page.
func (s *Service) GuideCodes(ctx context.Context, page *Page) (map[uuid.UUID]string, error) {
	deliveries := make([]models.WebhookDelivery, len(page.Records))
	for i, record := range page.Records {
		deliveries[i] = record.Delivery
	}
	return guideCodesOf(ctx, s.DB, deliveries)
}

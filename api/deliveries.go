package api

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/webhooks"
	"despacho/models"
)

type deliveryView struct {
	ID        uuid.UUID `json:"id"`
	WebhookID uuid.UUID `json:"webhook_id"`
	// Owner is whose the webhook is. A store sees the operator's deliveries without their attempts.
	Owner     models.Role                  `json:"owner"`
	OrderID   *uuid.UUID                   `json:"order_id"`
	Event     models.Event                 `json:"event"`
	Status    models.WebhookDeliveryStatus `json:"status"`
	Attempts  []attemptView                `json:"attempts"`
	CreatedAt time.Time                    `json:"created_at"`
}

type attemptView struct {
	At         time.Time           `json:"at"`
	Cause      models.AttemptCause `json:"cause"`
	StatusCode *int                `json:"status_code"`
	DurationMS *int64              `json:"duration_ms"`
	Error      *string             `json:"error"`
	Response   *string             `json:"response"`
	// Body is what was sent; only where one delivery is shown.
	Body *string `json:"body,omitempty"`
}

type deliveryPage struct {
	Deliveries []deliveryView `json:"deliveries"`
	Total      int64          `json:"total"`
	Page       int            `json:"page"`
	Limit      int            `json:"limit"`
}

func viewOfDelivery(record *webhooks.Record) deliveryView {
	d := record.Delivery
	view := deliveryView{
		ID: d.ID, WebhookID: d.WebhookID, Owner: models.RoleOperator, OrderID: d.OrderID, Event: d.Event, Status: d.Status,
		Attempts: make([]attemptView, len(record.Attempts)), CreatedAt: d.CreatedAt.UTC(),
	}
	if record.Webhook != nil {
		view.Owner = record.Webhook.Owner()
	}
	for i, attempt := range record.Attempts {
		view.Attempts[i] = attemptView{
			At: attempt.StartedAt.UTC(), Cause: attempt.Cause, StatusCode: attempt.StatusCode, DurationMS: attempt.DurationMS,
			Error: attempt.Error, Response: attempt.Response,
		}
	}
	return view
}

// viewWithBodies is a delivery with the body of each attempt.
func (s *Server) viewWithBodies(record *webhooks.Record) deliveryView {
	view := viewOfDelivery(record)
	for i := range record.Attempts {
		view.Attempts[i].Body = s.webhooks.SentBody(&record.Delivery, &record.Attempts[i])
	}
	return view
}

// readDelivery shows a delivery of one of the caller's webhooks, with what was sent.
func (s *Server) readDelivery(c *gin.Context) error {
	id, err := pathID(c, webhooks.ErrDeliveryNotFound)
	if err != nil {
		return err
	}
	record, err := s.webhooks.Delivery(c.Request.Context(), caller(c).Scope(), id)
	if err != nil {
		return err
	}
	return ok(c, s.viewWithBodies(record))
}

// listDeliveries lists the deliveries that the caller may see, those of its webhooks with their
// attempts.
func (s *Server) listDeliveries(c *gin.Context) error {
	var wrong apperror.Fields
	filter := webhooks.Filter{
		WebhookID: idParameter(c, "webhook_id", &wrong),
		OrderID:   idParameter(c, "order_id", &wrong),
		Status:    models.WebhookDeliveryStatus(textParameter(c, "status", &wrong)),
		Event:     models.Event(textParameter(c, "event", &wrong)),
		Page:      countParameter(c, "page", 1, &wrong),
		Limit:     min(countParameter(c, "limit", defaultPageSize, &wrong), orders.MaxPageSize),
	}
	switch filter.Status {
	case "", models.WebhookDeliveryPending, models.WebhookDeliveryDelivered, models.WebhookDeliveryFailed:
	default:
		wrong.Add("status", "debe ser uno de: pending, delivered, failed")
	}
	if filter.Event != "" && filter.Event != models.EventTest && !slices.Contains(models.SubscribableEvents, filter.Event) {
		wrong.Add("event", "debe ser el nombre de un evento")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	page, err := s.webhooks.Deliveries(c.Request.Context(), caller(c).Scope(), filter)
	if err != nil {
		return err
	}
	view := deliveryPage{Deliveries: make([]deliveryView, len(page.Records)), Total: page.Total, Page: filter.Page,
		Limit: filter.Limit}
	for i := range page.Records {
		view.Deliveries[i] = viewOfDelivery(&page.Records[i])
	}
	return ok(c, view)
}

func idParameter(c *gin.Context, name string, wrong *apperror.Fields) *uuid.UUID {
	text := textParameter(c, name, wrong)
	if text == "" {
		return nil
	}
	id, valid := jsonbody.ParseUUID(text)
	if !valid {
		wrong.Add(name, "debe ser un UUID")
		return nil
	}
	return &id
}

// redeliver sends one delivery again.
func (s *Server) redeliver(c *gin.Context) error {
	id, err := pathID(c, webhooks.ErrDeliveryNotFound)
	if err != nil {
		return err
	}
	record, err := s.webhooks.Redeliver(c.Request.Context(), caller(c).Scope(), id)
	if err != nil {
		return err
	}
	return ok(c, s.viewWithBodies(record))
}

// redeliverRange sends a webhook's failed deliveries of a time range again.
func (s *Server) redeliverRange(c *gin.Context) error {
	id, in, err := idAndBody(c, webhooks.ErrNotFound, readBody)
	if err != nil {
		return err
	}
	count, err := s.webhooks.RedeliverRange(c.Request.Context(), caller(c).Scope(), id, in)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{
		Data: gin.H{"redelivering": count}, Message: fmt.Sprintf("Entregas que se reenviarán: %d.", count),
	})
}

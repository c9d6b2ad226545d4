package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/webhooks"
	"despacho/models"
)

type webhookView struct {
	ID        uuid.UUID      `json:"id"`
	URL       string         `json:"url"`
	Events    []models.Event `json:"events"`
	StoreID   *uuid.UUID     `json:"store_id"`
	Owner     models.Role    `json:"owner"`
	Retry     bool           `json:"retry"`
	Active    bool           `json:"active"`
	PausedAt  *time.Time     `json:"paused_at"`
	Circuit   circuitView    `json:"circuit"`
	CreatedAt time.Time      `json:"created_at"`
	// FailingSince is when the first of the attempts failed that have all failed since.
	FailingSince      *time.Time `json:"failing_since"`
	DeactivatedAt     *time.Time `json:"deactivated_at"`
	DeactivatedReason *string    `json:"deactivated_reason"`
	// Test is there only in a webhook of test orders.
	Test bool `json:"test,omitempty"`
	// Secret is shown once, on registration.
	Secret string `json:"secret,omitempty"`
}

// circuitView is how a webhook's deliveries are being sent.
type circuitView struct {
	State       models.CircuitState `json:"state"`
	Failures    int                 `json:"failures"`
	OpenedAt    *time.Time          `json:"opened_at"`
	NextProbeAt *time.Time          `json:"next_probe_at"`
}

func (s *Server) viewOfWebhook(w *models.Webhook) webhookView {
	return webhookView{
		ID: w.ID, URL: w.URL, Events: w.EventList(), StoreID: w.StoreID, Owner: w.Owner(),
		Retry: w.Retry, Active: w.Active, PausedAt: inUTC(w.PausedAt), CreatedAt: w.CreatedAt.UTC(), Test: w.Test,
		FailingSince: inUTC(w.FailingSince), DeactivatedAt: inUTC(w.DeactivatedAt), DeactivatedReason: w.DeactivatedReason,
		Circuit: circuitView{
			State: w.Circuit(s.clock.Now()), Failures: w.ConsecutiveFailures, OpenedAt: inUTC(w.CircuitOpenedAt),
			NextProbeAt: inUTC(w.NextProbeAt),
		},
	}
}

func (s *Server) listWebhooks(c *gin.Context) error {
	active, err := webhooks.Active(c.Request.Context(), s.db, caller(c).Scope())
	if err != nil {
		return err
	}
	return ok(c, views(active, s.viewOfWebhook))
}

// panelListWebhooks also lists those that were deactivated.
func (s *Server) panelListWebhooks(c *gin.Context) error {
	all, err := s.webhooks.List(c.Request.Context(), caller(c).Scope())
	if err != nil {
		return err
	}
	return ok(c, views(all, s.viewOfWebhook))
}

func (s *Server) registerWebhook(c *gin.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	hook, secret, err := s.webhooks.Register(c.Request.Context(), caller(c).Scope(), in)
	if err != nil {
		return err
	}
	view := s.viewOfWebhook(hook)
	view.Secret = secret
	c.Header("Location", c.FullPath()+"/"+hook.ID.String())
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusCreated, envelope{
		Data: view, Message: "Guarde el secreto: no se volverá a mostrar.",
	})
}

// pathWebhook reads the webhook of the path, if it is one of the caller's.
func (s *Server) pathWebhook(c *gin.Context) (*models.Webhook, error) {
	id, err := pathID(c, webhooks.ErrNotFound)
	if err != nil {
		return nil, err
	}
	return s.webhooks.Webhook(c.Request.Context(), caller(c).Scope(), id)
}

// readWebhook shows one of the caller's webhooks, as the list does, also after its deactivation.
func (s *Server) readWebhook(c *gin.Context) error {
	hook, err := s.pathWebhook(c)
	if err != nil {
		return err
	}
	return ok(c, s.viewOfWebhook(hook))
}

// dailyView is how a webhook's deliveries of one day went.
type dailyView struct {
	Day       string `json:"day"`
	Delivered int64  `json:"delivered"`
	Failed    int64  `json:"failed"`
	Pending   int64  `json:"pending"`
}

// webhookHealth shows how a webhook's deliveries of the last days went.
func (s *Server) webhookHealth(c *gin.Context) error {
	hook, err := s.pathWebhook(c)
	if err != nil {
		return err
	}
	days, err := s.webhooks.Daily(c.Request.Context(), hook, caller(c).Operator.TimeZone())
	if err != nil {
		return err
	}
	return ok(c, gin.H{"days": views(days, func(d *webhooks.Day) dailyView {
		return dailyView{Day: d.Date, Delivered: d.Delivered, Failed: d.Failed, Pending: d.Pending}
	})})
}

// changeWebhook changes a webhook without giving it another secret, and pauses or resumes it.
func (s *Server) changeWebhook(c *gin.Context) error {
	id, in, err := idAndBody(c, webhooks.ErrNotFound, readBody)
	if err != nil {
		return err
	}
	read := func() (webhookView, error) {
		hook, err := s.pathWebhook(c)
		if err != nil {
			return webhookView{}, err
		}
		return s.viewOfWebhook(hook), nil
	}
	if err := refuseFixed(c, in, fixedInWebhook, read); err != nil {
		return err
	}
	hook, err := s.webhooks.Change(c.Request.Context(), caller(c).Scope(), id, in, nil)
	if err != nil {
		return err
	}
	return ok(c, s.viewOfWebhook(hook))
}

func (s *Server) deactivateWebhook(c *gin.Context) error {
	id, err := pathID(c, webhooks.ErrNotFound)
	if err != nil {
		return err
	}
	if err := s.webhooks.Deactivate(c.Request.Context(), caller(c).Scope(), id); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: "El webhook quedó desactivado."})
}

// rotateSecret gives a webhook a new secret. Deliveries are signed with both secrets for a day,
// unless the earlier ones are revoked.
func (s *Server) rotateSecret(c *gin.Context) error {
	id, in, err := idAndBody(c, webhooks.ErrNotFound, readOptionalBody)
	if err != nil {
		return err
	}
	rotation, err := s.webhooks.Rotate(c.Request.Context(), caller(c).Scope(), id, in)
	if err != nil {
		return err
	}
	view := s.viewOfWebhook(rotation.Webhook)
	view.Secret = rotation.Secret
	message := "Guarde el secreto nuevo: no se volverá a mostrar. El anterior vale 24 horas más."
	if rotation.Revoked {
		message = "Guarde el secreto nuevo: no se volverá a mostrar. Los anteriores ya no valen."
	}
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusOK, envelope{Data: view, Message: message})
}

func (s *Server) testWebhook(c *gin.Context) error {
	id, err := pathID(c, webhooks.ErrNotFound)
	if err != nil {
		return err
	}
	record, err := s.webhooks.Test(c.Request.Context(), caller(c).Scope(), id)
	if err != nil {
		return err
	}
	return ok(c, s.viewWithBodies(record))
}

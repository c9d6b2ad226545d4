package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/body"
	"despacho/internal/guard"
	"despacho/models"
	"despacho/orders"
	"despacho/webhooks"
)

type webhookView struct {
	ID        uuid.UUID      `json:"id"`
	URL       string         `json:"url"`
	Events    []models.Event `json:"events"`
	StoreID   *uuid.UUID     `json:"store_id"`
	Retry     bool           `json:"retry"`
	Active    bool           `json:"active"`
	CreatedAt time.Time      `json:"created_at"`
	// Secret is shown once, on registration.
	Secret string `json:"secret,omitempty"`
}

func viewOfWebhook(w *models.Webhook) webhookView {
	return webhookView{
		ID: w.ID, URL: w.URL, Events: w.EventList(), StoreID: w.StoreID,
		Retry: w.Retry, Active: w.Active, CreatedAt: w.CreatedAt.UTC(),
	}
}

func (s *Server) listWebhooks(c *gin.Context) error {
	active, err := s.db.ActiveWebhooks(c.Request.Context(), caller(c).Scope())
	if err != nil {
		return err
	}
	return ok(c, views(active, viewOfWebhook))
}

// panelWebhookView is a webhook as its owner's staff sees it: also when it is over, and why.
type panelWebhookView struct {
	webhookView
	FailingSince      *time.Time `json:"failing_since"`
	DeactivatedAt     *time.Time `json:"deactivated_at"`
	DeactivatedReason *string    `json:"deactivated_reason"`
}

func viewOfPanelWebhook(w *models.Webhook) panelWebhookView {
	return panelWebhookView{
		webhookView: viewOfWebhook(w), FailingSince: inUTC(w.FailingSince), DeactivatedAt: inUTC(w.DeactivatedAt), DeactivatedReason: w.DeactivatedReason,
	}
}

func (s *Server) panelListWebhooks(c *gin.Context) error {
	all, err := s.db.AllWebhooks(c.Request.Context(), caller(c).Scope(), orders.MaxPageSize)
	if err != nil {
		return err
	}
	return ok(c, views(all, viewOfPanelWebhook))
}

func (s *Server) registerWebhook(c *gin.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	who := caller(c)
	hook, err := s.readWebhook(c, in, who)
	if err != nil {
		return err
	}
	secret, err := s.webhooks.Register(c.Request.Context(), hook)
	if err != nil {
		return err
	}
	view := viewOfWebhook(hook)
	view.Secret = secret
	c.Header("Location", c.FullPath()+"/"+hook.ID.String())
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusCreated, envelope{
		Data: view, Message: "Guarde el secreto: no se volverá a mostrar.",
	})
}

func (s *Server) readWebhook(c *gin.Context, in *body.Object, who orders.Caller) (*models.Webhook, error) {
	address := in.RequiredText("url", 2048)
	if address != "" {
		if _, err := guard.CheckURL(address, s.config.WebhookAllowNets); err != nil {
			in.Complain("url", urlComplaint(err))
		}
	}
	events := readEvents(in)
	retry := in.Bool("retry")
	storeID := who.StoreID
	if storeID == nil {
		storeID = in.UUID("store_id")
		if storeID != nil {
			if stores, err := s.db.StoresOf(c.Request.Context(), who.Operator.ID, storeID); err != nil {
				return nil, err
			} else if len(stores) == 0 {
				in.Complain("store_id", "no es una tienda activa del operador")
			}
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return &models.Webhook{
		OperatorID: who.Operator.ID, StoreID: storeID, URL: address, Events: models.JoinEvents(events), Retry: retry != nil && *retry,
	}, nil
}

// readEvents reads at least one known event; the same event twice is one.
func readEvents(in *body.Object) []models.Event {
	words := in.TextList("events")
	if len(words) == 0 {
		in.Complain("events", "debe nombrar al menos un evento: "+eventWords)
		return nil
	}
	var events []models.Event
	for _, word := range words {
		event := models.Event(word)
		if !slices.Contains(models.Events, event) {
			in.Complain("events", "solo admite: "+eventWords)
			return nil
		}
		if !slices.Contains(events, event) {
			events = append(events, event)
		}
	}
	return events
}

var eventWords = strings.ReplaceAll(models.JoinEvents(models.Events), " ", ", ")

func urlComplaint(err error) string {
	var refused *guard.URLError
	if errors.As(err, &refused) {
		return strings.TrimSuffix(refused.Message(), ".")
	}
	return "no es una dirección válida"
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

// rotateSecret gives a webhook a new secret; the old one goes on signing beside it for a day.
func (s *Server) rotateSecret(c *gin.Context) error {
	id, err := pathID(c, webhooks.ErrNotFound)
	if err != nil {
		return err
	}
	hook, secret, err := s.webhooks.Rotate(c.Request.Context(), caller(c).Scope(), id)
	if err != nil {
		return err
	}
	view := viewOfWebhook(hook)
	view.Secret = secret
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusOK, envelope{
		Data: view, Message: "Guarde el secreto nuevo: no se volverá a mostrar. El anterior vale 24 horas más.",
	})
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
	return ok(c, viewOfDelivery(record))
}

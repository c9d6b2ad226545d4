package api

import (
	"time"

	"github.com/gin-gonic/gin"

	"despacho/db"
	"despacho/internal/fault"
	"despacho/internal/guide"
	"despacho/models"
)

// trackingPerMinute is how often one address may ask for packages: plenty for a customer, little for somebody who guesses codes.
const trackingPerMinute = 120

// errUnknownGuide is the same for codes that do not exist and texts that cannot be one, so that nothing is learned from it.
var errUnknownGuide = fault.New(fault.NotFound, "guide_code_not_found", "No encontramos un envío con ese código de guía.")

// trackingView is what anybody with the guide code learns: never the rider, the address or a name.
type trackingView struct {
	GuideCode     string          `json:"guide_code"`
	Status        models.Status   `json:"status"`
	StatusLabel   string          `json:"status_label"`
	Product       string          `json:"product"`
	Events        []trackingEvent `json:"events"`
	TenantName    string          `json:"tenant_name"`
	TenantLogoURL *string         `json:"tenant_logo_url"`
}

type trackingEvent struct {
	Type   string        `json:"type"`
	Status models.Status `json:"status"`
	Label  string        `json:"label"`
	At     time.Time     `json:"at"`
}

func (s *Server) track(c *gin.Context) error {
	if err := s.limitAddress(c, "track", trackingPerMinute); err != nil {
		return err
	}
	code, wellFormed := guide.Parse(c.Param("guide_code"))
	if !wellFormed {
		return errUnknownGuide
	}
	tracked, err := s.db.Track(c.Request.Context(), code)
	if db.IsNotFound(err) {
		return errUnknownGuide
	}
	if err != nil {
		return err
	}
	entries, err := s.db.Timeline(c.Request.Context(), tracked.ID, true)
	if err != nil {
		return err
	}
	view := trackingView{
		GuideCode: tracked.GuideCode, Status: tracked.Status, StatusLabel: tracked.Status.Label(), Product: tracked.Product,
		Events: make([]trackingEvent, len(entries)), TenantName: tracked.OperatorName, TenantLogoURL: tracked.LogoURL,
	}
	for i, entry := range entries {
		view.Events[i] = trackingEvent{Type: entry.Type, Status: entry.Status, Label: entry.Status.Label(), At: entry.At.UTC()}
	}
	c.Header("Cache-Control", "no-store")
	return ok(c, view)
}

package api

import (
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/guidecode"
	"despacho/internal/orders"
	"despacho/models"
)

// trackingPerMinute is how often one address may look up packages: enough for a customer, too
// little to guess codes.
const trackingPerMinute = 120

// errUnknownGuide is the same for codes that do not exist and for malformed ones, so that a
// response does not reveal which codes are well formed.
var errUnknownGuide = apperror.New(apperror.NotFound, "guide_code_not_found", "No encontramos un envío con ese código de guía.")

// trackingView is what anyone with the guide code may see: never the rider, the address or a name.
type trackingView struct {
	GuideCode     string          `json:"guide_code"`
	Status        models.Status   `json:"status"`
	StatusLabel   string          `json:"status_label"`
	Product       string          `json:"product"`
	Events        []trackingEvent `json:"events"`
	TenantName    string          `json:"tenant_name"`
	TenantLogoURL *string         `json:"tenant_logo_url"`
	// Test is there only in a test order.
	Test bool `json:"test,omitempty"`
}

type trackingEvent struct {
	Type   string        `json:"type"`
	Status models.Status `json:"status"`
	Label  string        `json:"label"`
	At     time.Time     `json:"at"`
}

// findPackage looks up a guide code as a person typed it, for the API and for the page.
func (s *Server) findPackage(c *gin.Context, typed string) (*orders.Tracked, error) {
	if err := s.limitAddress(c, "track", trackingPerMinute); err != nil {
		return nil, err
	}
	code, wellFormed := guidecode.Parse(typed)
	if !wellFormed {
		return nil, errUnknownGuide
	}
	tracked, err := s.orders.Track(c.Request.Context(), code)
	if errors.Is(err, orders.ErrOrderNotFound) {
		return nil, errUnknownGuide
	}
	return tracked, err
}

func (s *Server) track(c *gin.Context) error {
	found, err := s.findPackage(c, c.Param("guide_code"))
	if err != nil {
		return err
	}
	view := trackingView{
		GuideCode: found.GuideCode, Status: found.Status, StatusLabel: found.Status.Label(), Product: found.Product,
		Events: make([]trackingEvent, len(found.Steps)), TenantName: found.OperatorName,
		TenantLogoURL: found.Logo(s.config.BaseURL), Test: found.Test,
	}
	for i, step := range found.Steps {
		view.Events[i] = trackingEvent{Type: step.Type, Status: step.Status, Label: step.Label(), At: step.At.UTC()}
	}
	c.Header("Cache-Control", "no-store")
	return ok(c, view)
}

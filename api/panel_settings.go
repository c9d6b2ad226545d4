package api

import (
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/models"
)

// settingsView is what the operator configures itself, followed by what the service's administrator
// has set.
type settingsView struct {
	Name    string  `json:"name"`
	LogoURL *string `json:"logo_url"`
	// LogoFileURL is the address of an uploaded logo.
	LogoFileURL        *string      `json:"logo_file_url"`
	BasePrice          *money.Cents `json:"base_price"`
	ShareProofLocation bool         `json:"share_proof_location"`
	// ShareProofPhoto shows the photo of a delivery on the tracking page.
	ShareProofPhoto bool `json:"share_proof_photo"`
	// RequireSecondFactor demands a second factor of the operator's administrators.
	RequireSecondFactor bool      `json:"require_second_factor"`
	Rules               rulesView `json:"rules"`

	ID          uuid.UUID   `json:"id"`
	Plan        models.Plan `json:"plan"`
	Suspended   bool        `json:"suspended"`
	CountryCode string      `json:"country_code"`
	Timezone    string      `json:"timezone"`
	Currency    string      `json:"currency"`
}

// rulesView are the rules of attempts and deliveries as they hold, the defaults among them.
type rulesView struct {
	HiddenReasons    []models.FailureReason `json:"hidden_reasons"`
	NoteReasons      []models.FailureReason `json:"note_reasons"`
	PhotoReasons     []models.FailureReason `json:"photo_reasons"`
	Methods          []models.Method        `json:"methods"`
	ReferenceMethods []models.Method        `json:"reference_methods"`
	NeedsPhoto       bool                   `json:"needs_photo"`
	NeedsPoint       bool                   `json:"needs_point"`
	NeedsReceivedBy  bool                   `json:"needs_received_by"`
	PINOver          *money.Cents           `json:"pin_over"`
	AttemptFee       *money.Cents           `json:"attempt_fee"`
	Ceiling          *money.Cents           `json:"rider_ceiling"`
	OpenCount        bool                   `json:"open_count"`
	ReturnFee        *money.Cents           `json:"return_fee"`
	MaxAttempts      int                    `json:"max_attempts"`
	DecisionHours    int                    `json:"decision_hours"`
	UndoMinutes      int                    `json:"undo_minutes"`
	DeliveryDays     []int                  `json:"delivery_days"`
	WhatsAppTemplate string                 `json:"whatsapp_template"`
}

func viewOfRules(r models.Rules) rulesView {
	return rulesView{
		HiddenReasons: listed(r.HiddenReasons), NoteReasons: listed(r.NoteReasons), PhotoReasons: listed(r.PhotoReasons),
		Methods: r.Methods(), ReferenceMethods: listed(r.ReferenceMethods),
		NeedsPhoto: r.NeedsPhoto, NeedsPoint: r.NeedsPoint, NeedsReceivedBy: r.NeedsReceivedBy, PINOver: r.PINOver, AttemptFee: r.AttemptFee, ReturnFee: r.ReturnFee,
		Ceiling: r.Ceiling, OpenCount: r.OpenCount,
		MaxAttempts: r.MaxAttempts(), DecisionHours: int(r.DecisionTime().Hours()), UndoMinutes: int(r.UndoTime().Minutes()),
		DeliveryDays: r.DeliveryDays(), WhatsAppTemplate: r.WhatsAppTemplate(),
	}
}

// listed is a list that is never null.
func listed[T any](list []T) []T { return append([]T{}, list...) }

func (s *Server) viewOfSettings(o *models.Operator) settingsView {
	view := settingsView{
		Name: o.Name, LogoURL: o.LogoURL, BasePrice: o.BasePrice, ShareProofLocation: o.ShareProofLocation,
		ShareProofPhoto: o.ShareProofPhoto, RequireSecondFactor: o.RequireSecondFactor,
		Rules: viewOfRules(o.Rules),
		ID:    o.ID, Plan: o.Plan, Suspended: o.Suspended(), CountryCode: o.CountryCode, Timezone: o.Timezone, Currency: o.Currency,
	}
	if o.LogoPhoto != nil {
		view.LogoFileURL = o.Logo(s.config.BaseURL)
	}
	return view
}

func (s *Server) readSettings(c *gin.Context) error {
	return ok(c, s.viewOfSettings(caller(c).Operator))
}

func (s *Server) changeSettings(c *gin.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	operator, err := s.operators.ChangeSettings(c.Request.Context(), signedIn(c), in, nil)
	if err != nil {
		return err
	}
	return ok(c, s.viewOfSettings(operator))
}

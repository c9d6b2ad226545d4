package api

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/guidecode"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
)

// riderDay is what a rider's page shows.
type riderDay struct {
	Now    time.Time    `json:"now"`
	Rules  riderRules   `json:"rules"`
	Orders []riderOrder `json:"orders"`
	Totals riderTotals  `json:"totals"`
	Load   riderLoad    `json:"load"`
	// HandIns are today's, the latest first.
	HandIns []riderHandIn `json:"hand_ins"`
}

// riderHandIn is what the rider handed in at once.
type riderHandIn struct {
	Number     int         `json:"number"`
	At         time.Time   `json:"at"`
	OnAccount  bool        `json:"on_account"`
	Amount     money.Cents `json:"amount"`
	Difference money.Cents `json:"difference"`
}

type riderRules struct {
	Reasons          []riderReason `json:"reasons"`
	Methods          []riderMethod `json:"methods"`
	NeedsPhoto       bool          `json:"needs_photo"`
	NeedsPoint       bool          `json:"needs_point"`
	NeedsReceivedBy  bool          `json:"needs_received_by"`
	PINOver          *money.Cents  `json:"pin_over"`
	WhatsAppTemplate string        `json:"whatsapp_template"`
	Currency         string        `json:"currency"`
}

type riderReason struct {
	Code       models.FailureReason `json:"code"`
	Label      string               `json:"label"`
	NeedsNote  bool                 `json:"needs_note"`
	NeedsPhoto bool                 `json:"needs_photo"`
}

type riderMethod struct {
	Code           models.Method `json:"code"`
	Label          string        `json:"label"`
	NeedsReference bool          `json:"needs_reference"`
}

// riderOrder is a package with what the rider needs at the door, and nothing else of the order.
type riderOrder struct {
	ID                uuid.UUID          `json:"id"`
	GuideCode         string             `json:"guide_code"`
	Status            models.Status      `json:"status"`
	Substatus         *models.Substatus  `json:"substatus"`
	RecipientName     string             `json:"recipient_name"`
	RecipientPhone    string             `json:"recipient_phone"`
	DeliveryAddress   string             `json:"delivery_address"`
	DeliveryReference *string            `json:"delivery_reference"`
	Notes             *string            `json:"notes"`
	District          string             `json:"district"`
	Lat               *float64           `json:"lat"`
	Lng               *float64           `json:"lng"`
	MapsURL           *string            `json:"maps_url"`
	Product           string             `json:"product"`
	Size              string             `json:"size"`
	StoreName         string             `json:"store_name"`
	AmountToCollect   money.Cents        `json:"amount_to_collect"`
	PaymentType       models.PaymentType `json:"payment_type"`
	TrackingURL       string             `json:"tracking_url"`
	Loaded            bool               `json:"loaded"`
	Returning         bool               `json:"returning"`
	NeedsPIN          bool               `json:"needs_pin"`
	Attempts          []riderAttempt     `json:"attempts"`
	NextAttemptOn     *string            `json:"next_attempt_on"`
	Done              *riderDone         `json:"done"`
}

type riderAttempt struct {
	Number     int                  `json:"number"`
	Reason     models.FailureReason `json:"reason"`
	Label      string               `json:"label"`
	Note       *string              `json:"note"`
	OccurredAt time.Time            `json:"occurred_at"`
}

// riderDone is what the rider has done with a package since it was assigned.
type riderDone struct {
	Type      models.Move  `json:"type"`
	At        time.Time    `json:"at"`
	Collected *money.Cents `json:"collected"`
}

type riderTotals struct {
	InHand     int                `json:"in_hand"`
	Delivered  int                `json:"delivered"`
	Failed     int                `json:"failed"`
	ToHandIn   money.Cents        `json:"to_hand_in"`
	ToHandInBy []riderMethodTotal `json:"to_hand_in_by"`
}

type riderMethodTotal struct {
	Method models.Method `json:"method"`
	Label  string        `json:"label"`
	Amount money.Cents   `json:"amount"`
}

// riderLoad is how much of what was assigned to the rider they have confirmed to have.
type riderLoad struct {
	Expected    int        `json:"expected"`
	Confirmed   int        `json:"confirmed"`
	ConfirmedAt *time.Time `json:"confirmed_at"`
}

func (s *Server) readRiderDay(c *gin.Context) error {
	day, err := s.riderDay(c.Request.Context(), caller(c))
	if err != nil {
		return err
	}
	return ok(c, day)
}

func (s *Server) riderDay(ctx context.Context, rider orders.Caller) (*riderDay, error) {
	day, err := s.orders.RiderDay(ctx, rider)
	if err != nil {
		return nil, err
	}
	account, err := s.cash.AccountOf(ctx, rider.Operator, *rider.RiderID)
	if err != nil {
		return nil, err
	}
	shown := &riderDay{
		Now: s.clock.Now(), Rules: viewOfRiderRules(rider.Operator), Orders: make([]riderOrder, len(day.Orders)),
		Totals: riderTotals{InHand: day.InHand, Delivered: day.Delivered, Failed: day.Failed, ToHandIn: account.Total(),
			ToHandInBy: make([]riderMethodTotal, len(account.ByMethod))},
		Load:    riderLoad{Expected: day.InHand, Confirmed: day.Confirmed, ConfirmedAt: day.ConfirmedAt},
		HandIns: make([]riderHandIn, len(account.HandIns)),
	}
	for i, in := range account.HandIns {
		shown.HandIns[i] = riderHandIn{in.Number, in.At.UTC(), in.OnAccount, in.Total(), in.Difference}
	}
	for i, order := range day.Orders {
		shown.Orders[i] = s.viewOfRiderOrder(order)
	}
	for i, total := range account.ByMethod {
		shown.Totals.ToHandInBy[i] = riderMethodTotal{total.Method, total.Method.Label(), total.Amount}
	}
	return shown, nil
}

func viewOfRiderRules(operator *models.Operator) riderRules {
	rules := operator.Rules
	view := riderRules{NeedsPhoto: rules.NeedsPhoto, NeedsPoint: rules.NeedsPoint, NeedsReceivedBy: rules.NeedsReceivedBy,
		PINOver: rules.PINOver, WhatsAppTemplate: rules.WhatsAppTemplate(), Currency: operator.Currency}
	for _, reason := range rules.Reasons() {
		view.Reasons = append(view.Reasons, riderReason{reason, reason.Label(), rules.NeedsNote(reason), rules.NeedsPhotoFor(reason)})
	}
	for _, method := range rules.Methods() {
		view.Methods = append(view.Methods, riderMethod{method, method.Label(), rules.NeedsReference(method)})
	}
	return view
}

func (s *Server) viewOfRiderOrder(o orders.RiderOrder) riderOrder {
	view := riderOrder{
		ID: o.ID, GuideCode: o.GuideCode, Status: o.Status, Substatus: o.Substatus, RecipientName: o.RecipientName,
		RecipientPhone: o.RecipientPhone, DeliveryAddress: o.DeliveryAddress, DeliveryReference: o.DeliveryReference, Notes: o.Notes,
		District: o.Location.Name, Lat: o.DeliveryLat, Lng: o.DeliveryLng, MapsURL: o.DeliveryMapsURL, Product: o.Product,
		Size: o.Size, StoreName: o.StoreName, AmountToCollect: o.AmountToCollect, PaymentType: o.PaymentType,
		TrackingURL: s.config.BaseURL + "/track/" + o.GuideCode, Loaded: o.LoadedAt != nil, NeedsPIN: o.NeedsPIN,
		Returning: o.Substatus != nil && *o.Substatus == models.SubstatusReturning, NextAttemptOn: o.NextAttemptOn,
		Attempts: make([]riderAttempt, len(o.FailedAttempts)),
	}
	for i, a := range o.FailedAttempts {
		view.Attempts[i] = riderAttempt{a.Number, a.Reason, a.Reason.Label(), a.Note, a.OccurredAt}
	}
	switch last := len(o.FailedAttempts) - 1; {
	case o.Status == models.StatusDelivered:
		view.Done = &riderDone{Type: models.MoveDeliver, At: *o.DeliveredAt, Collected: o.ActualAmountCollected}
	case o.Substatus != nil && last >= 0:
		view.Done = &riderDone{Type: models.MoveFail, At: o.FailedAttempts[last].OccurredAt}
	}
	return view
}

// confirmedLoad is a load that was confirmed, with what differs.
type confirmedLoad struct {
	Confirmed int              `json:"confirmed"`
	Missing   []missingPackage `json:"missing"`
	Extra     []extraPackage   `json:"extra"`
	Day       *riderDay        `json:"day"`
}

type missingPackage struct {
	OrderID       uuid.UUID `json:"order_id"`
	GuideCode     string    `json:"guide_code"`
	RecipientName string    `json:"recipient_name"`
	District      string    `json:"district"`
}

type extraPackage struct {
	Code      string  `json:"code"`
	GuideCode *string `json:"guide_code"`
	Message   string  `json:"message"`
}

func (s *Server) confirmLoad(c *gin.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	load, err := orders.ReadLoad(in)
	if err != nil {
		return err
	}
	ctx, rider := c.Request.Context(), caller(c)
	loaded, err := s.orders.ConfirmLoad(ctx, rider, load)
	if err != nil {
		return err
	}
	day, err := s.riderDay(ctx, rider)
	if err != nil {
		return err
	}
	shown := confirmedLoad{Confirmed: loaded.Confirmed, Missing: []missingPackage{}, Extra: []extraPackage{}, Day: day}
	for _, o := range day.Orders {
		if o.Status == models.StatusAssigned && !o.Loaded {
			shown.Missing = append(shown.Missing, missingPackage{o.ID, o.GuideCode, o.RecipientName, o.District})
		}
	}
	for _, e := range loaded.Extra {
		extra := extraPackage{Code: e.Code, Message: e.Message}
		if guide, valid := guidecode.Parse(e.Code); valid {
			extra.GuideCode = &guide
		}
		shown.Extra = append(shown.Extra, extra)
	}
	return ok(c, shown)
}

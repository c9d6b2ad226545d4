package orders

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/internal/photos"
	"despacho/models"
)

// Public are the fields of an order that the API, the panel and the receivers of events see.
type Public struct {
	ID                    uuid.UUID          `json:"id"`
	GuideCode             string             `json:"guide_code"`
	ExternalID            *string            `json:"external_id"`
	Status                models.Status      `json:"status"`
	StatusLabel           string             `json:"status_label"`
	Substatus             *models.Substatus  `json:"substatus"`
	StoreID               *uuid.UUID         `json:"store_id"`
	BranchID              uuid.UUID          `json:"branch_id"`
	RecipientName         string             `json:"recipient_name"`
	RecipientPhone        string             `json:"recipient_phone"`
	DeliveryAddress       string             `json:"delivery_address"`
	DeliveryReference     *string            `json:"delivery_reference"`
	Location              LocationRef        `json:"location"`
	Product               string             `json:"product"`
	Size                  string             `json:"size"`
	AmountToCollect       money.Cents        `json:"amount_to_collect"`
	ActualAmountCollected *money.Cents       `json:"actual_amount_collected"`
	ShippingCost          money.Cents        `json:"shipping_cost"`
	PaymentType           models.PaymentType `json:"payment_type"`
	OperativeDay          string             `json:"operative_day"`
	Rider                 *RiderView         `json:"rider"`
	CreatedAt             time.Time          `json:"created_at"`
	ReceivedAt            *time.Time         `json:"received_at"`
	DeliveredAt           *time.Time         `json:"delivered_at"`
	FailedAttempts        []AttemptView      `json:"attempts"`
	NextAttemptOn         *string            `json:"next_attempt_on"`
	DecisionDeadline      *time.Time         `json:"decision_deadline"`
	Collections           models.Collections `json:"collections"`
	ReceivedBy            *string            `json:"received_by"`
}

// AttemptView is an attempt at the delivery that failed.
type AttemptView struct {
	Number     int                  `json:"number"`
	Reason     models.FailureReason `json:"reason"`
	Note       *string              `json:"note"`
	PhotoURL   *string              `json:"photo_url"`
	OccurredAt time.Time            `json:"occurred_at"`
	RecordedAt time.Time            `json:"recorded_at"`
	Lat        *float64             `json:"lat,omitempty"`
	Lng        *float64             `json:"lng,omitempty"`
	// ThumbnailURL is for the panel's pages, Photo is the name of the file.
	ThumbnailURL string     `json:"-"`
	Photo        string     `json:"-"`
	RiderID      *uuid.UUID `json:"-"`
}

// View is an order as the API and the panel return it: the same object in create, read and list.
type View struct {
	Public
	RecipientDocType     *models.DocType     `json:"recipient_doc_type"`
	RecipientDocNumber   *string             `json:"recipient_doc_number"`
	RecipientDocVerified *bool               `json:"recipient_doc_verified"`
	DeliveryType         models.DeliveryType `json:"delivery_type"`
	LocationID           uuid.UUID           `json:"location_id"`
	DeliveryLat          *float64            `json:"delivery_lat"`
	DeliveryLng          *float64            `json:"delivery_lng"`
	DeliveryMapsURL      *string             `json:"delivery_maps_url"`
	Notes                *string             `json:"notes"`
	Currency             string              `json:"currency"`
	DeliveryProof        *ProofView          `json:"delivery_proof"`
	Cancellation         *CancellationView   `json:"cancellation"`
	AssignedAt           *time.Time          `json:"assigned_at"`
	CancelledAt          *time.Time          `json:"cancelled_at"`
	// Test is there only in a test order.
	Test bool `json:"test,omitempty"`
	// Version is the order's Seq, for the panel.
	Version int `json:"-"`
	// RiskZone is the name of the risk zone that the destination was in when the order was created or
	// corrected, for the panel.
	RiskZone *string `json:"-"`
	// LoadedAt is when the rider has confirmed to have the package, for the panel.
	LoadedAt *time.Time `json:"-"`
	// RiderID is the rider, for the panel.
	RiderID *uuid.UUID `json:"-"`
}

// refersTo reports whether the photo is the order's.
func (v *View) refersTo(photo string) bool {
	return v.DeliveryProof != nil && v.DeliveryProof.Photo == photo ||
		slices.ContainsFunc(v.FailedAttempts, func(a AttemptView) bool { return a.Photo == photo })
}

// Since is when the order reached its status.
func (v *View) Since() time.Time {
	at := map[models.Status]*time.Time{
		models.StatusReceived: v.ReceivedAt, models.StatusAssigned: v.AssignedAt, models.StatusDelivered: v.DeliveredAt,
		models.StatusCancelled: v.CancelledAt,
	}[v.Status]
	if at == nil {
		return v.CreatedAt
	}
	return *at
}

// TimedOut reports whether the order cancelled itself: it can still be received.
func (v *View) TimedOut() bool { return v.Cancellation != nil && v.Cancellation.By == models.ByAuto }

// LacksPoint reports whether somebody has yet to find out where on the map the order goes.
func (v *View) LacksPoint() bool { return v.DeliveryLat == nil && v.Status.Open() }

// eventData is `data` of contract 6.1: every event has every field, null if unset. It never
// contains the document, the notes or the delivery point.
type eventData struct {
	Public
	DeliveryProof *ProofView `json:"delivery_proof,omitempty"`
	// Changed are the members that order.updated tells about.
	Changed []string `json:"changed,omitempty"`
}

// LocationRef is a location by id and name.
type LocationRef struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// RiderView is the rider as shown to a store.
type RiderView struct {
	Name  string `json:"name"`
	Phone string `json:"phone"`
}

// ProofView is the rider's latest photo.
type ProofView struct {
	PhotoURL   string     `json:"photo_url"`
	CapturedAt *time.Time `json:"captured_at"`
	Lat        *float64   `json:"lat,omitempty"`
	Lng        *float64   `json:"lng,omitempty"`
	// ThumbnailURL is for the panel's pages.
	ThumbnailURL string `json:"-"`
	// Photo is the name of the file.
	Photo string `json:"-"`
}

// CancellationView is who cancelled the order and why.
type CancellationView struct {
	By     models.Actor `json:"by"`
	Reason *string      `json:"reason"`
	Note   *string      `json:"note"`
}

// public renders what everybody sees. The addresses of photos are made by photoURL.
func public(o *models.OrderView, withLocation bool, photoURL func(string) string) Public {
	collections := o.Collections
	if collections == nil {
		collections = models.Collections{}
	}
	return Public{
		ID: o.ID, GuideCode: o.GuideCode, ExternalID: o.ExternalID, Status: o.Status, StatusLabel: o.Status.Label(),
		Substatus: o.Substatus, FailedAttempts: attemptViews(o.Attempts, withLocation, photoURL), NextAttemptOn: o.NextAttemptOn,
		DecisionDeadline: utc(o.DecisionDeadline), Collections: collections, ReceivedBy: o.ReceivedBy,
		StoreID: o.StoreID, BranchID: o.BranchID,
		RecipientName: o.RecipientName, RecipientPhone: o.RecipientPhone,
		DeliveryAddress: o.DeliveryAddress, DeliveryReference: o.DeliveryReference,
		Location: LocationRef{ID: o.LocationID, Name: o.LocationName}, Product: o.Product, Size: o.Size,
		AmountToCollect: o.AmountToCollect, ActualAmountCollected: o.ActualAmountCollected,
		ShippingCost: o.ShippingCost, PaymentType: o.PaymentType, OperativeDay: o.OperativeDay, Rider: riderView(o),
		CreatedAt: o.CreatedAt.UTC(), ReceivedAt: utc(o.ReceivedAt), DeliveredAt: utc(o.DeliveredAt),
	}
}

func attemptViews(attempts models.Attempts, withLocation bool, photoURL func(string) string) []AttemptView {
	views := make([]AttemptView, len(attempts))
	for i, a := range attempts {
		views[i] = AttemptView{Number: a.Number, Reason: a.Reason, Note: textOrNull(a.Note), RiderID: a.RiderID, Photo: a.Photo,
			OccurredAt: a.OccurredAt.UTC(), RecordedAt: a.RecordedAt.UTC()}
		if a.Photo != "" {
			address := photoURL(a.Photo)
			views[i].PhotoURL, views[i].ThumbnailURL = &address, photoURL(photos.ThumbnailName(a.Photo))
		}
		if withLocation {
			views[i].Lat, views[i].Lng = a.Lat, a.Lng
		}
	}
	return views
}

// view renders an order; withProofLocation includes where photos were taken.
func (s *Service) view(o *models.OrderView, withProofLocation bool) *View {
	view := &View{
		Public:           public(o, withProofLocation, s.PhotoURL),
		RecipientDocType: o.RecipientDocType, RecipientDocNumber: s.shownDocument(&o.Order),
		RecipientDocVerified: o.RecipientDocVerified,
		DeliveryType:         o.DeliveryType, LocationID: o.LocationID,
		DeliveryLat: o.DeliveryLat, DeliveryLng: o.DeliveryLng, DeliveryMapsURL: o.DeliveryMapsURL,
		Notes: o.Notes, Currency: o.Currency, DeliveryProof: s.proofView(&o.Order, withProofLocation),
		AssignedAt: utc(o.AssignedAt), CancelledAt: utc(o.CancelledAt), Test: o.Test, Version: o.Seq, RiskZone: o.RiskZone,
		LoadedAt: utc(o.LoadedAt), RiderID: o.RiderID,
	}
	if o.CancelledBy != nil {
		view.Cancellation = &CancellationView{By: *o.CancelledBy, Reason: o.CancelReason, Note: o.CancelNote}
	}
	return view
}

func (s *Service) eventData(o *models.OrderView, withProofLocation bool) eventData {
	return eventData{Public: public(o, withProofLocation, s.options.PhotoURLs.Unsigned),
		DeliveryProof: s.eventProof(&o.Order, withProofLocation)}
}

func riderView(o *models.OrderView) *RiderView {
	if o.RiderName == nil || o.RiderPhone == nil {
		return nil
	}
	return &RiderView{Name: *o.RiderName, Phone: *o.RiderPhone}
}

// proofView is the order's photo with addresses that are signed now.
func (s *Service) proofView(o *models.Order, withLocation bool) *ProofView {
	proof := s.eventProof(o, withLocation)
	if proof != nil {
		now := s.clock.Now()
		proof.PhotoURL = s.options.PhotoURLs.Signed(proof.Photo, now)
		proof.ThumbnailURL = s.options.PhotoURLs.Signed(photos.ThumbnailName(proof.Photo), now)
	}
	return proof
}

// eventProof has the address without a signature: an event is signed when it is sent, which may be
// long after it was stored.
func (s *Service) eventProof(o *models.Order, withLocation bool) *ProofView {
	if o.ProofPhoto == nil {
		return nil
	}
	proof := &ProofView{PhotoURL: s.options.PhotoURLs.Unsigned(*o.ProofPhoto), Photo: *o.ProofPhoto,
		CapturedAt: utc(o.ProofCapturedAt)}
	if withLocation {
		proof.Lat, proof.Lng = o.ProofLat, o.ProofLng
	}
	return proof
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	inUTC := t.UTC()
	return &inUTC
}

package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/internal/guidecode"
	"despacho/internal/identity"
	"despacho/internal/jsonbody"
	"despacho/internal/maplink"
	"despacho/models"
	"despacho/workflows"
)

// Created is a new order and what its creator should pay attention to.
type Created struct {
	Order   *View
	Warning string
}

// CreateResponse is the response to a creation, as it is sent and, under an Idempotency-Key,
// remembered.
type CreateResponse struct {
	Status   int
	Location string
	Body     []byte
	// Replayed says that nothing was created: this is the answer to the first request.
	Replayed bool
}

// Create registers an order. In one transaction it writes the order, its first timeline entry, the
// deliveries of order.created and, under an Idempotency-Key, the answer that render makes; then it
// starts the order's workflow. If Temporal is away the order stands all the same and its workflow
// starts later.
func (s *Service) Create(ctx context.Context, caller Caller, in *jsonbody.Object, key string, render func(*Created) (CreateResponse, error)) (CreateResponse, error) {
	if key == "" {
		return s.create(ctx, caller, in, nil, render)
	}
	return s.withIdempotencyKey(ctx, caller, in, key, func(record *models.IdempotencyRecord) (CreateResponse, error) {
		return s.create(ctx, caller, in, record, render)
	})
}

func (s *Service) create(ctx context.Context, caller Caller, in *jsonbody.Object, record *models.IdempotencyRecord, render func(*Created) (CreateResponse, error)) (CreateResponse, error) {
	settings, err := s.settings.get(ctx, caller.Operator)
	if err != nil {
		return CreateResponse{}, err
	}
	draft, err := s.draft(ctx, caller, settings, in)
	if err != nil {
		return CreateResponse{}, err
	}
	order, err := s.newOrderView(caller, draft)
	if err != nil {
		return CreateResponse{}, err
	}
	answer, err := render(&Created{Order: s.view(order, caller.SeesProofLocation()), Warning: draft.warning()})
	if err != nil {
		return CreateResponse{}, err
	}
	deliveries, err := s.deliveriesOf(models.EventCreated, order, subscribed(settings.webhooks, models.EventCreated, order.StoreID), caller.Operator.ShareProofLocation, order.CreatedAt)
	if err != nil {
		return CreateResponse{}, err
	}
	if err := s.insert(ctx, caller, order, deliveries, record, answer); err != nil {
		return CreateResponse{}, err
	}
	s.startNew(ctx, &order.Order, caller.Operator, settings, deliveries)
	return answer, nil
}

// register makes an order of a draft: it gets its identity, its guide code and its time.
func (s *Service) newOrderView(caller Caller, draft *draft) (*models.OrderView, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	in, now := draft.newOrder, s.clock.Now()
	order := models.Order{
		ID: id, OperatorID: caller.Operator.ID, StoreID: in.storeID, BranchID: draft.branch.ID,
		GuideCode: guidecode.New(), Status: models.StatusRegistered, Seq: 1,
		RecipientName: in.recipientName, RecipientPhone: in.recipientPhone,
		RecipientDocType: in.docType, RecipientDocNumber: in.docNumber, RecipientDocVerified: initialDNIVerified(in),
		DeliveryType: in.deliveryType, DeliveryAddress: in.address, DeliveryReference: in.reference,
		LocationID: in.locationID, DeliveryMapsURL: in.mapsURL,
		Product: in.product, Size: sizeCode(draft.size), Notes: in.notes,
		AmountToCollect: in.amount, PaymentType: in.paymentType, ShippingCost: draft.price, Currency: caller.Operator.Currency,
		OperativeDay: operativeDay(now, caller.Operator),
		AutoCancelAt: now.Add(s.options.AutoCancelAfter), CreatedAt: now, UpdatedAt: now,
	}
	order.SearchText = searchText(&order)
	resolvePoint(&order, in, caller.Operator.CountryCode)
	if draft.risk != nil {
		order.RiskZone = &draft.risk.Name
	}
	return &models.OrderView{Order: order, LocationName: draft.destination[0].Name}, nil
}

// store writes the order. A guide code that is taken fails it; among fifty random bits nobody will
// live to see that.
func (s *Service) insert(ctx context.Context, caller Caller, order *models.OrderView, deliveries []models.WebhookDelivery, record *models.IdempotencyRecord, answer CreateResponse) error {
	entryID, err := uuid.NewV7()
	if err != nil {
		return err
	}
	seq := order.Seq
	entry := &models.TimelineEntry{
		ID: entryID, OrderID: order.ID, Seq: &seq, Type: models.TimelineCreated,
		Status: order.Status, By: string(caller.Actor()), At: order.CreatedAt,
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.InsertOrder(ctx, &order.Order, entry, deliveries); err != nil {
			return err
		}
		if record == nil {
			return nil
		}
		err := tx.SaveKeyResponse(ctx, record, answer.Status, answer.Location, answer.Body)
		if db.IsNotFound(err) {
			return ErrKeyInProgress // the lease ran out and another request holds the key now
		}
		return err
	})
}

// declaredDNI answers what can be said without asking anybody: a DNI that is not eight digits is
// not verified.
func initialDNIVerified(in *newOrder) *bool {
	if in.docType == nil || *in.docType != models.DocDNI || in.docNumber == nil {
		return nil
	}
	if identity.IsDNI(*in.docNumber) {
		return nil
	}
	no := false
	return &no
}

func operativeDay(at time.Time, operator *models.Operator) string {
	return at.In(operator.TimeZone()).Format(time.DateOnly)
}

// locate sets the order's point: the one sent, else the one that the map link holds in plain sight.
func resolvePoint(order *models.Order, in *newOrder, countryCode string) {
	if in.lat != nil && in.lng != nil {
		setPoint(order, *in.lat, *in.lng, models.PointGiven)
		return
	}
	if in.mapsURL == nil {
		return
	}
	bounds, _ := maplink.Country(countryCode)
	point, err := maplink.ParseIn(*in.mapsURL, bounds)
	if err != nil {
		return
	}
	setPoint(order, point.Lat, point.Lng, string(point.Source))
}

// place sets the point. Adding zero turns minus zero into zero: SQLite would, and the answer shows
// what will be read.
func setPoint(order *models.Order, lat, lng float64, source string) {
	lat, lng = lat+0, lng+0
	order.DeliveryLat, order.DeliveryLng, order.PointSource = &lat, &lng, &source
}

func fieldError(field, message string) error {
	var fields apperror.Fields
	fields.Add(field, message)
	return fields.Err()
}

// startNew starts the workflow of an order that was just written.
func (s *Service) startNew(ctx context.Context, order *models.Order, operator *models.Operator, settings *settings, deliveries []models.WebhookDelivery) {
	snapshot := &workflows.Snapshot{
		Status: order.Status, Seq: order.Seq, GuideCode: order.GuideCode, AutoCancelAt: order.AutoCancelAt,
		Deliveries: deliveryRefs(settings.webhooks, deliveries), ResolveMapLink: needsMapLink(order), VerifyIdentity: s.needsIdentityCheck(order, operator),
	}
	s.start(ctx, order, settings.storeName(order.StoreID), snapshot)
}

// needsVerifying reports whether there is a Peruvian DNI to check and somebody to ask.
func (s *Service) needsIdentityCheck(order *models.Order, operator *models.Operator) bool {
	return s.options.VerifyDNI && operator.CountryCode == "PE" && order.NeedsIdentityCheck()
}

// needsResolving reports whether a map link still has to be followed over the network.
func needsMapLink(order *models.Order) bool {
	return order.DeliveryLat == nil && order.DeliveryMapsURL != nil
}

package orders

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/guidecode"
	"despacho/internal/identity"
	"despacho/internal/jsonbody"
	"despacho/internal/maplink"
	"despacho/models"
	"despacho/workflows"
)

// Created is the outcome of a creation.
type Created struct {
	Order *View
	// JSON is Order as JSON. If the creation was replayed it is as the first request got it, though
	// View may have changed since.
	JSON json.RawMessage
	// Warning is for the creator of the order, or empty.
	Warning string
	// Replayed means that nothing was created: an earlier request with the same Idempotency-Key
	// created the order.
	Replayed bool
}

// Create creates an order. One transaction writes the order, its first timeline entry, the event
// order.created with its deliveries and, under an Idempotency-Key, the outcome. The workflow is
// started beside the answer: the order is safe once it is committed, and what the starter cannot
// start, the reconcile workflow does.
func (s *Service) Create(ctx context.Context, caller Caller, in *jsonbody.Object, key string) (*Created, error) {
	if key == "" {
		return s.create(ctx, caller, in, nil)
	}
	return s.withIdempotencyKey(ctx, caller, in, key, func(record *models.IdempotencyRecord) (*Created, error) {
		return s.create(ctx, caller, in, record)
	})
}

func (s *Service) create(
	ctx context.Context, caller Caller, in *jsonbody.Object, record *models.IdempotencyRecord,
) (*Created, error) {
	settings, err := s.settings.get(ctx, caller.Operator)
	if err != nil {
		return nil, err
	}
	draft, err := s.draft(ctx, caller, settings, in)
	if err != nil {
		return nil, err
	}
	if draft.scenario.outage {
		if err := s.testOutage(ctx, caller, in, record); err != nil {
			return nil, err
		}
	}
	order, err := s.newOrderView(caller, draft)
	if err != nil {
		return nil, err
	}
	created := &Created{Order: s.View(caller, order), Warning: draft.warning()}
	if created.JSON, err = json.Marshal(created.Order); err != nil {
		return nil, err
	}
	entry, err := creationEntry(caller, &order.Order)
	if err != nil {
		return nil, err
	}
	event, err := s.feedEvent(entry.ID, models.EventCreated, order, nil, caller.Operator.ShareProofLocation, order.CreatedAt)
	if err != nil {
		return nil, err
	}
	deliveries, err := deliveriesOf(event, order.Seq, subscribed(settings.webhooks, models.EventCreated, &order.Order), nil)
	if err != nil {
		return nil, err
	}
	insert := func(tx *db.DB) error {
		for _, row := range []any{&order.Order, entry, event} {
			if err := tx.Insert(ctx, row); err != nil {
				return err
			}
		}
		if err := tx.InsertDeliveries(ctx, deliveries); err != nil {
			return err
		}
		return SaveTotals(ctx, tx, caller.Operator, nil, &order.Order)
	}
	if err := s.insert(ctx, insert, record, created); err != nil {
		return nil, err
	}
	s.starter.add(ctx, s.workflowStart(&order.Order, caller.Operator, settings, deliveries))
	return created, nil
}

// newOrderView builds the order from a draft, with its id, guide code and times.
func (s *Service) newOrderView(caller Caller, draft *draft) (*models.OrderView, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	order, operator, now := draft.Order, caller.Operator, s.clock.Now()
	order.ID, order.OperatorID, order.BranchID = id, operator.ID, draft.branch.ID
	order.GuideCode, order.Status, order.Seq = guidecode.New(), models.StatusRegistered, 1
	order.RecipientDocVerified = initialDNIVerified(&order)
	s.encryptDocument(&order)
	order.Size, order.ShippingCost, order.Currency = sizeCode(draft.size), draft.price, operator.Currency
	order.OperativeDay, order.AutoCancelAt = operativeDay(now, operator), now.Add(s.options.AutoCancelAfter)
	order.CreatedAt, order.UpdatedAt = now, now
	view := &models.OrderView{Order: order, LocationName: draft.destination[0].Name}
	order.SearchText = searchText(view)
	if !draft.scenario.linkUnresolved || order.DeliveryLat != nil {
		resolvePoint(&order, operator.CountryCode)
	}
	if draft.risk != nil {
		order.RiskZone = &draft.risk.Name
	}
	view.Order = order
	return view, nil
}

// creationEntry is the first entry of an order's timeline.
func creationEntry(caller Caller, order *models.Order) (*models.TimelineEntry, error) {
	id, err := uuid.NewV7()
	seq := order.Seq
	return &models.TimelineEntry{
		ID: id, OrderID: order.ID, Seq: &seq, Type: models.TimelineCreated,
		Status: order.Status, By: string(caller.Actor()), UserID: caller.UserID, KeyID: caller.KeyID, At: order.CreatedAt,
	}, err
}

// insert writes the order. A duplicate guide code fails the insert; with 50 random bits a retry is
// pointless.
func (s *Service) insert(
	ctx context.Context, insert func(tx *db.DB) error, record *models.IdempotencyRecord, created *Created,
) error {
	if record == nil {
		return s.db.InPipeline(ctx, insert)
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := insert(tx); err != nil {
			return err
		}
		return saveCreated(ctx, tx, record, created)
	})
}

// initialDNIVerified is false for a DNI that is not eight digits, which needs no lookup, and
// otherwise nil.
func initialDNIVerified(order *models.Order) *bool {
	if order.RecipientDocType == nil || *order.RecipientDocType != models.DocDNI || order.RecipientDocNumber == nil {
		return nil
	}
	if identity.IsDNI(*order.RecipientDocNumber) {
		return nil
	}
	no := false
	return &no
}

func operativeDay(at time.Time, operator *models.Operator) string {
	return at.In(operator.TimeZone()).Format(time.DateOnly)
}

// resolvePoint sets the order's point: the one in the request, else the one contained in the map
// link.
func resolvePoint(order *models.Order, countryCode string) {
	if order.DeliveryLat != nil && order.DeliveryLng != nil {
		setPoint(order, *order.DeliveryLat, *order.DeliveryLng, models.PointGiven)
		return
	}
	if order.DeliveryMapsURL == nil {
		return
	}
	bounds, _ := maplink.Country(countryCode)
	point, err := maplink.ParseIn(*order.DeliveryMapsURL, bounds)
	if err != nil {
		return
	}
	setPoint(order, point.Lat, point.Lng, string(point.Source))
}

// setPoint sets the point. Adding zero turns minus zero into zero, as SQLite does, so that the
// response shows what will be read back.
func setPoint(order *models.Order, lat, lng float64, source string) {
	lat, lng = lat+0, lng+0
	order.DeliveryLat, order.DeliveryLng, order.PointSource = &lat, &lng, &source
}

func fieldError(field, message string) error {
	var fields apperror.Fields
	fields.Add(field, message)
	return fields.Err()
}

// workflowStart is what the workflow of a created order starts with.
func (s *Service) workflowStart(
	order *models.Order, operator *models.Operator, settings *settings, deliveries []models.WebhookDelivery,
) workflowStart {
	return workflowStart{Order: order, storeName: settings.storeName(order.StoreID), snapshot: &workflows.Snapshot{
		State: order.State(), Seq: order.Seq, GuideCode: order.GuideCode, AutoCancelAt: order.AutoCancelAt,
		Calls: callsOf(settings.webhooks, deliveries), ResolveMapLink: needsMapLink(order),
		VerifyIdentity: s.needsIdentityCheck(order, operator),
	}}
}

// needsIdentityCheck reports whether there is a Peruvian DNI to verify and a provider for it. A
// test order needs none.
func (s *Service) needsIdentityCheck(order *models.Order, operator *models.Operator) bool {
	return (s.options.VerifiesIdentity || order.Test) && operator.CountryCode == "PE" && order.NeedsIdentityCheck()
}

// needsMapLink reports whether a map link has to be resolved over the network.
func needsMapLink(order *models.Order) bool {
	return order.DeliveryLat == nil && order.DeliveryMapsURL != nil
}

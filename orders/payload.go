package orders

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/models"
)

// eventData is `data` of contract 6.1: every event has every field, null if unset. It never
// contains the document, the notes or the delivery point.
type eventData struct {
	ID                    uuid.UUID          `json:"id"`
	GuideCode             string             `json:"guide_code"`
	Status                models.Status      `json:"status"`
	StatusLabel           string             `json:"status_label"`
	StoreID               *uuid.UUID         `json:"store_id"`
	BranchID              uuid.UUID          `json:"branch_id"`
	RecipientName         string             `json:"recipient_name"`
	RecipientPhone        string             `json:"recipient_phone"`
	DeliveryAddress       string             `json:"delivery_address"`
	DeliveryReference     *string            `json:"delivery_reference"`
	Product               string             `json:"product"`
	Size                  string             `json:"size"`
	AmountToCollect       money.Cents        `json:"amount_to_collect"`
	ActualAmountCollected *money.Cents       `json:"actual_amount_collected"`
	ShippingCost          money.Cents        `json:"shipping_cost"`
	PaymentType           models.PaymentType `json:"payment_type"`
	OperativeDay          string             `json:"operative_day"`
	CreatedAt             time.Time          `json:"created_at"`
	ReceivedAt            *time.Time         `json:"received_at"`
	DeliveredAt           *time.Time         `json:"delivered_at"`
	Rider                 *RiderView         `json:"rider"`
	Location              LocationRef        `json:"location"`
	DeliveryProof         *ProofView         `json:"delivery_proof,omitempty"`
}

// deliveriesOf creates the deliveries of an event with its data as of now. A store's webhook gets
// the photo's location only if the operator shares it.
func (s *Service) deliveriesOf(event models.Event, o *models.OrderView, webhooks []models.Webhook, shareProofLocation bool, at time.Time) ([]models.WebhookDelivery, error) {
	var deliveries []models.WebhookDelivery
	for _, webhook := range webhooks {
		data, err := json.Marshal(s.eventData(o, webhook.StoreID == nil || shareProofLocation))
		if err != nil {
			return nil, err
		}
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		deliveries = append(deliveries, models.WebhookDelivery{
			ID: id, WebhookID: webhook.ID, OperatorID: o.OperatorID, OrderID: &o.ID, OrderSeq: o.Seq,
			Event: event, Data: string(data), Status: models.WebhookDeliveryPending, NextAttemptAt: &at, CreatedAt: at,
		})
	}
	return deliveries, nil
}

func (s *Service) eventData(o *models.OrderView, withProofLocation bool) eventData {
	return eventData{
		ID: o.ID, GuideCode: o.GuideCode, Status: o.Status, StatusLabel: o.Status.Label(),
		StoreID: o.StoreID, BranchID: o.BranchID,
		RecipientName: o.RecipientName, RecipientPhone: o.RecipientPhone,
		DeliveryAddress: o.DeliveryAddress, DeliveryReference: o.DeliveryReference,
		Product: o.Product, Size: o.Size,
		AmountToCollect: o.AmountToCollect, ActualAmountCollected: o.ActualAmountCollected,
		ShippingCost: o.ShippingCost, PaymentType: o.PaymentType, OperativeDay: o.OperativeDay,
		CreatedAt: o.CreatedAt.UTC(), ReceivedAt: utc(o.ReceivedAt), DeliveredAt: utc(o.DeliveredAt),
		Rider: riderView(o), Location: LocationRef{ID: o.LocationID, Name: o.LocationName},
		DeliveryProof: s.proofView(&o.Order, withProofLocation),
	}
}

package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/models"
)

// eraseEventsOf removes the personal data of an order's events, as they are sent and as the feed
// lists them.
func eraseEventsOf(ctx context.Context, tx *db.DB, orderID uuid.UUID, now time.Time) error {
	deliveries, err := lockDeliveries(ctx, tx, orderID)
	if err != nil {
		return err
	}
	if err := eraseDeliveries(ctx, tx, deliveries, now); err != nil {
		return err
	}
	events, err := lockFeedEvents(ctx, tx, orderID)
	if err != nil {
		return err
	}
	return eraseFeedEvents(ctx, tx, events, now)
}

// eraseDeliveries removes the personal data of events. A redelivery sends what is left. Every
// erasure locks them by id: of two that have some in common one waits, and none is in a deadlock.
func eraseDeliveries(ctx context.Context, tx *db.DB, deliveries []models.WebhookDelivery, now time.Time) error {
	slices.SortFunc(deliveries, func(a, b models.WebhookDelivery) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for i := range deliveries {
		delivery := &deliveries[i]
		data, err := erasedData(delivery.Data)
		if err != nil {
			return err
		}
		delivery.Data, delivery.ErasedAt = data, &now
		if err := saveErasedDelivery(ctx, tx, delivery); err != nil {
			return err
		}
	}
	return nil
}

// eraseFeedEvents removes the personal data of events in the feed, which lists what is left. They
// are locked by id, like deliveries.
func eraseFeedEvents(ctx context.Context, tx *db.DB, events []models.FeedEvent, now time.Time) error {
	slices.SortFunc(events, func(a, b models.FeedEvent) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for i := range events {
		event := &events[i]
		data, err := erasedData(event.Data)
		if err != nil {
			return err
		}
		// What is erased is all that the store's differs in.
		event.Data, event.StoreData, event.ErasedAt = data, nil, &now
		if err := saveErasedEvent(ctx, tx, event); err != nil {
			return err
		}
	}
	return nil
}

// lockDeliveries reads an order's deliveries by id and locks them until the transaction ends.
func lockDeliveries(ctx context.Context, tx *db.DB, orderID uuid.UUID) ([]models.WebhookDelivery, error) {
	var deliveries []models.WebhookDelivery
	err := tx.QueryForUpdate(ctx).Where("order_id = ?", orderID).Order("id").Find(&deliveries).Error
	return deliveries, err
}

// lockFeedEvents reads an order's events whose data is not erased, by id, and locks them
// until the transaction ends.
func lockFeedEvents(ctx context.Context, tx *db.DB, orderID uuid.UUID) ([]models.FeedEvent, error) {
	var events []models.FeedEvent
	err := tx.QueryForUpdate(ctx).Where("id IN (SELECT id FROM order_events WHERE order_id = ?) AND erased_at IS NULL",
		orderID).Order("id").Find(&events).Error
	return events, err
}

// saveErasedDelivery writes the delivery's data without what was erased, and removes what the
// receiver responded.
func saveErasedDelivery(ctx context.Context, tx *db.DB, delivery *models.WebhookDelivery) error {
	err := tx.Query(ctx).Model(&models.WebhookDelivery{}).Where("id = ?", delivery.ID).
		Select("data", "erased_at").UpdateColumns(delivery).Error
	if err != nil {
		return err
	}
	return tx.Query(ctx).Model(&models.WebhookAttempt{}).Where("delivery_id = ?", delivery.ID).UpdateColumn("response", nil).Error
}

// creationResponse queries the key with the recorded response to the creation of an order.
// saveErasedEvent writes the event's data without what was erased.
func saveErasedEvent(ctx context.Context, tx *db.DB, event *models.FeedEvent) error {
	return tx.Query(ctx).Model(&models.FeedEvent{}).Where("id = ?", event.ID).
		Select("data", "store_data", "erased_at").UpdateColumns(event).Error
}

// erasedData is an event's data without what tells who the recipient is. The external id stays. Of
// data that is not a JSON object nothing stays: it would keep everything beside it from being
// erased.
func erasedData(stored string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(stored))
	decoder.UseNumber()
	var data map[string]any
	if err := decoder.Decode(&data); err != nil || data == nil {
		return "{}", nil
	}
	for member, erased := range map[string]any{
		"recipient_name": models.ErasedText, "recipient_phone": models.ErasedPhone, "delivery_address": models.ErasedText,
		"delivery_reference": nil,
	} {
		if _, present := data[member]; present {
			data[member] = erased
		}
	}
	delete(data, "delivery_proof")
	left, err := json.Marshal(data)
	return string(left), err
}

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
	deliveries, err := tx.LockDeliveriesOf(ctx, orderID)
	if err != nil {
		return err
	}
	if err := eraseDeliveries(ctx, tx, deliveries, now); err != nil {
		return err
	}
	events, err := tx.LockUnerasedFeedEventsOf(ctx, orderID)
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
		if err := tx.EraseDelivery(ctx, delivery); err != nil {
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
		if err := tx.EraseFeedEvent(ctx, event); err != nil {
			return err
		}
	}
	return nil
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
		"recipient_name": models.ErasedText, "recipient_phone": models.ErasedPhone, "delivery_address": models.ErasedText, "delivery_reference": nil,
	} {
		if _, present := data[member]; present {
			data[member] = erased
		}
	}
	delete(data, "delivery_proof")
	left, err := json.Marshal(data)
	return string(left), err
}

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

// rewriteEventsOf is rewriteEvents for all events of an order.
func rewriteEventsOf(
	ctx context.Context, tx *db.DB, orderID uuid.UUID, rewrite func(string) string, erasedAt *time.Time,
) error {
	var calls []models.WebhookDelivery
	if err := tx.QueryForUpdate(ctx).Where("order_id = ?", orderID).Order("id").Find(&calls).Error; err != nil {
		return err
	}
	ids, err := eventsOf(ctx, tx, orderID)
	if err != nil {
		return err
	}
	var events []models.FeedEvent
	if err := tx.QueryForUpdate(ctx).Where("id IN ? AND erased_at IS NULL", ids).Order("id").Find(&events).Error; err != nil {
		return err
	}
	return rewriteEvents(ctx, tx, calls, events, rewrite, erasedAt)
}

// eventsOf are the ids that the events of an order have, by its timeline: no index of the feed has
// its orders.
func eventsOf(ctx context.Context, tx *db.DB, orderID uuid.UUID) (ids []uuid.UUID, err error) {
	var entries []models.TimelineEntry
	err = tx.Query(ctx).Select("id, type").Where("order_id = ?", orderID).Find(&entries).Error
	for _, entry := range entries {
		ids = append(ids, entry.ID)
		for i, name := range models.Move(entry.Type).Events() {
			ids = append(ids, eventID(entry.ID, name, i))
		}
	}
	return ids, err
}

// rewriteEvents rewrites the data of events, as webhooks get them and as the feed lists them, and
// removes what receivers responded. A redelivery sends what is left. erasedAt is nil if something
// is left to erase. Every erasure locks the rows by id: of two that have some in common one waits,
// and none is in a deadlock.
func rewriteEvents(
	ctx context.Context, tx *db.DB, calls []models.WebhookDelivery, events []models.FeedEvent,
	rewrite func(string) string, erasedAt *time.Time,
) error {
	slices.SortFunc(calls, func(a, b models.WebhookDelivery) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	slices.SortFunc(events, func(a, b models.FeedEvent) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for _, call := range calls {
		rewritten := map[string]any{"data": rewrite(call.Data)}
		if erasedAt != nil {
			rewritten["erased_at"] = erasedAt
		}
		err := tx.Query(ctx).Model(&models.WebhookDelivery{}).Where("id = ?", call.ID).UpdateColumns(rewritten).Error
		if err != nil {
			return err
		}
		attempts := tx.Query(ctx).Model(&models.WebhookAttempt{}).Where("delivery_id = ?", call.ID)
		if err := attempts.UpdateColumn("response", nil).Error; err != nil {
			return err
		}
	}
	for _, event := range events {
		rewritten := map[string]any{"data": rewrite(event.Data)}
		if event.StoreData != nil {
			rewritten["store_data"] = rewrite(*event.StoreData)
		}
		if erasedAt != nil {
			rewritten["erased_at"] = erasedAt
		}
		err := tx.Query(ctx).Model(&models.FeedEvent{}).Where("id = ?", event.ID).UpdateColumns(rewritten).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseMembers sets members of the objects of a list to null.
func eraseMembers(list any, names ...string) {
	objects, _ := list.([]any)
	for _, item := range objects {
		object, _ := item.(map[string]any)
		for _, name := range names {
			if _, present := object[name]; present {
				object[name] = nil
			}
		}
	}
}

// erasedData is an event's data without what tells who the recipient is. The external id stays. Of
// data that is not a JSON object nothing stays: it would keep everything beside it from being
// erased.
func erasedData(stored string) string {
	decoder := json.NewDecoder(strings.NewReader(stored))
	decoder.UseNumber()
	var data map[string]any
	if err := decoder.Decode(&data); err != nil || data == nil {
		return "{}"
	}
	for member, erased := range map[string]any{
		"recipient_name": models.ErasedText, "recipient_phone": models.ErasedPhone, "delivery_address": models.ErasedText,
		"delivery_reference": nil,
	} {
		if _, present := data[member]; present {
			data[member] = erased
		}
	}
	if _, present := data["received_by"]; present {
		data["received_by"] = nil
	}
	eraseMembers(data["attempts"], "note", "photo_url", "lat", "lng")
	eraseMembers(data["collections"], "reference")
	delete(data, "delivery_proof")
	left, err := json.Marshal(data)
	if err != nil {
		return "{}"
	}
	return string(left)
}

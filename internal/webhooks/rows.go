package webhooks

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
)

// readCall reads a webhook call.
func readCall(ctx context.Context, database *db.DB, id uuid.UUID) (*models.WebhookDelivery, error) {
	return takeCall(database.Query(ctx), id)
}

// lockCall reads a webhook call and locks it until the transaction ends.
func lockCall(ctx context.Context, tx *db.DB, id uuid.UUID) (*models.WebhookDelivery, error) {
	return takeCall(tx.QueryForUpdate(ctx), id)
}

func takeCall(query *gorm.DB, id uuid.UUID) (*models.WebhookDelivery, error) {
	var call models.WebhookDelivery
	err := query.Where("id = ?", id).Take(&call).Error
	return &call, err
}

// lockWithAttempts is lockCall, and reads the attempts, oldest first.
func lockWithAttempts(ctx context.Context, tx *db.DB, id uuid.UUID) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	call, err := lockCall(ctx, tx, id)
	if err != nil {
		return nil, nil, err
	}
	attempts, err := attemptsOf(ctx, tx, []models.WebhookDelivery{*call})
	return call, attempts[id], err
}

// attemptsOf reads the attempts of webhook calls, oldest first, in one statement.
func attemptsOf(
	ctx context.Context, database *db.DB, calls []models.WebhookDelivery,
) (map[uuid.UUID][]models.WebhookAttempt, error) {
	byCall := map[uuid.UUID][]models.WebhookAttempt{}
	if len(calls) == 0 {
		return byCall, nil
	}
	ids := make([]uuid.UUID, len(calls))
	for i, call := range calls {
		ids[i] = call.ID
	}
	var attempts []models.WebhookAttempt
	if err := database.Query(ctx).Where("delivery_id IN ?", ids).Order("delivery_id, number").Find(&attempts).Error; err != nil {
		return nil, err
	}
	for _, attempt := range attempts {
		byCall[attempt.DeliveryID] = append(byCall[attempt.DeliveryID], attempt)
	}
	return byCall, nil
}

// saveAttempt writes the outcome of an attempt.
func saveAttempt(ctx context.Context, tx *db.DB, attempt *models.WebhookAttempt) error {
	return tx.Query(ctx).Save(attempt).Error
}

// saveCall writes the status of a webhook call and what is to be done about it.
func saveCall(ctx context.Context, tx *db.DB, call *models.WebhookDelivery) error {
	return tx.Query(ctx).Model(call).Where("id = ?", call.ID).
		Select("status", "next_attempt_at", "queued", "finished_at").Updates(call).Error
}

// endRequest writes that the attempt was made which somebody requested, if anybody did.
func endRequest(ctx context.Context, tx *db.DB, id uuid.UUID) error {
	return tx.Query(ctx).Model(&models.WebhookDelivery{}).Where("id = ? AND requested_at IS NOT NULL", id).
		UpdateColumn("requested_at", nil).Error
}

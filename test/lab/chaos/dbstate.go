package chaos

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
	"despacho/models"
)

// dbState is what the database holds once everything is settled.
type dbState struct {
	orders    []*orderRow
	byID      map[string]*orderRow
	timelines map[string][]entryRow
	// refusals are the acts of riders that an order did not allow.
	refusals   map[string][]entryRow
	deliveries map[string][]deliveryRow
}

type orderRow struct {
	ID           string
	GuideCode    string
	Status       models.Status
	Substatus    *models.Substatus
	RiderID      *uuid.UUID
	Attempts     models.Attempts
	Seq          int
	CancelledBy  *models.Actor
	Reference    *string
	ProofPhoto   *string
	Cash         bool
	CreatedAt    time.Time
	AutoCancelAt time.Time
}

// state is what decides which moves an order can make.
func (o *orderRow) state() models.State {
	state := models.State{Status: o.Status, RiderID: o.RiderID}
	if o.Substatus != nil {
		state.Substatus = *o.Substatus
	}
	if o.CancelledBy != nil {
		state.CancelledBy = *o.CancelledBy
	}
	return state
}

type entryRow struct {
	ID      uuid.UUID
	OrderID string
	Seq     int
	Type    string
	Status  models.Status
	Actor   models.Actor
	RiderID *uuid.UUID
	Photo   *string
	At      time.Time
}

type deliveryRow struct {
	ID, OrderID string
	OrderSeq    int
	Event       string
	Status      models.WebhookDeliveryStatus
	Retry       bool
	Attempts    int
	Interrupted int
}

// hook is the name of the delivery's webhook.
func (d *deliveryRow) hook() string {
	if d.Retry {
		return hookWithRetries
	}
	return hookWithoutRetries
}

func (s *stack) readState(ctx context.Context) (*dbState, error) {
	state := &dbState{byID: map[string]*orderRow{}, timelines: map[string][]entryRow{}, refusals: map[string][]entryRow{},
		deliveries: map[string][]deliveryRow{}}
	return state, dev.OnDatabase(ctx, s.databaseURL, func(connection *pgx.Conn) error {
		orders, err := collect[orderRow](ctx, connection, `
			SELECT id::text AS id, guide_code, status, substatus, rider_id, attempts, seq, cancelled_by, delivery_reference AS reference, proof_photo,
				payment_type = 'cash_on_delivery' AS cash, created_at, auto_cancel_at
			FROM orders ORDER BY created_at`)
		if err != nil {
			return err
		}
		for i := range orders {
			state.orders = append(state.orders, &orders[i])
			state.byID[orders[i].ID] = &orders[i]
		}
		entries, err := collect[entryRow](ctx, connection, `
			SELECT id, order_id::text AS order_id, COALESCE(seq, 0) AS seq, type, status, actor, rider_id, photo, at FROM order_events
			WHERE seq IS NOT NULL OR type = $1 ORDER BY order_id, seq`, models.TimelineActRefused)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			list := state.timelines
			if entry.Type == models.TimelineActRefused {
				list = state.refusals
			}
			list[entry.OrderID] = append(list[entry.OrderID], entry)
		}
		deliveries, err := collect[deliveryRow](ctx, connection, `
			SELECT d.id::text AS id, d.order_id::text AS order_id, d.order_seq, d.event, d.status, w.retry,
				(SELECT count(*) FROM delivery_attempts a WHERE a.delivery_id = d.id) AS attempts,
				(SELECT count(*) FROM delivery_attempts a WHERE a.delivery_id = d.id AND a.status_code IS NULL) AS interrupted
			FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id ORDER BY d.order_id, d.order_seq`)
		if err != nil {
			return err
		}
		for _, delivery := range deliveries {
			state.deliveries[delivery.OrderID] = append(state.deliveries[delivery.OrderID], delivery)
		}
		return nil
	})
}

func collect[T any](ctx context.Context, connection *pgx.Conn, query string, arguments ...any) ([]T, error) {
	rows, err := connection.Query(ctx, query, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

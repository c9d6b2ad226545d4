package bench

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"despacho/internal/guidecode"
	"despacho/test/lab/cluster"
)

// bareOrder is an order's row.
type bareOrder struct {
	ID                    uuid.UUID  `json:"id"`
	OperatorID            uuid.UUID  `json:"operator_id"`
	StoreID               *uuid.UUID `json:"store_id"`
	BranchID              uuid.UUID  `json:"branch_id"`
	GuideCode             string     `json:"guide_code"`
	ExternalID            *string    `json:"external_id"`
	Status                string     `json:"status"`
	Seq                   int        `json:"seq"`
	RecipientName         string     `json:"recipient_name"`
	RecipientPhone        string     `json:"recipient_phone"`
	RecipientDocType      *string    `json:"recipient_doc_type"`
	RecipientDocNumber    []byte     `json:"recipient_doc_number"`
	RecipientDocVerified  *bool      `json:"recipient_doc_verified"`
	DeliveryType          string     `json:"delivery_type"`
	DeliveryAddress       string     `json:"delivery_address"`
	DeliveryReference     *string    `json:"delivery_reference"`
	LocationID            uuid.UUID  `json:"location_id"`
	DeliveryLat           *float64   `json:"delivery_lat"`
	DeliveryLng           *float64   `json:"delivery_lng"`
	DeliveryMapsURL       *string    `json:"delivery_maps_url"`
	Product               string     `json:"product"`
	Size                  string     `json:"size"`
	Notes                 *string    `json:"notes"`
	AmountToCollect       int64      `json:"amount_to_collect_cents"`
	ActualAmountCollected *int64     `json:"actual_amount_collected_cents"`
	ShippingCost          int64      `json:"shipping_cost_cents"`
	Currency              string     `json:"currency"`
	PaymentType           string     `json:"payment_type"`
	OperativeDay          string     `json:"operative_day"`
	RiderID               *uuid.UUID `json:"rider_id"`
	CreatedAt             time.Time  `json:"created_at"`
	ReceivedAt            *time.Time `json:"received_at"`
	AssignedAt            *time.Time `json:"assigned_at"`
	DeliveredAt           *time.Time `json:"delivered_at"`
	CancelledAt           *time.Time `json:"cancelled_at"`
}

const selectBareOrder = `SELECT id, operator_id, store_id, branch_id, guide_code, external_id, status, seq, recipient_name, recipient_phone, recipient_doc_type,
	recipient_doc_encrypted, recipient_doc_verified, delivery_type, delivery_address, delivery_reference, location_id, delivery_lat, delivery_lng,
	delivery_maps_url, product, size, notes, amount_to_collect_cents, actual_amount_collected_cents, shipping_cost_cents, currency, payment_type,
	operative_day, rider_id, created_at, received_at, assigned_at, delivered_at, cancelled_at
	FROM orders WHERE id = $1`

// scanTargets are the scan destinations, in the order of the statement's columns.
func (o *bareOrder) scanTargets() []any {
	return []any{
		&o.ID, &o.OperatorID, &o.StoreID, &o.BranchID, &o.GuideCode, &o.ExternalID, &o.Status, &o.Seq, &o.RecipientName,
		&o.RecipientPhone, &o.RecipientDocType,
		&o.RecipientDocNumber, &o.RecipientDocVerified, &o.DeliveryType, &o.DeliveryAddress, &o.DeliveryReference, &o.LocationID,
		&o.DeliveryLat, &o.DeliveryLng,
		&o.DeliveryMapsURL, &o.Product, &o.Size, &o.Notes, &o.AmountToCollect, &o.ActualAmountCollected, &o.ShippingCost,
		&o.Currency, &o.PaymentType,
		&o.OperativeDay, &o.RiderID, &o.CreatedAt, &o.ReceivedAt, &o.AssignedAt, &o.DeliveredAt, &o.CancelledAt,
	}
}

// The rows that a creation writes for an order without webhooks and Idempotency-Key.
const (
	insertBareOrder = `INSERT INTO orders (id, operator_id, branch_id, guide_code, status, seq, recipient_name, recipient_phone, delivery_type,
	delivery_address, location_id, product, size, amount_to_collect_cents, shipping_cost_cents, currency, payment_type, operative_day, search_text,
	auto_cancel_at, created_at, updated_at) VALUES ($1, $2, $3, $4, 'registered', 1, $5, $6, 'home', $7, $8, $9, 'M', 0, 900, 'PEN', 'delivery_only', $10, $11, $12, $13, $13)`
	insertBareEntry = `INSERT INTO order_events (id, order_id, seq, type, status, actor, at) VALUES ($1, $2, 1, 'created', 'registered', 'operator', $3)`
	insertBareEvent = `INSERT INTO feed_events (id, operator_id, order_id, event, data, created_at) VALUES ($1, $2, $3, 'order.created', $4, $5)`
)

// insertBare writes the rows of a creation in one transaction and returns the order as JSON, which
// is also the data of its event. The order is taken as it comes.
func insertBare(ctx context.Context, pool *pgxpool.Pool, order *bareOrder) ([]byte, error) {
	entry, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	if order.ID, err = uuid.NewV7(); err != nil {
		return nil, err
	}
	order.OperatorID, order.BranchID = id("operator", mainOperator), id("branch", mainOperator)
	order.GuideCode, order.CreatedAt = guidecode.New(), time.Now().UTC()
	order.OperativeDay = order.CreatedAt.Format(time.DateOnly)
	search := strings.ToLower(strings.Join([]string{order.GuideCode, order.RecipientName, order.RecipientPhone,
		order.DeliveryAddress}, " "))
	body, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	return body, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, insertBareOrder, order.ID, order.OperatorID, order.BranchID, order.GuideCode, order.RecipientName,
			order.RecipientPhone,
			order.DeliveryAddress, order.LocationID, order.Product, order.OperativeDay, search, order.CreatedAt.Add(24*time.Hour),
			order.CreatedAt)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(ctx, insertBareEntry, entry, order.ID, order.CreatedAt); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, insertBareEvent, entry, order.OperatorID, order.ID, string(body), order.CreatedAt)
		return err
	})
}

// ServeBaseline is the baseline of POST /v1/orders and of GET /v1/orders/:id: net/http, pgx and one
// order as JSON, without authentication, rate limit, checks or log.
func ServeBaseline(ctx context.Context, databaseURL, address string) error {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return err
	}
	config.MaxConns = 20 // as many as the service has
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		var order bareOrder
		if err := pool.QueryRow(r.Context(), selectBareOrder, r.PathValue("id")).Scan(order.scanTargets()...); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		body, err := json.Marshal(&order)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var order bareOrder
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body, err := insertBare(r.Context(), pool, &order)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	})
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

// BaselineCommand is the hidden subcommand of `lab bench` that runs ServeBaseline with a database
// and an address.
const BaselineCommand = "baseline"

// startBaseline runs the baseline in a separate process, as the service is.
func (s *stack) startBaseline(ctx context.Context, databaseURL string) (*cluster.Child, error) {
	address, err := cluster.FreeAddress()
	if err != nil {
		return nil, err
	}
	c, err := s.lab().Serve(ctx, address, "/", "bench", BaselineCommand, databaseURL, address)
	if err == nil {
		s.OnClose(c.Stop)
	}
	return c, err
}

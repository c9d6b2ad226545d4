package panel

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/orders"
)

// receipt is the stored response of an order created in the panel, so that a repeated request
// returns it instead of creating another order.
type receipt struct {
	ID           uuid.UUID   `json:"id"`
	GuideCode    string      `json:"guide_code"`
	ShippingCost money.Cents `json:"shipping_cost"`
	Currency     string      `json:"currency"`
	Warning      string      `json:"warning,omitempty"`
	// Existed means that an earlier request created it.
	Existed bool `json:"-"`
}

// Path is the URL path of the order's page.
func (r *receipt) Path() string { return "/panel/pedidos/" + r.ID.String() }

func renderReceipt(created *orders.Created) (orders.CreateResponse, error) {
	r := receipt{
		ID: created.Order.ID, GuideCode: created.Order.GuideCode,
		ShippingCost: created.Order.ShippingCost, Currency: created.Order.Currency, Warning: created.Warning,
	}
	packed, err := json.Marshal(r)
	return orders.CreateResponse{Status: http.StatusCreated, Location: r.Path(), Body: packed}, err
}

func readReceipt(answer orders.CreateResponse) (*receipt, error) {
	r := &receipt{Existed: answer.Replayed}
	return r, json.Unmarshal(answer.Body, r)
}

const lookAgainIn = 100 * time.Millisecond

// createOnce creates an order unless one was created with the key, and returns its receipt either
// way. A double click waits for the first request.
func (p *Pages) createOnce(ctx context.Context, caller orders.Caller, in *jsonbody.Object, key string) (*receipt, error) {
	until := time.After(p.Config.Timeouts.Request / 2)
	for {
		answer, err := p.Orders.Create(ctx, caller, in, key, renderReceipt)
		if err == nil {
			return readReceipt(answer)
		}
		if !errors.Is(err, orders.ErrKeyInProgress) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-until:
			return nil, err
		case <-time.After(lookAgainIn):
		}
	}
}

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"

	"github.com/google/uuid"

	"despacho/lab/cluster"
)

// newOrder is what a store's system sends.
var newOrder = func() []byte {
	body, err := json.Marshal(map[string]any{
		"recipient_name": "Rosa Díaz", "recipient_phone": "987 654 321", "delivery_address": "Av. Larco 345",
		"location_id": miraflores, "product": "Zapatillas",
	})
	if err != nil {
		panic(err)
	}
	return body
}()

// staff is one operator's people at work: they create orders with the operator's key and move them
// with a session of the panel.
type staff struct {
	*cluster.Connection
	service  *service
	keys     *keyRing
	token    string
	operator int
}

// staffOf is the people of the one operator, or of the one that has a webhook.
func (v *service) staffOf(operator int) *staff {
	keys := v.stack.tenants.one
	if operator == theHooked {
		keys = v.stack.tenants.hooked
	}
	return &staff{Connection: cluster.NewConnection(v.api.Address), service: v, keys: keys, token: v.stack.tenants.sessions[operator], operator: operator}
}

func (p *staff) create(ctx context.Context) (uuid.UUID, error) {
	return createOrder(ctx, p.Connection, cluster.Request{Key: p.keys.key()})
}

// createOrder sends a creation and returns the order's id.
func createOrder(ctx context.Context, client *cluster.Connection, r cluster.Request) (uuid.UUID, error) {
	r.Method, r.Path, r.Body = http.MethodPost, "/v1/orders", newOrder
	got, err := client.Expect(ctx, http.StatusCreated, r)
	if err != nil {
		return uuid.Nil, err
	}
	return uuid.Parse(path.Base(got.Header.Get("Location")))
}

func (p *staff) receive(ctx context.Context, order uuid.UUID) error {
	return p.move(ctx, order, "receive", []byte("{}"))
}

func (p *staff) assign(ctx context.Context, order uuid.UUID) error {
	return p.move(ctx, order, "assign", fmt.Appendf(nil, `{"rider_id":%q}`, id("rider", p.operator)))
}

func (p *staff) deliver(ctx context.Context, order uuid.UUID) error {
	return p.move(ctx, order, "deliver", []byte("{}"))
}

func (p *staff) move(ctx context.Context, order uuid.UUID, move string, body []byte) error {
	_, err := p.Expect(ctx, http.StatusOK, cluster.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + order.String() + "/" + move, Token: p.token, Body: body,
	})
	return err
}

// received is a new order that has reached the operator.
func (p *staff) received(ctx context.Context) (uuid.UUID, error) {
	order, err := p.create(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	return order, p.receive(ctx, order)
}

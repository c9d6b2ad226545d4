package bench

import (
	"context"
	"fmt"
	"net/http"
	"path"

	"github.com/google/uuid"

	"despacho/test/lab/cluster"
)

// newOrder is the body of a creation.
var newOrder = cluster.NewOrder(nil)

// operatorClient creates orders with an operator's key and moves them with a panel session.
type operatorClient struct {
	*cluster.Connection
	service  *service
	keys     *cluster.KeyRing
	token    string
	operator int
}

// operatorClient is a client of mainOperator or of webhookOperator.
func (v *service) operatorClient(operator int) *operatorClient {
	keys := v.stack.tenants.mainKeys
	if operator == webhookOperator {
		keys = v.stack.tenants.webhookKeys
	}
	return &operatorClient{Connection: cluster.NewConnection(v.api.Address), service: v, keys: keys,
		token: v.stack.tenants.sessions[operator], operator: operator}
}

func (p *operatorClient) create(ctx context.Context) (uuid.UUID, error) {
	return createOrder(ctx, p.Connection, cluster.Request{Key: p.keys.Key()})
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

func (p *operatorClient) receive(ctx context.Context, order uuid.UUID) error {
	return p.move(ctx, order, "receive", []byte("{}"))
}

func (p *operatorClient) assign(ctx context.Context, order uuid.UUID) error {
	return p.move(ctx, order, "assign", fmt.Appendf(nil, `{"rider_id":%q}`, id("rider", p.operator)))
}

func (p *operatorClient) deliver(ctx context.Context, order uuid.UUID) error {
	return p.move(ctx, order, "deliver", []byte("{}"))
}

func (p *operatorClient) move(ctx context.Context, order uuid.UUID, move string, body []byte) error {
	_, err := p.Expect(ctx, http.StatusOK, cluster.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + order.String() + "/" + move, Token: p.token, Body: body,
	})
	return err
}

// received creates an order and receives it.
func (p *operatorClient) received(ctx context.Context) (uuid.UUID, error) {
	order, err := p.create(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	return order, p.receive(ctx, order)
}

package despacho

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// CreatedOrder is an order that exists now.
type CreatedOrder struct {
	Order
	// Warning is to be shown to whoever dispatches; empty if there is none.
	Warning string
	// Replayed says that an earlier request with the same key created it.
	Replayed bool
}

// CreateOrder creates an order exactly once, however often it has to ask. idempotencyKey is the
// sale's own number: it is the same in every attempt, also in those after a restart, for 24 hours.
func (c *Client) CreateOrder(ctx context.Context, idempotencyKey string, order OrderInput) (*CreatedOrder, error) {
	var answer CreatedOrderResponse
	header, err := c.do(ctx, call{
		method: http.MethodPost, path: "/v1/orders", body: order, repeatable: true,
		header: http.Header{"Idempotency-Key": {idempotencyKey}},
	}, &answer)
	if err != nil {
		return nil, err
	}
	return &CreatedOrder{Order: answer.Data, Warning: orEmpty(answer.Warning),
		Replayed: header.Get("Idempotent-Replayed") == "true"}, nil
}

// GetOrder reads an order as it is now.
func (c *Client) GetOrder(ctx context.Context, id string) (*Order, error) {
	return c.order(ctx, read(orderPath(id), nil))
}

// CorrectedOrder is an order after a correction.
type CorrectedOrder struct {
	Order
	// Message says what the shipping cost was and what it is now; empty if it is the same.
	Message string
	// Warning is to be shown to whoever dispatches; empty if there is none.
	Warning string
}

// CorrectOrder changes those fields of an order that the correction has: a store's while it is
// registered. Null removes a value.
func (c *Client) CorrectOrder(ctx context.Context, id string, correction OrderCorrection) (*CorrectedOrder, error) {
	var answer CorrectedOrderResponse
	if _, err := c.do(ctx, call{method: http.MethodPatch, path: orderPath(id), body: correction}, &answer); err != nil {
		return nil, err
	}
	return &CorrectedOrder{Order: answer.Data, Message: orEmpty(answer.Message), Warning: orEmpty(answer.Warning)}, nil
}

// CancelOrder cancels an order that is still registered.
func (c *Client) CancelOrder(ctx context.Context, id string, why CancelInput) (*Order, error) {
	return c.order(ctx, call{method: http.MethodPatch, path: orderPath(id) + "/cancel", body: why})
}

// Decide says what comes next after a failed attempt: another one, another one with what is
// corrected, or the way back. A store decides once, until the order's DecisionDeadline.
func (c *Client) Decide(ctx context.Context, id string, decision DecisionInput) (*Order, error) {
	return c.order(ctx, call{method: http.MethodPost, path: orderPath(id) + "/decision", body: decision})
}

// AdvanceTestOrder makes the next step of a test order at once. It needs a test key.
func (c *Client) AdvanceTestOrder(ctx context.Context, id string) (*Order, error) {
	return c.order(ctx, call{method: http.MethodPost, path: "/v1/test/orders/" + url.PathEscape(id) + "/advance"})
}

func (c *Client) order(ctx context.Context, request call) (*Order, error) {
	var answer OrderResponse
	if _, err := c.do(ctx, request, &answer); err != nil {
		return nil, err
	}
	return &answer.Data, nil
}

// OrderFilter chooses orders; the zero value chooses all.
type OrderFilter struct {
	Status OrderStatus
	// FromDate and ToDate are days of the operator, as 2026-11-15.
	FromDate, ToDate string
	// ExternalID is the store's own number of the orders.
	ExternalID string
	// Limit is the length of a page; 0 is the longest.
	Limit int
}

// Orders lists orders, newest first, page after page. An error ends the list.
func (c *Client) Orders(ctx context.Context, filter OrderFilter) iter.Seq2[Order, error] {
	return func(yield func(Order, error) bool) {
		each(yield, func(o Order) place { return place{o.Id, o.CreatedAt.Unix()} }, func(number int) (page[Order], error) {
			query := url.Values{}
			for name, value := range map[string]string{"status": string(filter.Status), "from_date": filter.FromDate,
				"to_date": filter.ToDate, "external_id": filter.ExternalID} {
				if value != "" {
					query.Set(name, value)
				}
			}
			var answer OrderListResponse
			_, err := c.do(ctx, read("/v1/orders", pageQuery(query, number, filter.Limit)), &answer)
			return page[Order]{answer.Data.Orders, answer.Data.Total, answer.Data.Limit}, err
		})
	}
}

// Track reads what anybody who has the guide code may see.
func (c *Client) Track(ctx context.Context, guideCode string) (*Tracking, error) {
	var answer TrackingResponse
	if _, err := c.do(ctx, read("/v1/track/"+url.PathEscape(guideCode), nil), &answer); err != nil {
		return nil, err
	}
	return &answer.Data, nil
}

// Stores lists the operator's active stores.
func (c *Client) Stores(ctx context.Context) ([]Store, error) {
	var answer StoreListResponse
	_, err := c.do(ctx, read("/v1/stores", nil), &answer)
	return answer.Data, err
}

func orderPath(id string) string { return "/v1/orders/" + url.PathEscape(id) }

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

package despacho

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// RegisterWebhook registers a receiver of events. The secret is shown this once.
func (c *Client) RegisterWebhook(ctx context.Context, webhook WebhookInput) (*RegisteredWebhook, error) {
	return c.registered(ctx, call{method: http.MethodPost, path: "/v1/webhooks", body: webhook})
}

// Webhooks lists the active webhooks.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	var answer WebhookListResponse
	_, err := c.do(ctx, read("/v1/webhooks", nil), &answer)
	return answer.Data, err
}

// GetWebhook reads a webhook as it is now, also after its deactivation.
func (c *Client) GetWebhook(ctx context.Context, id string) (*Webhook, error) {
	return c.webhook(ctx, read(webhookPath(id), nil))
}

// ChangeWebhook changes the address, the events or the retries of a webhook without another secret.
// With Paused it is paused, which keeps its events, and resumed, which sends them.
func (c *Client) ChangeWebhook(ctx context.Context, id string, change WebhookChange) (*Webhook, error) {
	return c.webhook(ctx, call{method: http.MethodPatch, path: webhookPath(id), body: change})
}

func (c *Client) webhook(ctx context.Context, request call) (*Webhook, error) {
	var answer WebhookResponse
	if _, err := c.do(ctx, request, &answer); err != nil {
		return nil, err
	}
	return &answer.Data, nil
}

// WebhookHealth counts what arrived and what failed on each of the last seven days, oldest first.
func (c *Client) WebhookHealth(ctx context.Context, id string) ([]WebhookDay, error) {
	var answer WebhookHealthResponse
	_, err := c.do(ctx, read(webhookPath(id)+"/health", nil), &answer)
	return answer.Data.Days, err
}

// DeactivateWebhook ends a webhook.
func (c *Client) DeactivateWebhook(ctx context.Context, id string) error {
	var answer MessageResponse
	_, err := c.do(ctx, call{method: http.MethodDelete, path: webhookPath(id)}, &answer)
	return err
}

// RotateWebhookSecret replaces a webhook's secret. The earlier one signs beside it for a day,
// unless it is revoked.
func (c *Client) RotateWebhookSecret(ctx context.Context, id string, revoke bool) (*RegisteredWebhook, error) {
	return c.registered(ctx, call{method: http.MethodPost, path: webhookPath(id) + "/rotate", body: RotateInput{Revoke: &revoke}})
}

func (c *Client) registered(ctx context.Context, request call) (*RegisteredWebhook, error) {
	var answer WebhookRegisteredResponse
	if _, err := c.do(ctx, request, &answer); err != nil {
		return nil, err
	}
	return &answer.Data, nil
}

// TestWebhook sends a signed webhook.test event and returns what the receiver answered.
func (c *Client) TestWebhook(ctx context.Context, id string) (*Delivery, error) {
	return c.delivery(ctx, call{method: http.MethodPost, path: webhookPath(id) + "/test"})
}

// GetDelivery reads a delivery, with what each attempt sent and what the receiver answered.
func (c *Client) GetDelivery(ctx context.Context, id string) (*Delivery, error) {
	return c.delivery(ctx, read(deliveryPath(id), nil))
}

// Redeliver sends a delivery again and returns what the receiver answered.
func (c *Client) Redeliver(ctx context.Context, deliveryID string) (*Delivery, error) {
	return c.delivery(ctx, call{method: http.MethodPost, path: deliveryPath(deliveryID) + "/redeliver"})
}

func (c *Client) delivery(ctx context.Context, request call) (*Delivery, error) {
	var answer DeliveryResponse
	if _, err := c.do(ctx, request, &answer); err != nil {
		return nil, err
	}
	return &answer.Data, nil
}

// RedeliverFailed sends again what failed between two moments, and returns how many events that is.
func (c *Client) RedeliverFailed(ctx context.Context, webhookID string, from, to time.Time) (int, error) {
	return c.redeliverRange(ctx, webhookID, RedeliverInput{From: from, To: &to})
}

// RedeliverAll sends again everything between two moments, also what was delivered, and returns how
// many events that is. The zero value of to is now.
func (c *Client) RedeliverAll(ctx context.Context, webhookID string, from, to time.Time) (int, error) {
	chosen := RedeliverInput{From: from, All: Ptr(true)}
	if !to.IsZero() {
		chosen.To = &to
	}
	return c.redeliverRange(ctx, webhookID, chosen)
}

func (c *Client) redeliverRange(ctx context.Context, webhookID string, chosen RedeliverInput) (int, error) {
	var answer RedeliveringResponse
	_, err := c.do(ctx, call{method: http.MethodPost, path: webhookPath(webhookID) + "/redeliver", body: chosen}, &answer)
	return int(answer.Data.Redelivering), err
}

// DeliveryFilter chooses deliveries; the zero value chooses all.
type DeliveryFilter struct {
	WebhookID, OrderID string
	// Event is the name of one, as order.delivered.
	Event  string
	Status DeliveryStatus
	// Limit is the length of a page; 0 is the longest.
	Limit int
}

// Deliveries lists what was sent to webhooks, newest first, page after page. An error ends the
// list.
func (c *Client) Deliveries(ctx context.Context, filter DeliveryFilter) iter.Seq2[Delivery, error] {
	return func(yield func(Delivery, error) bool) {
		each(yield, func(d Delivery) place { return place{d.Id, d.CreatedAt.Unix()} }, func(number int) (page[Delivery], error) {
			query := url.Values{}
			for name, value := range map[string]string{"webhook_id": filter.WebhookID, "order_id": filter.OrderID,
				"event": filter.Event, "status": string(filter.Status)} {
				if value != "" {
					query.Set(name, value)
				}
			}
			var answer DeliveryListResponse
			_, err := c.do(ctx, read("/v1/deliveries", pageQuery(query, number, filter.Limit)), &answer)
			return page[Delivery]{answer.Data.Deliveries, answer.Data.Total, answer.Data.Limit}, err
		})
	}
}

func webhookPath(id string) string { return "/v1/webhooks/" + url.PathEscape(id) }

func deliveryPath(id string) string { return "/v1/deliveries/" + url.PathEscape(id) }

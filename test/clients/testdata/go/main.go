// Command runner makes the calls that it reads with the Go client, one JSON object on each line,
// and writes what came of each.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"net/http"
	"os"
	"time"

	despacho "despacho/clients/go"
)

type request struct {
	BaseURL string        `json:"base_url"`
	Key     string        `json:"key"`
	Timeout time.Duration `json:"timeout"` // in seconds
	Call    string        `json:"call"`
	With    with          `json:"with"`
	Options struct {
		Attempts int           `json:"attempts"`
		MaxWait  time.Duration `json:"max_wait"` // in seconds
	} `json:"options"`
}

// with has the arguments of every call.
type with struct {
	After       string                   `json:"after"`
	Wait        time.Duration            `json:"wait"` // in seconds
	ID          string                   `json:"id"`
	Key         string                   `json:"key"`
	GuideCode   string                   `json:"guide_code"`
	CountryCode string                   `json:"country_code"`
	City        string                   `json:"city"`
	Text        string                   `json:"text"`
	Codes       []string                 `json:"codes"`
	From        time.Time                `json:"from"`
	To          time.Time                `json:"to"`
	Order       despacho.OrderInput      `json:"order"`
	Correction  despacho.OrderCorrection `json:"correction"`
	Decision    despacho.DecisionInput   `json:"decision"`
	Names       []string                 `json:"names"`
	Change      despacho.WebhookChange   `json:"change"`
	Reason      *string                  `json:"reason"`
	Note        *string                  `json:"note"`
	StoreID     string                   `json:"store_id"`
	Webhook     despacho.WebhookInput    `json:"webhook"`
	Revoke      bool                     `json:"revoke"`
	Filter      filter                   `json:"filter"`
	Scheme      string                   `json:"scheme"`
	Headers     map[string]string        `json:"headers"`
	Body        string                   `json:"body"`
	Secrets     []string                 `json:"secrets"`
}

type filter struct {
	Status     string `json:"status"`
	FromDate   string `json:"from_date"`
	ToDate     string `json:"to_date"`
	ExternalID string `json:"external_id"`
	StoreID    string `json:"store_id"`
	WebhookID  string `json:"webhook_id"`
	OrderID    string `json:"order_id"`
	Event      string `json:"event"`
	Limit      int    `json:"limit"`
}

func (f filter) orders() despacho.OrderFilter {
	return despacho.OrderFilter{Status: despacho.OrderStatus(f.Status), FromDate: f.FromDate, ToDate: f.ToDate,
		ExternalID: f.ExternalID, Limit: f.Limit}
}

type outcome struct {
	Result   any       `json:"result"`
	Error    *refusal  `json:"error,omitempty"`
	NoAnswer bool      `json:"no_answer,omitempty"`
	Other    string    `json:"other,omitempty"`
	Waits    []float64 `json:"waits"`
}

type refusal struct {
	Status  int                   `json:"status"`
	Code    string                `json:"code"`
	Message string                `json:"message"`
	Fields  []despacho.FieldError `json:"fields"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		var out outcome
		client := &despacho.Client{
			BaseURL: r.BaseURL, Key: r.Key, HTTP: &http.Client{Timeout: r.Timeout * time.Second},
			Attempts: r.Options.Attempts, MaxWait: r.Options.MaxWait * time.Second,
			Sleep: func(_ context.Context, pause time.Duration) error {
				out.Waits = append(out.Waits, pause.Seconds())
				return nil
			},
		}
		result, err := call(client, r.Call, r.With)
		var refused *despacho.APIError
		var unanswered *despacho.NoAnswerError
		switch {
		case err == nil:
			out.Result = result
		case errors.As(err, &refused):
			out.Error = &refusal{refused.Status, refused.Code, refused.Message, refused.Fields}
		case errors.As(err, &unanswered):
			out.NoAnswer = true
		default:
			out.Other = err.Error()
		}
		if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
			panic(err)
		}
	}
}

func call(c *despacho.Client, name string, w with) (any, error) {
	ctx := context.Background()
	switch name {
	case "create_order":
		created, err := c.CreateOrder(ctx, w.Key, w.Order)
		if err != nil {
			return nil, err
		}
		return map[string]any{"order": created.Order, "warning": orNull(created.Warning), "replayed": created.Replayed}, nil
	case "create_order_for_nan":
		return c.CreateOrder(ctx, "venta-1", despacho.OrderInput{AmountToCollect: despacho.Ptr(math.NaN())})
	case "get_order":
		return c.GetOrder(ctx, w.ID)
	case "get_order_until_cancelled":
		during, cancel := context.WithCancel(ctx)
		c.Sleep = func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}
		_, err := c.GetOrder(during, w.ID)
		var refused *despacho.APIError
		return map[string]any{"refused": errors.As(err, &refused), "cancelled": errors.Is(err, context.Canceled)}, nil
	case "orders":
		return collect(c.Orders(ctx, w.Filter.orders()))
	case "correct_order":
		corrected, err := c.CorrectOrder(ctx, w.ID, w.Correction)
		if err != nil {
			return nil, err
		}
		return map[string]any{"order": corrected.Order, "message": orNull(corrected.Message),
			"warning": orNull(corrected.Warning)}, nil
	case "decide":
		return c.Decide(ctx, w.ID, w.Decision)
	case "cancel_orders":
		cancelled := []*despacho.Order{}
		for order, err := range c.Orders(ctx, w.Filter.orders()) {
			if err != nil {
				return nil, err
			}
			now, err := c.CancelOrder(ctx, order.Id, despacho.CancelInput{})
			if err != nil {
				return nil, err
			}
			cancelled = append(cancelled, now)
		}
		return cancelled, nil
	case "cancel_order":
		return c.CancelOrder(ctx, w.ID, despacho.CancelInput{Reason: w.Reason, Note: w.Note})
	case "advance_test_order":
		return c.AdvanceTestOrder(ctx, w.ID)
	case "track":
		return c.Track(ctx, w.GuideCode)
	case "stores":
		return c.Stores(ctx)
	case "settlements":
		return collect(c.Settlements(ctx, despacho.SettlementFilter{StoreID: w.Filter.StoreID, Limit: w.Filter.Limit}))
	case "get_settlement":
		return c.GetSettlement(ctx, w.ID)
	case "balance":
		return c.Balance(ctx, w.StoreID)
	case "register_webhook":
		return c.RegisterWebhook(ctx, w.Webhook)
	case "webhooks":
		return c.Webhooks(ctx)
	case "get_webhook":
		return c.GetWebhook(ctx, w.ID)
	case "change_webhook":
		return c.ChangeWebhook(ctx, w.ID, w.Change)
	case "webhook_health":
		return c.WebhookHealth(ctx, w.ID)
	case "deactivate_webhook":
		return nil, c.DeactivateWebhook(ctx, w.ID)
	case "rotate_webhook_secret":
		return c.RotateWebhookSecret(ctx, w.ID, w.Revoke)
	case "test_webhook":
		return c.TestWebhook(ctx, w.ID)
	case "redeliver_failed":
		return c.RedeliverFailed(ctx, w.ID, w.From, w.To)
	case "redeliver_all":
		return c.RedeliverAll(ctx, w.ID, w.From, w.To)
	case "deliveries":
		f := w.Filter
		return collect(c.Deliveries(ctx, despacho.DeliveryFilter{WebhookID: f.WebhookID, OrderID: f.OrderID, Event: f.Event,
			Status: despacho.DeliveryStatus(f.Status), Limit: f.Limit}))
	case "get_delivery":
		return c.GetDelivery(ctx, w.ID)
	case "redeliver":
		return c.Redeliver(ctx, w.ID)
	case "events":
		return c.Events(ctx, w.After, w.Wait*time.Second, w.Names...)
	case "cities":
		return c.Cities(ctx, w.CountryCode)
	case "location_tree":
		return c.LocationTree(ctx, w.CountryCode, w.City)
	case "location_children":
		return c.LocationChildren(ctx, w.ID)
	case "lookup_ubigeo":
		return c.LookupUbigeo(ctx, w.CountryCode, w.Codes...)
	case "search_locations":
		return c.SearchLocations(ctx, w.CountryCode, w.Text)
	case "verify":
		header := http.Header{}
		for name, value := range w.Headers {
			header.Set(name, value)
		}
		if w.Scheme == "standard" {
			return despacho.VerifyStandard(header, []byte(w.Body), w.Secrets...) == nil, nil
		}
		return despacho.Verify(header, []byte(w.Body), w.Secrets...) == nil, nil
	}
	return nil, errors.New("unknown call " + name)
}

// orNull is a text, or null in place of an empty one.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func collect[T any](list iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for element, err := range list {
		if err != nil {
			return nil, err
		}
		all = append(all, element)
	}
	return all, nil
}

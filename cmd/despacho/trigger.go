package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"despacho/internal/credentials"
	"despacho/models"
)

func triggerCommand() *cobra.Command {
	t := &trigger{client: &http.Client{
		Timeout: time.Minute,
		// A POST that follows a redirect becomes a GET: the answer would be the list of orders.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	command := &cobra.Command{
		Use:   "trigger <" + strings.ReplaceAll(models.JoinEvents(models.OrderEvents), " ", "|") + ">",
		Short: "Make a test order that goes to an event, so that the webhooks of a test key get it, and print the order",
		Long: `Make a test order that goes to an event, so that the webhooks of a test key get it, and print the order.

It needs the URL of a running service and a test key with the scope write:orders; nothing else is configured. Without
--location the order goes to the first place of the catalog that the operator covers.`,
		Example: "  export " + urlVariable + "=https://despacho.example " + keyVariable +
			"=dsp_test_...\n  despacho trigger order.delivered",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.key, t.url = cmp.Or(t.key, os.Getenv(keyVariable)), cmp.Or(t.url, os.Getenv(urlVariable))
			order, err := t.run(cmd.Context(), models.Event(args[0]))
			if err != nil {
				return err
			}
			var out bytes.Buffer
			if err := json.Indent(&out, order, "", "  "); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), out.String())
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&t.url, "url", "", urlFlagUsage)
	flags.StringVar(&t.key, "key", "", "test key, which begins with "+credentials.TestKeyPrefix+keyFlagUsage)
	flags.StringVar(&t.location, "location", "", "location_id of the destination (default the first that is covered)")
	return command
}

// trigger makes a test order as a store's system does, over the API.
type trigger struct {
	client             *http.Client
	url, key, location string
}

// phones are those of the scenarios of test mode that have an event; deliveredPhone is that of
// every other event.
var phones = map[models.Event]string{
	models.EventCancelled: "+51987650003", models.EventAttemptFailed: "+51987650013", models.EventReturning: "+51987650013",
	models.EventReturned: "+51987650013", models.EventUpdated: "+51987650012",
}

const deliveredPhone = "+51987650001"

// maxPlaces bounds the places that are tried.
const maxPlaces = 200

// triggeredOrder is the part of an order that tells which events it has had.
type triggeredOrder struct {
	ID          string     `json:"id"`
	AssignedAt  *time.Time `json:"assigned_at"`
	DeliveredAt *time.Time `json:"delivered_at"`
	CancelledAt *time.Time `json:"cancelled_at"`
	Attempts    []struct{} `json:"attempts"`
	Substatus   string     `json:"substatus"`
}

func (o triggeredOrder) hasHad(event models.Event) bool {
	switch event {
	case models.EventAssigned:
		return o.AssignedAt != nil
	case models.EventDelivered:
		return o.DeliveredAt != nil
	case models.EventCancelled, models.EventReturned:
		return o.CancelledAt != nil
	case models.EventAttemptFailed:
		return len(o.Attempts) > 0
	case models.EventReturning:
		return o.Substatus == string(models.SubstatusReturning)
	case models.EventUpdated:
		return o.Substatus == string(models.SubstatusRetryPlanned)
	}
	return true
}

// run makes the order and advances it until it has had the event.
func (t *trigger) run(ctx context.Context, event models.Event) (order json.RawMessage, err error) {
	if err := t.check(event); err != nil {
		return nil, err
	}
	order, err = t.create(ctx, cmp.Or(phones[event], deliveredPhone))
	for err == nil {
		var made triggeredOrder
		if err := json.Unmarshal(order, &made); err != nil {
			return nil, fmt.Errorf("the answer is not an order: %w", err)
		}
		if made.hasHad(event) {
			return order, nil
		}
		order, err = t.call(ctx, http.MethodPost, "/v1/test/orders/"+url.PathEscape(made.ID)+"/advance", nil)
	}
	return nil, err
}

func (t *trigger) check(event models.Event) error {
	problems := []error{checkURL("--url or "+urlVariable, t.url)}
	if !slices.Contains(models.OrderEvents, event) {
		problems = append(problems, fmt.Errorf("%q is no event: choose one of %s", event,
			strings.ReplaceAll(models.JoinEvents(models.OrderEvents), " ", ", ")))
	}
	if !strings.HasPrefix(t.key, credentials.TestKeyPrefix) {
		problems = append(problems, fmt.Errorf("--key or %s must be a test key, which begins with %s", keyVariable,
			credentials.TestKeyPrefix))
	}
	return errors.Join(problems...)
}

// create creates the order, at the first place that the operator covers.
func (t *trigger) create(ctx context.Context, phone string) (json.RawMessage, error) {
	places := []string{t.location}
	if t.location == "" {
		var err error
		if places, err = t.places(ctx); err != nil {
			return nil, err
		}
	}
	failed := errors.New("the operator covers no place of the catalog: name one with --location")
	for _, place := range places {
		order, err := t.call(ctx, http.MethodPost, "/v1/orders", map[string]string{
			"recipient_name": "Destinatario de prueba", "recipient_phone": phone, "delivery_address": "Av. de Prueba 123",
			"location_id": place, "product": "Pedido de prueba",
		})
		var refused *refusedError
		if t.location != "" || !errors.As(err, &refused) || refused.status != http.StatusUnprocessableEntity {
			return order, err
		}
	}
	return nil, failed
}

// place is a record of the catalog: a country has a code, the others have an id.
type place struct {
	ID   string `json:"id"`
	Code string `json:"code"`
}

// places are the districts of the cities where some operator delivers.
func (t *trigger) places(ctx context.Context) (ids []string, err error) {
	countries, err := t.catalog(ctx, "/public/countries", nil)
	for _, country := range countries {
		in := url.Values{"country_code": {country.Code}}
		cities, err := t.catalog(ctx, "/public/cities", in)
		if err != nil {
			return nil, err
		}
		for _, city := range cities {
			in.Set("city", city.ID)
			districts, err := t.catalog(ctx, "/public/locations/tree", in)
			if err != nil {
				return nil, err
			}
			for _, district := range districts {
				ids = append(ids, district.ID)
			}
		}
	}
	return ids[:min(len(ids), maxPlaces)], err
}

func (t *trigger) catalog(ctx context.Context, path string, query url.Values) (places []place, err error) {
	data, err := t.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil)
	if err == nil {
		err = json.Unmarshal(data, &places)
	}
	return places, err
}

// refusedError is an answer that is no success.
type refusedError struct {
	status        int
	code, message string
}

// Error says what the service has answered.
func (e *refusedError) Error() string {
	return fmt.Sprintf("the service answered %d %s: %s", e.status, e.code, e.message)
}

// call makes a request and returns its data.
func (t *trigger) call(ctx context.Context, method, path string, body any) (json.RawMessage, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(t.url, "/")+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-API-Key", t.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := t.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if location := response.Header.Get("Location"); location != "" && response.StatusCode/100 == 3 {
		return nil, fmt.Errorf("%s answered %d and names %s: give the address that it leads to as --url", t.url,
			response.StatusCode,
			location)
	}
	var answer struct {
		Data  json.RawMessage `json:"data"`
		Error string          `json:"error"`
		Code  string          `json:"code"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s answered %d, and not as the service does: %w", t.url, response.StatusCode, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, &refusedError{response.StatusCode, answer.Code, answer.Error}
	}
	return answer.Data, nil
}

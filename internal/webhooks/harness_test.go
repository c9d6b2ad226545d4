package webhooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// harness is a running service with its own operator.
type harness struct {
	*apptest.Service
	*apptest.Tenant
	token string
}

// each runs a test on the package's shared services, one on SQLite and one on PostgreSQL.
func each(t *testing.T, run func(t *testing.T, s *harness)) {
	apptest.EachDatabase(t, func(t *testing.T, service *apptest.Service) { run(t, newHarness(t, service)) })
}

// eachOwn is each with the test's own services, booted with the given options.
func eachOwn(t *testing.T, options apptest.Options, run func(t *testing.T, s *harness)) {
	apptest.EachOwn(t, options, func(t *testing.T, service *apptest.Service) { run(t, newHarness(t, service)) })
}

func newHarness(t *testing.T, service *apptest.Service, change ...func(*models.Operator)) *harness {
	t.Helper()
	return &harness{Service: service, Tenant: service.NewTenant(t, change...)}
}

// staffToken signs in a panel user of the operator, once and only for tests that need it: password
// hashing is slow.
func (s *harness) staffToken(t *testing.T) (token string) {
	t.Helper()
	if s.token == "" {
		s.token = s.SignIn(t, nil)
	}
	return s.token
}

// secondOperator adds an operator to the same service.
func (s *harness) secondOperator(t *testing.T, change ...func(*models.Operator)) *harness {
	t.Helper()
	return newHarness(t, s.Service, change...)
}

// post sends a request to the API and checks its status.
func (s *harness) post(t *testing.T, key, path string, body any, status int) *apptest.Answer {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: path, Key: key, Body: body})
	require.Equal(t, status, answer.Status, answer.Text)
	return answer
}

// register registers a webhook for the given events, or for all.
func (s *harness) register(t *testing.T, key, address string, more map[string]any) (webhookID, secret string) {
	t.Helper()
	body := map[string]any{"url": address, "events": models.Events}
	for name, value := range more {
		body[name] = value
	}
	answer := s.post(t, key, "/v1/webhooks", body, http.StatusCreated)
	return answer.String("id"), answer.String("secret")
}

// onlyCreated subscribes to one event, so that an order makes one delivery; withRetry also enables
// retries.
var (
	onlyCreated = map[string]any{"events": []string{"order.created"}}
	withRetry   = map[string]any{"events": []string{"order.created"}, "retry": true}
)

// move moves an order as a panel user.
func (s *harness) move(t *testing.T, orderID, move string, body any) *apptest.Answer {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/" + move, Token: s.staffToken(t), Body: body})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

// assign assigns a received order to the first rider.
func (s *harness) assign(t *testing.T, orderID string) *apptest.Answer {
	t.Helper()
	return s.move(t, orderID, "assign", map[string]any{"rider_id": s.Riders[0].ID})
}

// delivery is an entry of the delivery log as the API returns it.
type delivery struct {
	ID        string    `json:"id"`
	WebhookID string    `json:"webhook_id"`
	OrderID   *string   `json:"order_id"`
	Event     string    `json:"event"`
	Status    string    `json:"status"`
	Attempts  []attempt `json:"attempts"`
	CreatedAt time.Time `json:"created_at"`
}

type attempt struct {
	At         time.Time `json:"at"`
	Cause      string    `json:"cause"`
	StatusCode *int      `json:"status_code"`
	DurationMS *int64    `json:"duration_ms"`
	Error      *string   `json:"error"`
	Response   *string   `json:"response"`
}

type logPage struct {
	Deliveries []delivery `json:"deliveries"`
	Total      int        `json:"total"`
	Page       int        `json:"page"`
	Limit      int        `json:"limit"`
}

// readData decodes the data of a response.
func readData[T any](t *testing.T, answer *apptest.Answer) T {
	t.Helper()
	var envelope struct {
		Data T `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer.Text), &envelope), answer.Text)
	return envelope.Data
}

// log reads a page of the delivery log with an API key.
func (s *harness) log(t *testing.T, key string, parameters url.Values) logPage {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries?" + parameters.Encode(), Key: key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return readData[logPage](t, answer)
}

// logOf reads the deliveries of one webhook, oldest first.
func (s *harness) logOf(t *testing.T, webhookID string) []delivery {
	t.Helper()
	list := s.log(t, s.Key, url.Values{"webhook_id": {webhookID}, "limit": {"200"}}).Deliveries
	slices.Reverse(list)
	return list
}

// waitUntilFinished returns the deliveries of a webhook once there are count of them and none is
// pending. It polls the database, because the API is rate limited.
func (s *harness) waitUntilFinished(t *testing.T, webhookID string, count int) []delivery {
	t.Helper()
	id := uuid.MustParse(webhookID)
	poll.Until(t, func() error {
		var rows []models.WebhookDelivery
		err := s.App.DB.Query(t.Context()).Where("webhook_id = ?", id).Find(&rows).Error
		if err != nil || len(rows) != count {
			return fmt.Errorf("%d deliveries, not %d: %w", len(rows), count, err)
		}
		for _, row := range rows {
			if row.Status == models.WebhookDeliveryPending {
				return fmt.Errorf("%s is pending", row.Event)
			}
		}
		return nil
	})
	return s.logOf(t, webhookID)
}

// webhookRow reads a webhook from the database.
func (s *harness) webhookRow(t *testing.T, webhookID string) *models.Webhook {
	t.Helper()
	row, err := webhooks.ReadHook(t.Context(), s.App.DB, uuid.MustParse(webhookID))
	require.NoError(t, err)
	return row
}

// deliveryRow reads a delivery from the database.
func (s *harness) deliveryRow(t *testing.T, deliveryID string) (*models.WebhookDelivery, []models.WebhookAttempt) {
	t.Helper()
	return s.readCall(t, t.Context(), deliveryID)
}

func (s *harness) readCall(t *testing.T, ctx context.Context, id string) (*models.WebhookDelivery, []models.WebhookAttempt) {
	var row models.WebhookDelivery
	var attempts []models.WebhookAttempt
	assert.NoError(t, s.App.DB.Query(ctx).Where("id = ?", id).Take(&row).Error)
	assert.NoError(t, s.App.DB.Query(ctx).Where("delivery_id = ?", id).Order("number").Find(&attempts).Error)
	return &row, attempts
}

// activeWebhooks lists the ids of the operator's active webhooks.
func (s *harness) activeWebhooks(t *testing.T) []string {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/webhooks", Key: s.Key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	ids := []string{}
	for _, entry := range answer.List {
		ids = append(ids, entry.(map[string]any)["id"].(string))
	}
	return ids
}

// scope is the operator's scope.
func (s *harness) scope() db.WebhookScope { return db.WebhookScope{OperatorID: s.Operator.ID} }

// eventNames lists the received events in order.
func eventNames(events []apptest.Received) []string {
	list := []string{}
	for _, event := range events {
		list = append(list, event.Event)
	}
	return list
}

func respondWith(status int, text string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
}

package api_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/workflows"
)

// testOrder is an order of a test key, with a receiver of its events.
type testOrder struct {
	s        *apptest.Service
	key      string
	id       string
	created  map[string]any
	receiver *apptest.Receiver
}

// newTestOrder creates an order whose phone ends in the digits.
func newTestOrder(t *testing.T, s *apptest.Service, digits string, changes ...map[string]any) *testOrder {
	t.Helper()
	tenant := s.NewTenant(t)
	o := &testOrder{s: s, key: tenant.NewKey(t, models.APIKey{Test: true, StoreID: &tenant.StoreA.ID}), receiver: apptest.NewReceiver(t, nil)}
	s.Register(t, o.key, o.receiver, map[string]any{"events": column(eventNames(), "name")})
	changes = append([]map[string]any{{"recipient_phone": "987650" + digits}}, changes...)
	answer := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: o.key, Body: apptest.Order(changes...)})
	require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
	o.id, o.created = answer.String("id"), answer.Data
	return o
}

func (o *testOrder) get(t *testing.T) map[string]any {
	t.Helper()
	answer := o.s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + o.id, Key: o.key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer.Data
}

func (o *testOrder) advance(t *testing.T) *apptest.Answer {
	t.Helper()
	return o.s.Do(t, apptest.Request{Method: "POST", Path: "/v1/test/orders/" + o.id + "/advance", Key: o.key})
}

// toTheEnd advances until there is no next step and returns the moves on the way. On a slow machine
// some steps make themselves meanwhile.
func (o *testOrder) toTheEnd(t *testing.T) (moves []string) {
	t.Helper()
	answer := o.advance(t)
	for ; answer.Status == http.StatusOK; answer = o.advance(t) {
		require.Equal(t, true, answer.Data["test"])
	}
	requireError(t, answer, http.StatusConflict, "no_next_step")
	tracking := o.s.Do(t, apptest.Request{Method: "GET", Path: "/v1/track/" + o.get(t)["guide_code"].(string)})
	for _, event := range tracking.Data["events"].([]any)[1:] { // after the creation
		moves = append(moves, event.(map[string]any)["type"].(string))
	}
	return moves
}

// Every scenario of the table goes the way that the table says, one advance after another, and each
// event says that it is a test.
func TestTestMode_everyScenario(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for _, scenario := range orders.Scenarios {
			t.Run(scenario.Digits, func(t *testing.T) {
				t.Parallel()
				var made, left []string
				events := []string{string(models.EventCreated)}
				for _, step := range strings.Split(scenario.Moves(), ", ") {
					move, _, found := strings.Cut(step, " ")
					if !found {
						continue
					}
					move = strings.Trim(move, "`")
					made = append(made, move)
					switch left = append(left, move); move {
					case string(models.MoveUndo): // what was taken back is not told, and neither is that
						left = left[:len(left)-2]
					case string(models.StatusCancelled):
						move = string(models.MoveCancel)
					}
					for _, event := range models.Move(move).Events() {
						events = append(events, string(event))
					}
				}
				if scenario.Moves() == "" || scenario.Digits == "011" {
					return // no order is made: see the tests of these two
				}
				o := newTestOrder(t, s, scenario.Digits)
				require.Equal(t, left, o.toTheEnd(t))
				received := o.receiver.WaitFor(t, len(events))
				require.ElementsMatch(t, events, names(received), made)
				for _, event := range received {
					var body map[string]any
					require.NoError(t, json.Unmarshal(event.Body, &body))
					require.Equal(t, true, body["test"], "%s", event.Body)
				}
			})
		}
	})
}

// A store may decide about a test order itself, in place of its scenario's step; the others follow.
func TestTestMode_theStoreDecidesItself(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		poll.Until(t, func() error {
			o := newTestOrder(t, s, "014")
			for o.get(t)["substatus"] != "attempt_failed" {
				if answer := o.advance(t); answer.Status != http.StatusOK {
					return errors.New("a slow machine: the scenario has decided before")
				}
			}
			decided := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders/" + o.id + "/decision", Key: o.key, Body: fields{"decision": "retry"}})
			if decided.Code == "move_not_allowed" {
				return errors.New("a slow machine: the scenario has decided before")
			}
			require.Equal(t, http.StatusOK, decided.Status, decided.Text)
			require.Equal(t, "retry_planned", decided.Data["substatus"])
			require.Equal(t, []string{"received", "assigned", "attempt_failed", "retry_planned", "received", "assigned", "delivered"}, o.toTheEnd(t))
			return nil
		})
	})
}

// A test order is as real as any: price, guide code, tracking page, timeline, rider, photo.
func TestTestMode_deliveredWithAPhoto(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newTestOrder(t, s, "002", map[string]any{"amount_to_collect": 89.90})
		require.Equal(t, "registered", o.created["status"])
		require.EqualValues(t, 9, o.created["shipping_cost"])
		require.Nil(t, o.created["delivery_proof"])
		o.toTheEnd(t)
		order := o.get(t)
		require.Equal(t, "delivered", order["status"])
		require.EqualValues(t, 44.95, order["actual_amount_collected"])
		require.Equal(t, map[string]any{"name": "Motorizado de prueba", "phone": "+51999000001"}, order["rider"])
		photo := order["delivery_proof"].(map[string]any)["photo_url"].(string)
		response, err := apptest.Client.Get(photo)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.Equal(t, "image/jpeg", response.Header.Get("Content-Type"))

		guide := order["guide_code"].(string)
		tracking := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/track/" + guide})
		require.Equal(t, true, tracking.Data["test"])
		require.Len(t, tracking.Data["events"], 4)
		page := s.Do(t, apptest.Request{Method: "GET", Path: "/track/" + guide})
		require.Contains(t, page.Text, "<strong>PRUEBA</strong>")
		live := s.NewTenant(t)
		liveOrder := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: live.Key, Body: apptest.Order()})
		require.NotContains(t, s.Do(t, apptest.Request{Method: "GET", Path: "/track/" + liveOrder.String("guide_code")}).Text, "PRUEBA")
		require.NotContains(t, liveOrder.Data, "test")
	})
}

// What a test order collects follows a correction of its amount. On a slow machine the order may be
// received before, when its store cannot correct it any more.
func TestTestMode_collectsTheCorrectedAmount(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for digits, want := range map[string]float64{"001": 30, "002": 15} {
			poll.Until(t, func() error {
				o := newTestOrder(t, s, digits)
				corrected := correct(t, s, o.key, o.id, fields{"amount_to_collect": 30})
				if corrected.Code == "correction_not_allowed" {
					return errors.New("a slow machine: the order was received before")
				}
				require.Equal(t, http.StatusOK, corrected.Status, corrected.Text)
				o.toTheEnd(t)
				order := o.get(t)
				require.Equal(t, "delivered", order["status"])
				require.EqualValues(t, want, order["actual_amount_collected"])
				return nil
			})
		}
	})
}

// A test order goes on as it began although its phone, which has chosen its way, is corrected.
func TestTestMode_goesOnAfterAnotherPhone(t *testing.T) {
	goesOnAfterAnotherPhone(t, func(*testing.T, *testOrder) {})
}

// It does so also when its workflow has to begin anew.
func TestTestMode_goesOnInAnotherRun(t *testing.T) {
	goesOnAfterAnotherPhone(t, func(t *testing.T, o *testOrder) {
		require.NoError(t, o.s.Temporal.TerminateWorkflow(t.Context(), workflows.OrderWorkflowID(uuid.MustParse(o.id)), "", "by hand"))
	})
}

func goesOnAfterAnotherPhone(t *testing.T, corrected func(*testing.T, *testOrder)) {
	t.Helper()
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for digits, way := range map[string]struct {
			phone    string
			statuses []string
		}{
			"006": {"005", []string{"cancelled", "received", "assigned", "delivered"}}, "004": {"010", []string{"received", "assigned", "assigned", "delivered"}},
			"005": {"006", []string{"cancelled"}},
		} {
			poll.Until(t, func() error {
				o := newTestOrder(t, s, digits)
				s.WaitForWorkflow(t, o.id)
				for _, phone := range []string{"987651003", "987651" + way.phone} {
					answer := correct(t, s, o.key, o.id, fields{"recipient_phone": phone})
					if answer.Code == "correction_not_allowed" {
						return errors.New("a slow machine: the order was received before")
					}
					require.Equal(t, http.StatusOK, answer.Status, answer.Text)
				}
				corrected(t, o)
				require.Equal(t, way.statuses, o.toTheEnd(t), digits)
				return nil
			})
		}
	})
}

func TestTestMode_identityAndMapLink(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		document := map[string]any{
			"recipient_doc_type": "dni", "recipient_doc_number": "45678912", "delivery_maps_url": "https://maps.google.com/maps?q=-12.1219%2C-77.0297",
		}
		for digits, want := range map[string]struct{ verified, point bool }{"001": {true, true}, "007": {false, true}, "008": {true, false}} {
			o := newTestOrder(t, s, digits, document)
			poll.Until(t, func() error {
				if order := o.get(t); order["recipient_doc_verified"] == nil {
					return errors.New("the document is not checked yet")
				}
				return nil
			})
			order := o.get(t)
			require.Equal(t, want.verified, order["recipient_doc_verified"], digits)
			require.Equal(t, want.point, order["delivery_lat"] != nil, digits)
		}
	})
}

func TestTestMode_warningsAndRefusals(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		key := tenant.NewKey(t, models.APIKey{Test: true})
		create := func(key, digits, idempotencyKey string) *apptest.Answer {
			request := apptest.Request{Method: "POST", Path: "/v1/orders", Key: key, Body: apptest.Order(map[string]any{"recipient_phone": "987650" + digits})}
			if idempotencyKey != "" {
				request.Header = map[string]string{"Idempotency-Key": idempotencyKey}
			}
			return s.Do(t, request)
		}
		atRisk := create(key, "009", "")
		require.Equal(t, http.StatusCreated, atRisk.Status, atRisk.Text)
		require.Contains(t, atRisk.Warning, "zona de prueba")
		requireError(t, create(key, "010", ""), http.StatusUnprocessableEntity, "not_covered")

		for _, idempotencyKey := range []string{"venta-1", "venta-2", ""} {
			down := create(key, "011", idempotencyKey)
			requireError(t, down, http.StatusServiceUnavailable, "service_unavailable")
			require.NotEmpty(t, down.Header.Get("Retry-After"))
			again := create(key, "011", idempotencyKey)
			require.Equal(t, http.StatusCreated, again.Status, again.Text)
			require.Empty(t, again.Header.Get("Idempotent-Replayed"))
		}
		replayed := create(key, "011", "venta-1")
		require.Equal(t, "true", replayed.Header.Get("Idempotent-Replayed"))

		// A live key has no scenarios, and an Idempotency-Key of its own.
		for _, digits := range []string{"009", "010", "011"} {
			live := create(tenant.Key, digits, "venta-1"+digits)
			require.Equal(t, http.StatusCreated, live.Status, live.Text)
			require.Empty(t, live.Warning)
		}
		require.NotEqual(t, replayed.String("id"), create(tenant.Key, "011", "venta-1").String("id"))
	})
}

// Advance is for test keys that may write, and for their own orders.
func TestTestMode_whoAdvances(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		key := tenant.NewKey(t, models.APIKey{Test: true, StoreID: &tenant.StoreA.ID})
		id := s.CreateOrder(t, key)
		advance := func(key, id string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: "POST", Path: "/v1/test/orders/" + id + "/advance", Key: key})
		}
		requireError(t, advance(tenant.Key, id), http.StatusForbidden, "test_key_required")
		requireError(t, advance(tenant.Key, s.CreateOrder(t, tenant.Key)), http.StatusForbidden, "test_key_required")
		readOnly := tenant.NewKey(t, models.APIKey{Test: true}, models.ScopeReadOrders)
		requireError(t, advance(readOnly, id), http.StatusForbidden, "missing_scope")
		ofB := tenant.NewKey(t, models.APIKey{Test: true, StoreID: &tenant.StoreB.ID})
		requireError(t, advance(ofB, id), http.StatusNotFound, "order_not_found")
		requireError(t, advance(key, "no-es-un-id"), http.StatusNotFound, "order_not_found")

		poll.Until(t, func() error {
			id = s.CreateOrder(t, key)
			cancelled := s.Do(t, apptest.Request{Method: "PATCH", Path: "/v1/orders/" + id + "/cancel", Key: key})
			if cancelled.Code == "move_not_allowed" {
				return errors.New("a slow machine: the order was received before")
			}
			require.Equal(t, http.StatusOK, cancelled.Status, cancelled.Text)
			return nil
		})
		requireError(t, advance(key, id), http.StatusConflict, "no_next_step")
	})
}

// The riders of test orders are in no list, and cannot be assigned to a live order.
func TestTestMode_ridersAreHidden(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		key := tenant.NewKey(t, models.APIKey{Test: true})
		test := &testOrder{s: s, key: key, id: s.CreateOrder(t, key)}
		test.toTheEnd(t) // so that a rider was assigned
		token := tenant.SignIn(t, nil)
		riders := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/riders", Token: token})
		require.Len(t, riders.List, len(tenant.Riders))
		rider := orders.TestRiders(tenant.Operator.ID, tenant.Operator.CreatedAt)[0].ID.String()
		changed := s.Do(t, apptest.Request{Method: "PATCH", Path: "/panel/api/riders/" + rider, Token: token, Body: map[string]any{"active": true}})
		requireError(t, changed, http.StatusNotFound, "rider_not_found")
		id := s.CreateOrder(t, tenant.Key)
		panelMove(t, s, token, id, "receive", nil, 200)
		panelMove(t, s, token, id, "assign", map[string]any{"rider_id": rider}, 400)
	})
}

// The recipient's data of a test order is erased a week after its last change, however long that of
// others is kept, and without an entry in the audit log.
func TestTestMode_erasedAfterAWeek(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		key, now := tenant.NewKey(t, models.APIKey{Test: true}), time.Now()
		cancelled, test := apptest.CancelledBy(models.ByStore, "motivo"), func(o *models.Order) { o.Test = true }
		old, recent := tenant.Row(now.AddDate(0, 0, -8), cancelled, test), tenant.Row(now.AddDate(0, 0, -6), cancelled, test)
		live := tenant.Row(now.AddDate(0, 0, -8), cancelled)
		tenant.InsertRows(t, []models.Order{old, recent, live})
		poll.Until(t, func() error { // other tests' test orders may be in the way
			if _, err := s.App.Orders.ApplyRetention(t.Context(), func() bool { return false }); err != nil {
				return err
			}
			if name := readName(t, s, key, old.ID); name != models.ErasedText {
				return errors.New(name + " is not erased")
			}
			return nil
		})
		require.Equal(t, "Rosa Díaz", readName(t, s, key, recent.ID))
		require.Equal(t, "Rosa Díaz", readName(t, s, tenant.Key, live.ID))
		log := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/audit", Token: tenant.SignInAs(t, &models.User{Admin: true})})
		require.NotContains(t, log.Text, old.ID.String())
	})
}

func readName(t *testing.T, s *apptest.Service, key string, id uuid.UUID) string {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + id.String(), Key: key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer.String("recipient_name")
}

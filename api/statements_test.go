package api_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/internal/requestid"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/workflows"
)

// Statements of what stores and staff ask for most, counted exactly: one more is a decision to be
// made here, not an accident. PostgreSQL finds a session and counts its request with one statement,
// which brings the order that the request is about. The keys of requests that arrive together share
// one, which is nobody's and not counted here. SQLite takes two, and one more for the order. A
// delivery reads the order after its body, which may be a photo. A creation's inserts are queued
// for PostgreSQL, and sending them counts as one more; only that takes a round trip. What the
// workflow of the order writes counts for itself, below.
func TestStatements_ofTheBusiestRequests(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{}, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		key, session, create, order := int64(0), int64(1), int64(5), int64(0)
		if s.App.DB.Dialect() == db.SQLite {
			key, session, create, order = 2, 2, 4, 1
		}
		count := func(name string, expected int64, request apptest.Request) *apptest.Answer {
			id := uuid.NewString()
			if request.Header == nil {
				request.Header = map[string]string{}
			}
			request.Header["X-Request-Id"] = id
			answer := s.Do(t, request)
			require.Less(t, answer.Status, http.StatusBadRequest, answer.Text)
			require.Equal(t, expected, s.Statements(id), name)
			return answer
		}
		s.CreateOrder(t, tenant.Key) // the operator's settings are read once
		created := count("create", key+create, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()})
		count("create with an Idempotency-Key", key+6, apptest.Request{
			Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(), Header: map[string]string{"Idempotency-Key": uuid.NewString()},
		})
		count("read", key+order, apptest.Request{Method: "GET", Path: "/v1/orders/" + created.String("id"), Key: tenant.Key})
		count("list", key+2, apptest.Request{Method: "GET", Path: "/v1/orders", Key: tenant.Key})
		count("events", key+1, apptest.Request{Method: "GET", Path: "/v1/events?limit=200", Key: tenant.Key})
		poll.Until(t, func() error {
			if s.Do(t, apptest.Request{Method: "GET", Path: "/v1/events", Key: tenant.Key}).String("cursor") == "" {
				return errors.New("nothing is published yet")
			}
			return nil
		})
		cursor := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/events?limit=1", Key: tenant.Key}).String("cursor")
		count("events after a cursor", key+2, apptest.Request{Method: "GET", Path: "/v1/events?limit=200&after=" + cursor, Key: tenant.Key})
		count("track", 3, apptest.Request{Method: "GET", Path: "/v1/track/" + created.String("guide_code")})

		path := "/panel/api/orders/" + created.String("id")
		s.WaitForWorkflow(t, created.String("id"))
		count("receive", session+order+1, apptest.Request{Method: "POST", Path: path + "/receive", Token: token, Body: map[string]any{"branch_id": tenant.Other.ID}})
		count("assign", session+order+1, apptest.Request{Method: "POST", Path: path + "/assign", Token: token, Body: map[string]any{"rider_id": tenant.Riders[0].ID}})
		count("deliver", session+2, apptest.Request{Method: "POST", Path: path + "/deliver", Token: token, Body: map[string]any{"actual_amount_collected": 0}})
		another := s.CreateOrder(t, tenant.Key)
		s.WaitForWorkflow(t, another)
		count("cancel", key+order+1, apptest.Request{Method: "PATCH", Path: "/v1/orders/" + another + "/cancel", Key: tenant.Key})
	})
}

// What the order's workflow writes at a move, BEGIN and COMMIT aside. The writes are queued for
// PostgreSQL, and sending them with the COMMIT counts as one more: with what is read before, that
// is all that takes a round trip.
func TestStatements_ofAMove(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		send := int64(1)
		if s.App.DB.Dialect() == db.SQLite {
			send = 0
		}
		for name, c := range map[string]struct {
			webhook           bool
			receive, announce int64
		}{
			"no webhook":  {webhook: false, receive: 4 + send, announce: 5 + send},
			"one webhook": {webhook: true, receive: 4 + send, announce: 7 + send},
		} {
			tenant := s.NewTenant(t)
			if c.webhook {
				s.Register(t, tenant.Key, apptest.NewReceiver(t, nil))
			}
			orderID := uuid.MustParse(s.CreateOrder(t, tenant.Key))
			apply := func(move workflows.ApplyMoveInput) int64 {
				id := uuid.NewString()
				_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE deliveries SET status = 'delivered', next_attempt_at = NULL, finished_at = created_at")
				require.NoError(t, err) // the event before has arrived
				move.OrderID, move.EntryID, move.By, move.At = orderID, uuid.New(), models.ByOperator, time.Now()
				result, err := s.App.Orders.Apply(requestid.With(t.Context(), id), move)
				require.NoError(t, err)
				require.Empty(t, result.Refused)
				require.Equal(t, c.webhook && move.Move != models.MoveReceive, len(result.Calls) > 0)
				return s.Statements(id)
			}
			require.Equal(t, c.receive, apply(workflows.ApplyMoveInput{
				Seq: 2, Move: models.MoveReceive, To: models.StatusReceived, Message: models.Message{BranchID: &tenant.Other.ID},
			}), name)
			require.Equal(t, c.announce, apply(workflows.ApplyMoveInput{
				Seq: 3, Move: models.MoveAssign, To: models.StatusAssigned, Message: models.Message{RiderID: &tenant.Riders[0].ID},
			}), name)
			const ledger = 2 // the entries and their postings
			require.Equal(t, c.announce+ledger, apply(workflows.ApplyMoveInput{
				Seq: 4, Move: models.MoveDeliver, To: models.StatusDelivered, Message: models.Message{},
			}), name)
		}
	})
}

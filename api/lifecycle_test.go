package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"despacho/test/apptest"
	"despacho/test/poll"
)

// panelMove posts a move and requires the status.
func panelMove(t *testing.T, s *apptest.Service, token, orderID, move string, body any, status int) *apptest.Answer {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/orders/" + orderID + "/" + move, Token: token, Body: body})
	require.Equal(t, status, answer.Status, answer.Text)
	return answer
}

// The moves of an order over HTTP, from its creation to its delivery. The webhook gets an event for
// each but the reception.
func TestLifecycle_registeredReceivedAssignedDelivered(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		receiver := apptest.NewReceiver(t, nil)
		s.Register(t, tenant.Key, receiver)
		operator := tenant.SignIn(t, nil)

		id := s.CreateOrder(t, tenant.KeyA, map[string]any{"amount_to_collect": 89.9})
		order := panelMove(t, s, operator, id, "receive", map[string]any{"branch_id": tenant.Other.ID}, 200)
		require.Equal(t, "received", order.String("status"))
		require.Equal(t, tenant.Other.ID.String(), order.String("branch_id"))
		require.NotNil(t, order.Data["received_at"])

		order = panelMove(t, s, operator, id, "assign", map[string]any{"rider_id": tenant.Riders[0].ID}, 200)
		require.Equal(t, "assigned", order.String("status"))
		require.Equal(t, "En reparto", order.String("status_label"))
		require.Equal(t, map[string]any{"name": "Carlos Quispe", "phone": "+51987654321"}, order.Data["rider"])

		refused := panelMove(t, s, operator, id, "deliver", map[string]any{}, 400)
		require.Equal(t, []string{"actual_amount_collected"}, refused.Fields, "cash on delivery needs what was collected")
		order = panelMove(t, s, operator, id, "deliver", map[string]any{"actual_amount_collected": 90}, 200)
		require.Equal(t, "delivered", order.String("status"))
		require.EqualValues(t, 90, order.Data["actual_amount_collected"])
		require.EqualValues(t, 89.9, order.Data["amount_to_collect"])

		events := receiver.WaitFor(t, 3)
		require.Equal(t, []string{"order.created", "order.assigned", "order.delivered"}, names(events))
		require.Nil(t, events[0].Data["rider"])
		require.Equal(t, "registered", events[0].Data["status"], "data is as it was at the event")
		require.Equal(t, map[string]any{"name": "Carlos Quispe", "phone": "+51987654321"}, events[1].Data["rider"])
		require.EqualValues(t, 90, events[2].Data["actual_amount_collected"])

		poll.Until(t, func() error {
			described, err := s.Temporal.DescribeWorkflowExecution(t.Context(), "order-"+id, "")
			if err != nil {
				return err
			}
			if status := described.WorkflowExecutionInfo.Status; status != enums.WORKFLOW_EXECUTION_STATUS_COMPLETED {
				return fmt.Errorf("workflow is %s", status)
			}
			return nil
		})
	})
}

func names(events []apptest.Received) []string {
	list := make([]string, len(events))
	for i, event := range events {
		list[i] = event.Event
	}
	return list
}

// Reassignment tells receivers again; the same rider again is no move.
func TestLifecycle_reassignment(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		receiver := apptest.NewReceiver(t, nil)
		s.Register(t, tenant.Key, receiver)
		operator := tenant.SignIn(t, nil)
		id := s.CreateOrder(t, tenant.Key)
		panelMove(t, s, operator, id, "receive", nil, 200)
		for _, rider := range []int{0, 0, 1} {
			panelMove(t, s, operator, id, "assign", map[string]any{"rider_id": tenant.Riders[rider].ID}, 200)
		}
		panelMove(t, s, operator, id, "deliver", nil, 200)
		events := receiver.WaitFor(t, 4)
		require.Equal(t, []string{"order.created", "order.assigned", "order.assigned", "order.delivered"}, names(events))
		require.Equal(t, "María Huamán", events[2].Data["rider"].(map[string]any)["name"])
	})
}

// Moves that the order's state does not allow answer 409 in the panel.
func TestLifecycle_refusedMoves(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		id := s.CreateOrder(t, tenant.Key)
		rider := map[string]any{"rider_id": tenant.Riders[0].ID}
		panelMove(t, s, operator, id, "assign", rider, 409)
		panelMove(t, s, operator, id, "deliver", nil, 409)
		panelMove(t, s, operator, id, "receive", nil, 200)
		panelMove(t, s, operator, id, "receive", nil, 409)
		panelMove(t, s, operator, id, "assign", rider, 200)
		panelMove(t, s, operator, id, "cancel", map[string]any{"reason": "Dirección falsa", "note": "Se llamó dos veces"}, 200)
		panelMove(t, s, operator, id, "cancel", nil, 409)
		panelMove(t, s, operator, id, "deliver", nil, 409)

		order := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + id, Key: tenant.Key})
		require.Equal(t, map[string]any{"by": "operator", "reason": "Dirección falsa", "note": "Se llamó dos veces"}, order.Data["cancellation"])
		require.NotNil(t, order.Data["cancelled_at"])
	})
}

// 50 parallel cancels give exactly one success.
func TestRace_fiftyCancelsOneSuccess(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		receiver := apptest.NewReceiver(t, nil)
		s.Register(t, tenant.Key, receiver, map[string]any{"events": []string{"order.cancelled"}})
		id := s.CreateOrder(t, tenant.Key)
		statuses := inParallel(t, 50, func(int) apptest.Request {
			return apptest.Request{Method: "PATCH", Path: "/v1/orders/" + id + "/cancel", Key: tenant.Key}
		}, s)
		require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusBadRequest: 49}, statuses)
		require.Len(t, receiver.WaitFor(t, 1), 1)
	})
}

// Cancel against reception in parallel has one winner, and Temporal, the database and the answers
// agree on it.
func TestRace_cancelAgainstReception(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		for range 10 {
			id := s.CreateOrder(t, tenant.KeyA)
			received := false
			statuses := inParallel(t, 2, func(i int) apptest.Request {
				if i == 0 {
					return apptest.Request{Method: "PATCH", Path: "/v1/orders/" + id + "/cancel", Key: tenant.KeyA}
				}
				return apptest.Request{Method: "POST", Path: "/panel/api/orders/" + id + "/receive", Token: operator}
			}, s)
			require.Equal(t, 1, statuses[http.StatusOK], "%v", statuses)
			order := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + id, Key: tenant.KeyA})
			if statuses[http.StatusConflict] == 1 {
				require.Equal(t, "cancelled", order.String("status"))
			} else {
				received = true
				require.Equal(t, 1, statuses[http.StatusBadRequest], "%v", statuses)
				require.Equal(t, "received", order.String("status"))
			}
			poll.Until(t, func() error {
				described, err := s.Temporal.DescribeWorkflowExecution(t.Context(), "order-"+id, "")
				if err != nil {
					return err
				}
				running := described.WorkflowExecutionInfo.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
				if running != received {
					return fmt.Errorf("workflow running: %v, order %s", running, order.String("status"))
				}
				return nil
			})
		}
	})
}

// inParallel sends requests at once and counts the statuses of the answers.
func inParallel(t *testing.T, count int, request func(int) apptest.Request, s *apptest.Service) map[int]int {
	t.Helper()
	return statuses(allAtOnce(t, count, func(i int) (*apptest.Answer, error) { return s.Try(request(i)) }))
}

// allAtOnce makes calls at once and returns their answers.
func allAtOnce(t *testing.T, count int, call func(int) (*apptest.Answer, error)) []*apptest.Answer {
	t.Helper()
	answers := make([]*apptest.Answer, count)
	errs := make([]error, count)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range count {
		done.Go(func() {
			start.Wait()
			answers[i], errs[i] = call(i)
		})
	}
	start.Done()
	done.Wait()
	require.NoError(t, errors.Join(errs...))
	return answers
}

func statuses(answers []*apptest.Answer) map[int]int {
	counted := map[int]int{}
	for _, answer := range answers {
		counted[answer.Status]++
	}
	return counted
}

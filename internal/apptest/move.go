package apptest

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
)

// Move sends a request that moves an order. On a very busy machine the service may not hear in time whether the move was made (503, try_again): then the
// test does as the answer says, and looks at the order before it asks again.
func (s *Service) Move(t testing.TB, orderID string, request Request) *Answer {
	t.Helper()
	before := s.movesOf(t, orderID)
	answer := s.Do(t, request)
	inDoubt := answer.Code == "try_again"
	for tries := 1; inDoubt && answer.Status != http.StatusOK && tries < 4; tries++ {
		if s.movedOn(t, orderID, before) {
			return s.Do(t, Request{Method: http.MethodGet, Path: pathOf(orderID, request), Key: request.Key, Token: request.Token})
		}
		answer = s.Do(t, request)
	}
	return answer
}

// pathOf is where whoever sent the request reads the order.
func pathOf(orderID string, request Request) string {
	if request.Token != "" {
		return "/panel/api/orders/" + orderID
	}
	return "/v1/orders/" + orderID
}

// movesOf counts the moves of an order, none where there is no such order.
func (s *Service) movesOf(t testing.TB, orderID string) int {
	t.Helper()
	id, err := uuid.Parse(orderID)
	if err != nil {
		return 0
	}
	order, err := s.App.DB.OrderViewByID(t.Context(), id)
	if err != nil {
		return 0
	}
	return order.Seq
}

// movedOn waits a while for a move that is still under way.
func (s *Service) movedOn(t testing.TB, orderID string, before int) bool {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if s.movesOf(t, orderID) > before {
			return true
		}
	}
	return false
}

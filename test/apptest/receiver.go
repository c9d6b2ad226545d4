package apptest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/poll"
)

// Received is one event as a receiver got it.
type Received struct {
	Header http.Header
	Body   []byte
	Event  string
	Data   map[string]any
}

// Receiver is a real HTTPS receiver of webhooks.
type Receiver struct {
	*httptest.Server
	answer http.HandlerFunc
	mu     sync.Mutex
	events []Received
	// more is closed when the next event arrives.
	more chan struct{}
}

// NewReceiver starts a receiver; answer nil means 200.
func NewReceiver(t *testing.T, answer http.HandlerFunc) *Receiver {
	t.Helper()
	r := &Receiver{answer: answer, more: make(chan struct{})}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

func (r *Receiver) receive(w http.ResponseWriter, request *http.Request) {
	content, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	received := Received{Header: request.Header.Clone(), Body: content}
	var envelope struct {
		Event string         `json:"event"`
		Data  map[string]any `json:"data"`
	}
	if json.Unmarshal(content, &envelope) == nil {
		received.Event, received.Data = envelope.Event, envelope.Data
	}
	r.mu.Lock()
	r.events = append(r.events, received)
	close(r.more)
	r.more = make(chan struct{})
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, request)
	}
}

// Events lists what arrived so far.
func (r *Receiver) Events() []Received {
	events, _ := r.snapshot()
	return events
}

func (r *Receiver) snapshot() (events []Received, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events), r.more
}

// WaitFor returns as soon as so many events have arrived: a test that has the receiver wait has no
// time to lose.
func (r *Receiver) WaitFor(t *testing.T, count int) []Received {
	t.Helper()
	late := time.After(poll.Deadline)
	for {
		events, more := r.snapshot()
		if len(events) >= count {
			return events
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("%d events arrived within %s, not %d", len(events), poll.Deadline, count)
		}
	}
}

// Register registers the receiver for every event and returns the webhook's id and secret.
func (s *Service) Register(t *testing.T, key string, r *Receiver, more ...map[string]any) (id, secret string) {
	t.Helper()
	body := map[string]any{"url": r.URL + "/hook",
		"events": []string{"order.created", "order.assigned", "order.delivered", "order.cancelled"}}
	for _, members := range more {
		for name, value := range members {
			body[name] = value
		}
	}
	answer := s.Do(t, Request{Method: "POST", Path: "/v1/webhooks", Key: key, Body: body})
	require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
	return answer.String("id"), answer.String("secret")
}

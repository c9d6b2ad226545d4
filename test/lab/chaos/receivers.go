package chaos

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"despacho/internal/dev"
	"despacho/internal/webhooks/sender"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// The operator's two webhooks, by the last part of their URLs.
const (
	hookWithoutRetries = "once"
	hookWithRetries    = "again"
)

// askedFor are the events that each webhook asks for.
var askedFor = map[string][]models.Event{hookWithoutRetries: models.Events, hookWithRetries: models.OrderEvents}

// receivers is the server of both webhooks; it counts the events it receives.
type receivers struct {
	receiver *cluster.Receiver

	mu      sync.Mutex
	secrets map[string]string
	// received counts the requests by webhook and webhook-id.
	received map[string]map[string]int
	// arrivals are the webhook-ids in the order of their first requests, by webhook.
	arrivals      map[string][]string
	badSignatures int
}

func startReceivers(certificates *dev.Certificates) (*receivers, error) {
	r := &receivers{secrets: map[string]string{},
		received: map[string]map[string]int{hookWithoutRetries: {}, hookWithRetries: {}}, arrivals: map[string][]string{}}
	var err error
	r.receiver, err = cluster.StartReceiver(certificates, r.record)
	return r, err
}

func (r *receivers) record(request *http.Request, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	which := request.URL.Path[strings.LastIndexByte(request.URL.Path, '/')+1:]
	if sender.Verify(request.Header, body, time.Now(), r.secrets[which]) != nil || r.received[which] == nil {
		r.badSignatures++
		return
	}
	id := request.Header.Get("webhook-id")
	if r.received[which][id]++; r.received[which][id] == 1 {
		r.arrivals[which] = append(r.arrivals[which], id)
	}
}

// count is how often an event was received.
func (r *receivers) count(which, id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.received[which][id]
}

// total is how many requests have come.
func (r *receivers) total() (total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, events := range r.received {
		for _, times := range events {
			total += times
		}
	}
	return total + r.badSignatures
}

// registerWebhooks registers both webhooks, one for the events of the contract, one for all.
func (s *stack) registerWebhooks(ctx context.Context) error {
	c := s.newClient(stream(s.options.Seed, planStream))
	defer c.close()
	for _, which := range []string{hookWithoutRetries, hookWithRetries} {
		body, err := json.Marshal(map[string]any{"url": s.receivers.receiver.URL + "/" + which, "events": askedFor[which],
			"retry": which == hookWithRetries})
		if err != nil {
			return err
		}
		got, err := c.at(s.balancer.pick()).Expect(ctx, http.StatusCreated, cluster.Request{
			Method: http.MethodPost, Path: "/panel/api/webhooks", Token: s.operator.token, Body: body,
		})
		if err != nil {
			return err
		}
		var answer struct {
			Data struct{ Secret string }
		}
		if err := json.Unmarshal(got.Body, &answer); err != nil {
			return err
		}
		s.receivers.mu.Lock()
		s.receivers.secrets[which] = answer.Data.Secret
		s.receivers.mu.Unlock()
	}
	return nil
}

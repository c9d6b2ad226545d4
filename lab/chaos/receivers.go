package chaos

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"despacho/dev"
	"despacho/lab/cluster"
	"despacho/models"
	"despacho/webhooks/sender"
)

// The operator's two webhooks, by the last part of their URLs.
const (
	hookWithoutRetries = "once"
	hookWithRetries    = "again"
)

// receivers is the server of both webhooks; it counts the events it receives.
type receivers struct {
	receiver *cluster.Receiver

	mu      sync.Mutex
	secrets map[string]string
	// received counts the requests by webhook and webhook-id.
	received      map[string]map[string]int
	badSignatures int
}

func startReceivers(certificates *dev.Certificates) (*receivers, error) {
	a := &receivers{secrets: map[string]string{}, received: map[string]map[string]int{hookWithoutRetries: {}, hookWithRetries: {}}}
	var err error
	a.receiver, err = cluster.StartReceiver(certificates, a.record)
	return a, err
}

func (a *receivers) record(r *http.Request, body []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	which := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if sender.Verify(r.Header, body, time.Now(), a.secrets[which]) != nil || a.received[which] == nil {
		a.badSignatures++
		return
	}
	a.received[which][r.Header.Get("webhook-id")]++
}

// count is how often an event was received.
func (a *receivers) count(which, id string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.received[which][id]
}

// registerWebhooks registers both webhooks for all events.
func (s *stack) registerWebhooks(ctx context.Context) error {
	c := s.newClient(stream(s.options.Seed, planStream))
	defer c.close()
	for _, which := range []string{hookWithoutRetries, hookWithRetries} {
		body, err := json.Marshal(map[string]any{"url": s.receivers.receiver.URL + "/" + which, "events": models.Events, "retry": which == hookWithRetries})
		if err != nil {
			return err
		}
		got, err := c.at(s.balancer.pick()).Expect(ctx, http.StatusCreated, cluster.Request{
			Method: http.MethodPost, Path: "/panel/api/webhooks", Token: s.tenant.token, Body: body,
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

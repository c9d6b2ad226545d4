package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"despacho/internal/dev"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// receiver is a webhook receiver.
type receiver struct {
	*cluster.Receiver
	arrivals chan time.Time
	// hanging counts the events that hang or hung.
	hanging atomic.Int64
}

// hangingPath is below the receiver's URL and never answers: another receiver at the same host.
const hangingPath = "/hangs"

// startReceiver notes an event's arrival when its whole body has been read.
func startReceiver(certificates *dev.Certificates) (*receiver, error) {
	r := &receiver{arrivals: make(chan time.Time, 1024)}
	var err error
	r.Receiver, err = cluster.StartReceiver(certificates, func(request *http.Request, _ []byte) {
		if strings.HasSuffix(request.URL.Path, hangingPath) {
			r.hanging.Add(1)
			<-request.Context().Done()
			return
		}
		select {
		case r.arrivals <- time.Now():
		default: // the buffer is full: no study is reading
		}
	})
	return r, err
}

// arrival waits for the next event.
func (r *receiver) arrival(ctx context.Context) (time.Time, error) {
	select {
	case at := <-r.arrivals:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	case <-time.After(cluster.CallTimeout):
		return time.Time{}, fmt.Errorf("no event arrived within %s", cluster.CallTimeout)
	}
}

// registerReceiver registers the receiver for every event of webhookOperator.
func (v *service) registerReceiver(ctx context.Context) error {
	_, err := v.register(ctx, v.stack.tenants.webhookKeys.Key(),
		map[string]any{"url": v.stack.receiver.URL, "events": models.Events})
	return err
}

// register registers a webhook with a key and returns its id.
func (v *service) register(ctx context.Context, key string, members map[string]any) (id string, err error) {
	body, err := json.Marshal(members)
	if err != nil {
		return "", err
	}
	client := cluster.NewConnection(v.api.Address)
	defer client.Close()
	answer, err := client.Expect(ctx, http.StatusCreated, cluster.Request{
		Method: http.MethodPost, Path: "/v1/webhooks", Key: key, Body: body,
	})
	if err != nil {
		return "", err
	}
	var registered struct{ Data struct{ ID string } }
	if err := json.Unmarshal(answer.Body, &registered); err != nil {
		return "", err
	}
	if registered.Data.ID == "" {
		return "", errors.New("the new webhook has no id")
	}
	return registered.Data.ID, nil
}

// deactivate ends a webhook with a key.
func (v *service) deactivate(ctx context.Context, key, webhook string) error {
	client := cluster.NewConnection(v.api.Address)
	defer client.Close()
	_, err := client.Expect(ctx, http.StatusOK, cluster.Request{
		Method: http.MethodDelete, Path: "/v1/webhooks/" + webhook, Key: key,
	})
	return err
}

package bench

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"despacho/internal/devstack"
	"despacho/models"
)

// receiver is the HTTPS server of a store that wants to hear of its orders.
type receiver struct {
	url      string
	server   *http.Server
	arrivals chan time.Time
}

func startReceiver(certificates *devstack.Certificates) (*receiver, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "https://" + listener.Addr().String() + "/hook", arrivals: make(chan time.Time, 1024)}
	r.server = &http.Server{
		Handler: http.HandlerFunc(r.receive), ReadHeaderTimeout: 5 * time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificates.Server}, MinVersion: tls.VersionTLS12},
	}
	go func() { _ = r.server.ServeTLS(listener, "", "") }()
	return r, nil
}

// receive counts an event as arrived once all of it has been read.
func (r *receiver) receive(w http.ResponseWriter, request *http.Request) {
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return
	}
	select {
	case r.arrivals <- time.Now():
	default: // nobody has been waiting for a thousand events
	}
	w.WriteHeader(http.StatusOK)
}

// arrival waits for the next event.
func (r *receiver) arrival(ctx context.Context) (time.Time, error) {
	select {
	case at := <-r.arrivals:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	case <-time.After(callTimeout):
		return time.Time{}, fmt.Errorf("no event arrived within %s", callTimeout)
	}
}

func (r *receiver) stop(ctx context.Context) error { return r.server.Shutdown(ctx) }

// registerReceiver has the one operator's webhook call the receiver on every event.
func (v *service) registerReceiver(ctx context.Context) error {
	body, err := json.Marshal(map[string]any{
		"url": v.stack.receiver.url, "events": models.Events,
	})
	if err != nil {
		return err
	}
	client := newConnection(v.api.address)
	defer client.close()
	_, err = client.expect(ctx, http.StatusCreated, request{
		method: http.MethodPost, path: "/v1/webhooks", key: v.stack.tenants.hooked.key(), body: body,
	})
	return err
}

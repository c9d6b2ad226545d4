package cluster

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"despacho/internal/dev"
)

// Receiver is a webhook receiver over HTTPS. It can be killed and restarted at the same address.
type Receiver struct {
	// URL is the address to register; every path below it is served.
	URL string

	address string
	handler http.Handler
	tls     *tls.Config

	mu     sync.Mutex
	server *http.Server
}

// StartReceiver starts one that answers 200 after it has read an event and called received.
func StartReceiver(certificates *dev.Certificates, received func(r *http.Request, body []byte)) (*Receiver, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	r := &Receiver{
		URL: "https://" + address + "/hook", address: address,
		tls: &tls.Config{Certificates: []tls.Certificate{certificates.Server}, MinVersion: tls.VersionTLS12},
		handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			body, err := io.ReadAll(request.Body)
			if err != nil {
				return
			}
			received(request, body)
			w.WriteHeader(http.StatusOK)
		}),
	}
	return r, r.Restart()
}

// Kill closes all connections and stops listening until Restart.
func (r *Receiver) Kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server.Close()
}

// Restart listens on the same address again.
func (r *Receiver) Restart() error {
	listener, err := net.Listen("tcp", r.address)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	server := &http.Server{
		Handler: r.handler, ReadHeaderTimeout: 5 * time.Second, TLSConfig: r.tls,
		ErrorLog: log.New(io.Discard, "", 0), // connections that Kill closed
	}
	r.server = server
	go func() { _ = server.ServeTLS(listener, "", "") }()
	return nil
}

// Stop shuts down gracefully.
func (r *Receiver) Stop(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server.Shutdown(ctx)
}

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

	"despacho/dev"
)

// Receiver is the HTTPS server of somebody who wants to hear of orders. It can die and return at
// the same address.
type Receiver struct {
	// URL is what to register; any path below it is served alike.
	URL string

	address string
	handler http.Handler
	tls     *tls.Config

	mu     sync.Mutex
	server *http.Server
}

// StartReceiver starts one that answers 200 once it has read all of an event and told heard.
func StartReceiver(certificates *dev.Certificates, heard func(r *http.Request, body []byte)) (*Receiver, error) {
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
			heard(request, body)
			w.WriteHeader(http.StatusOK)
		}),
	}
	return r, r.Restart()
}

// Die cuts off whoever is speaking and listens to nobody until Return.
func (r *Receiver) Kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server.Close()
}

// Return listens again where it listened before.
func (r *Receiver) Restart() error {
	listener, err := net.Listen("tcp", r.address)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	server := &http.Server{
		Handler: r.handler, ReadHeaderTimeout: 5 * time.Second, TLSConfig: r.tls,
		ErrorLog: log.New(io.Discard, "", 0), // whom it cut off by dying
	}
	r.server = server
	go func() { _ = server.ServeTLS(listener, "", "") }()
	return nil
}

// Stop ends it once nobody is speaking any more.
func (r *Receiver) Stop(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server.Shutdown(ctx)
}

package dev

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	"despacho/internal/webhooks/sender"
)

const maxInboxBody = 1 << 20

// InboxOptions configure the webhook inbox.
type InboxOptions struct {
	// Listener takes HTTPS and plain HTTP alike. Stop closes it.
	Listener net.Listener
	// Certificate is what the HTTPS side presents.
	Certificate tls.Certificate
	// Secrets are those a signature may have been made with; asked for every event.
	Secrets func() []string
}

// Inbox is a webhook receiver for development: until the next start it keeps the latest events,
// well signed or not, and shows them.
type Inbox struct {
	// HookURL is where webhooks are sent to.
	HookURL string
	// EventsURL lists what arrived as JSON, newest first.
	EventsURL string
	// PageURL shows events as they arrive.
	PageURL string

	options       InboxOptions
	journal       *journal
	server        *http.Server
	cancelStreams context.CancelFunc // ends the live pages, which would otherwise outlast a graceful stop
}

// StartInbox serves until Stop. Webhooks are taken over HTTPS alone; the list and the page also
// come over plain HTTP, so that a browser needs no development certificate.
func StartInbox(options InboxOptions) *Inbox {
	address := options.Listener.Addr().String()
	streams, cancel := context.WithCancel(context.Background())
	inbox := &Inbox{
		HookURL:       "https://" + address + "/hook",
		EventsURL:     "http://" + address + "/inbox/events",
		PageURL:       "http://" + address + "/inbox",
		options:       options,
		journal:       &journal{changed: make(chan struct{})},
		cancelStreams: cancel,
	}
	inbox.server = &http.Server{
		Handler:           inbox.routes(),
		BaseContext:       func(net.Listener) context.Context { return streams },
		ReadHeaderTimeout: sniffTimeout,
	}
	config := &tls.Config{Certificates: []tls.Certificate{options.Certificate}, NextProtos: []string{"h2", "http/1.1"}}
	go func() { _ = inbox.server.Serve(sniffTLS(options.Listener, config)) }()
	return inbox
}

// Stop answers the requests in flight.
func (i *Inbox) Stop(ctx context.Context) error {
	i.cancelStreams()
	return i.server.Shutdown(ctx)
}

func (i *Inbox) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hook", i.receive)
	mux.HandleFunc("GET /inbox/events", i.list)
	mux.HandleFunc("GET /inbox/stream", i.stream)
	mux.HandleFunc("GET /inbox", i.page)
	for _, asset := range []string{"/inbox/inbox.css", "/inbox/inbox.js"} {
		mux.Handle("GET "+asset, http.FileServerFS(inboxFiles))
	}
	mux.Handle("GET /{$}", http.RedirectHandler("/inbox", http.StatusFound))
	return mux
}

// receive answers 200 even to a wrong signature: the inbox is there to show it, and a failure would
// only add retries to the picture.
func (i *Inbox) receive(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil {
		http.Error(w, "Este receptor solo acepta HTTPS.", http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxInboxBody))
	if err != nil {
		http.Error(w, "No se pudo leer el cuerpo.", http.StatusRequestEntityTooLarge)
		return
	}
	now := time.Now()
	i.journal.add(InboxEvent{
		Event:       r.Header.Get(sender.HeaderEvent),
		Headers:     firstValues(r.Header),
		Body:        string(body),
		SignatureOK: sender.Verify(r.Header, body, now, i.options.Secrets()...) == nil,
		ReceivedAt:  now.UTC(),
	})
	writeJSON(w, map[string]string{"message": "recibido"})
}

func (i *Inbox) list(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, i.journal.newestFirst())
}

func firstValues(headers http.Header) map[string]string {
	first := make(map[string]string, len(headers))
	for name := range headers {
		first[name] = headers.Get(name)
	}
	return first
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(value)
}

package dev

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"
)

//go:embed inbox
var inboxFiles embed.FS

var inboxTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"readable": readable,
	"moment":   func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000") },
}).ParseFS(inboxFiles, "inbox/page.html"))

// page shows what arrived so far; its script adds what arrives from then on.
func (i *Inbox) page(w http.ResponseWriter, _ *http.Request) {
	events := i.journal.newestFirst()
	var latest int64
	if len(events) > 0 {
		latest = events[0].ReceivedAt.UnixNano()
	}
	var page bytes.Buffer
	err := inboxTemplates.ExecuteTemplate(&page, "page.html", map[string]any{
		"HookURL": i.HookURL, "Events": events, "After": latest, "Kept": maxInboxEvents,
	})
	if err != nil {
		http.Error(w, "No se pudo mostrar la página.", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_, _ = page.WriteTo(w)
}

// keepAliveInterval is the interval of comments in an idle stream.
const keepAliveInterval = 15 * time.Second

// stream sends events as they arrive, each as the piece of page that shows it. A browser that lost
// the connection says which one it saw last.
func (i *Inbox) stream(w http.ResponseWriter, r *http.Request) {
	since := r.Header.Get("Last-Event-ID")
	if since == "" {
		since = r.URL.Query().Get("after")
	}
	nanoseconds, _ := strconv.ParseInt(since, 10, 64)
	last := time.Unix(0, nanoseconds)

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	controller := http.NewResponseController(w)
	for {
		events, more := i.journal.after(last)
		for _, event := range events {
			if err := writeStreamEvent(w, event); err != nil {
				return
			}
			last = event.ReceivedAt
		}
		if err := controller.Flush(); err != nil {
			return
		}
		select {
		case <-more:
		case <-time.After(keepAliveInterval):
			_, _ = fmt.Fprint(w, ": still here\n\n")
		case <-r.Context().Done():
			return
		}
	}
}

func writeStreamEvent(w http.ResponseWriter, event InboxEvent) error {
	var piece bytes.Buffer
	if err := inboxTemplates.ExecuteTemplate(&piece, "event", event); err != nil {
		return err
	}
	// A line break inside the data would end it: every line carries the field's name.
	data := strings.ReplaceAll(strings.ReplaceAll(piece.String(), "\r", ""), "\n", "\ndata: ")
	_, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", event.ReceivedAt.UnixNano(), data)
	return err
}

// readable indents a body that is JSON and leaves any other as it is.
func readable(body string) string {
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(body), "", "  ") != nil {
		return body
	}
	return indented.String()
}

package dev

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
	"despacho/test/poll"
)

// receiver is an inbox with what a sender needs to reach it.
type receiver struct {
	*Inbox
	secret string
	client *http.Client
}

func startInbox(t *testing.T, directory string) receiver {
	t.Helper()
	certificates, err := LoadCertificates(filepath.Join(directory, "certs"))
	require.NoError(t, err)
	secret := sender.NewSecret()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	inbox := StartInbox(InboxOptions{
		Listener: listener, Certificate: certificates.Server,
		Secrets: func() []string { return []string{secret} },
	})
	transport := &http.Transport{TLSClientConfig: trust(t, certificates), ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = inbox.Stop(context.Background())
	})
	return receiver{inbox, secret, &http.Client{Transport: transport, Timeout: poll.Deadline}}
}

func (r receiver) send(t *testing.T, event, body, secret string) *http.Response {
	t.Helper()
	headers, err := sender.Headers(event, "msg_1", time.Now(), []byte(body), secret)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.HookURL, strings.NewReader(body))
	require.NoError(t, err)
	request.Header = headers
	response, err := r.client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	return response
}

func (r receiver) events(t *testing.T) []InboxEvent {
	t.Helper()
	response, err := r.client.Get(r.EventsURL)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	var events []InboxEvent
	require.NoError(t, json.NewDecoder(response.Body).Decode(&events))
	return events
}

func TestInbox_listsNewestFirstAndTellsWhetherTheSignatureHolds(t *testing.T) {
	t.Parallel()
	inbox := startInbox(t, t.TempDir())
	require.Empty(t, inbox.events(t))

	const body = `{"event":"order.created",  "data":{"recipient_name":"Ñusta <b>"}}`
	require.Equal(t, http.StatusOK, inbox.send(t, "order.created", body, inbox.secret).StatusCode)
	answer := inbox.send(t, "order.assigned", `{}`, sender.NewSecret())
	require.Equal(t, http.StatusOK, answer.StatusCode, "a wrong signature is shown, not refused")
	require.Equal(t, 2, answer.ProtoMajor, "HTTP/2 is offered")

	events := inbox.events(t)
	require.Len(t, events, 2)
	require.Equal(t, "order.assigned", events[0].Event)
	require.False(t, events[0].SignatureOK)
	require.Equal(t, "order.created", events[1].Event)
	require.True(t, events[1].SignatureOK)
	require.Equal(t, body, events[1].Body, "the body is listed byte for byte")
	require.Equal(t, "msg_1", events[1].Headers["Webhook-Id"])
	require.Contains(t, events[1].Headers, "X-Service-Signature")
	require.True(t, events[0].ReceivedAt.After(events[1].ReceivedAt))
	require.Equal(t, time.UTC, events[0].ReceivedAt.Location())
}

func TestInbox_takesWebhooksOverHTTPSAlone(t *testing.T) {
	t.Parallel()
	inbox := startInbox(t, t.TempDir())
	response, err := inbox.client.Post(strings.Replace(inbox.HookURL, "https:", "http:", 1), "application/json", strings.NewReader(`{}`))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.Empty(t, inbox.events(t))

	response, err = inbox.client.Get(strings.Replace(inbox.EventsURL, "http:", "https:", 1))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode, "the list comes over both")
}

func TestInbox_refusesABodyWithoutEnd(t *testing.T) {
	t.Parallel()
	inbox := startInbox(t, t.TempDir())
	response, err := inbox.client.Post(inbox.HookURL, "application/json", bytes.NewReader(make([]byte, maxInboxBody+1)))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	require.Empty(t, inbox.events(t))
}

func TestInbox_thePageIsSafeAndLive(t *testing.T) {
	t.Parallel()
	inbox := startInbox(t, t.TempDir())
	inbox.send(t, "order.created", `{"product":"<script>alert(1)</script>"}`, inbox.secret)

	response, err := inbox.client.Get(inbox.PageURL)
	require.NoError(t, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, response.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, string(page), "Firma válida")
	require.NotContains(t, string(page), "<script>alert")

	for _, asset := range []string{"/inbox.css", "/inbox.js"} {
		response, err := inbox.client.Get(inbox.PageURL + asset)
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode, asset)
	}

	seen := inbox.events(t)[0].ReceivedAt.UnixNano()
	stream, err := inbox.client.Get(fmt.Sprintf("%s/stream?after=%d", inbox.PageURL, seen))
	require.NoError(t, err)
	defer stream.Body.Close()
	inbox.send(t, "order.cancelled", "{}", sender.NewSecret())
	lines := bufio.NewScanner(stream.Body)
	var piece strings.Builder
	for lines.Scan() && (lines.Text() != "" || piece.Len() == 0) {
		if !strings.HasPrefix(lines.Text(), ":") && lines.Text() != "" { // a comment says only that the stream is alive
			piece.WriteString(lines.Text() + "\n")
		}
	}
	require.Contains(t, piece.String(), "order.cancelled")
	require.Contains(t, piece.String(), "Firma no válida")
	require.NotContains(t, piece.String(), "order.created", "what the page has already is not sent again")

	ctx, cancel := context.WithTimeout(t.Context(), poll.Deadline)
	defer cancel()
	require.NoError(t, inbox.Stop(ctx), "an open page does not hold up the stop")
}

func TestJournal_keepsTheLatestThousand(t *testing.T) {
	t.Parallel()
	journal := journal{changed: make(chan struct{})}
	at := time.Now().UTC()
	for i := range maxInboxEvents + 500 {
		journal.add(InboxEvent{Event: fmt.Sprint(i), ReceivedAt: at})
	}
	events := journal.newestFirst()
	require.Len(t, events, maxInboxEvents)
	require.Equal(t, "1499", events[0].Event)
	require.True(t, events[0].ReceivedAt.After(events[1].ReceivedAt), "events of the same instant keep their order")
	later, _ := journal.after(events[2].ReceivedAt)
	require.Equal(t, []string{"1498", "1499"}, []string{later[0].Event, later[1].Event})
}

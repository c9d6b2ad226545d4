package listener

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"despacho/internal/webhooks/sender"
)

// What GET /v1/events takes and answers.
const (
	eventsPath    = "/v1/events"
	latest        = "latest"
	cursorUnknown = "event_cursor_unknown"
	longestWait   = 20 * time.Second
	pageSize      = 200
	// responseTime is how long a response may take beside the wait.
	responseTime = 15 * time.Second
	// maxPage bounds what is read of a response.
	maxPage = 64 << 20
)

// feed is the service's list of events.
type feed struct {
	url, key string
	client   *http.Client
}

func newFeed(address, key string) *feed {
	return &feed{url: strings.TrimRight(address, "/") + eventsPath, key: key, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// page is a page of events.
type page struct {
	Events []event `json:"events"`
	Cursor string  `json:"cursor"`
}

// event is an event of the list.
type event struct {
	ID   string          `json:"id"`
	Body sender.Envelope `json:"body"`
}

// guideCode is the code of the event's order.
func (e *event) guideCode() string {
	var data struct {
		GuideCode string `json:"guide_code"`
	}
	_ = json.Unmarshal(e.Body.Data, &data) // an event without one is printed without it
	return data.GuideCode
}

// refusal is a response without events, or none.
type refusal struct {
	text, code string
	// final means that another try would be refused as well.
	final      bool
	retryAfter time.Duration
}

func (r *refusal) Error() string { return r.text }

// after reads the events after a cursor, waiting for the first one.
func (f *feed) after(ctx context.Context, cursor string, wait time.Duration) (*page, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, wait+responseTime)
	defer cancel()
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	if wait > 0 {
		query.Set("wait", strconv.Itoa(int(wait.Seconds())))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"?"+query.Encode(), nil)
	if err != nil {
		return nil, &refusal{text: err.Error(), final: true}
	}
	request.Header.Set("X-API-Key", f.key)
	response, err := f.client.Do(request)
	if err != nil {
		return nil, &refusal{text: "the service cannot be reached: " + cause(err)}
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxPage))
	if err != nil {
		return nil, &refusal{text: "the response broke off: " + cause(err)}
	}
	var answer struct {
		Data  page   `json:"data"`
		Error string `json:"error"`
		Code  string `json:"code"`
	}
	err = json.Unmarshal(content, &answer)
	if response.StatusCode != http.StatusOK {
		return nil, refused(response, answer.Error, answer.Code)
	}
	if err != nil {
		return nil, &refusal{text: "the response is not that of " + eventsPath, final: true}
	}
	return &answer.Data, nil
}

// refused explains a response that is not a success. Only what may pass is asked for again.
func refused(response *http.Response, text, code string) *refusal {
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // without one the delay is our own
	passing := response.StatusCode >= http.StatusInternalServerError ||
		slices.Contains([]int{http.StatusRequestTimeout, http.StatusTooManyRequests}, response.StatusCode)
	return &refusal{
		text: strings.TrimSpace(fmt.Sprintf("the service responded %s: %s", response.Status, text)), code: code, final: !passing,
		retryAfter: time.Duration(seconds) * time.Second,
	}
}

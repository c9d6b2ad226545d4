package despacho

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// EventPage is a part of the event feed.
type EventPage struct {
	// Events are from the oldest to the newest, each with the body of its webhook request.
	Events []ListedEvent `json:"events"`
	// Cursor is where the next page begins; empty if there was no event yet.
	Cursor string `json:"cursor"`
	// More means that there may be more events already.
	More bool `json:"more"`
}

// Events reads the events that follow a cursor, which is empty for the oldest. If there is none, it
// waits for one, 20 seconds at most, besides the time that any request may take. Store the cursor
// of the page once its events are dealt with: it is where the next call goes on. Names choose the
// events; without any they are those that every reader gets.
func (c *Client) Events(ctx context.Context, after string, wait time.Duration, names ...string) (*EventPage, error) {
	query := url.Values{"limit": {"200"}, "wait": {strconv.Itoa(int(wait / time.Second))}}
	if len(names) > 0 {
		query.Set("events", strings.Join(names, ","))
	}
	if after != "" {
		query.Set("after", after)
	}
	var answer struct{ Data EventPage }
	request := read("/v1/events", query)
	request.longer = wait
	_, err := c.do(ctx, request, &answer)
	return &answer.Data, err
}

package dev

import (
	"slices"
	"sync"
	"time"
)

// maxInboxEvents is how many events the inbox keeps.
const maxInboxEvents = 1000

// InboxEvent is one request that arrived at the hook.
type InboxEvent struct {
	Event       string            `json:"event"`
	Headers     map[string]string `json:"headers"`
	Body        string            `json:"body"`
	SignatureOK bool              `json:"signature_ok"`
	ReceivedAt  time.Time         `json:"received_at"`
}

// journal keeps the latest events.
type journal struct {
	mu      sync.Mutex
	events  []InboxEvent  // oldest first
	changed chan struct{} // closed at the next event
}

// add keeps an event. The time of arrival is also the event's place in the order, so no two are
// equal.
func (j *journal) add(event InboxEvent) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if last := len(j.events) - 1; last >= 0 && !event.ReceivedAt.After(j.events[last].ReceivedAt) {
		event.ReceivedAt = j.events[last].ReceivedAt.Add(1)
	}
	j.events = append(j.events, event)
	j.events = slices.Delete(j.events, 0, max(0, len(j.events)-maxInboxEvents))
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *journal) newestFirst() []InboxEvent {
	j.mu.Lock()
	defer j.mu.Unlock()
	events := make([]InboxEvent, len(j.events))
	copy(events, j.events)
	slices.Reverse(events)
	return events
}

// after returns what arrived after a time, oldest first, and a channel that is closed when more
// arrives.
func (j *journal) after(at time.Time) ([]InboxEvent, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	first, _ := slices.BinarySearchFunc(j.events, at, func(event InboxEvent, at time.Time) int {
		if event.ReceivedAt.After(at) {
			return 1
		}
		return -1
	})
	return slices.Clone(j.events[first:]), j.changed
}

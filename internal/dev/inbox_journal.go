package dev

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

// journal keeps the latest events in memory and in a file of one JSON object a line.
type journal struct {
	path string

	mu      sync.Mutex
	file    *os.File
	lines   int           // in the file
	events  []InboxEvent  // oldest first
	changed chan struct{} // closed at the next event
}

func openJournal(path string) (*journal, error) {
	j := &journal{path: path, changed: make(chan struct{})}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the inbox's events: %w", err)
	}
	for line := range bytes.Lines(content) {
		var event InboxEvent
		if json.Unmarshal(line, &event) == nil { // the last line may have been cut by a crash
			j.remember(event)
		}
	}
	if err := j.rewrite(); err != nil {
		return nil, fmt.Errorf("the inbox's events: %w", err)
	}
	return j, nil
}

// add keeps an event. The time of arrival is also the event's place in the order, so no two are
// equal.
func (j *journal) add(event InboxEvent) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if last := len(j.events) - 1; last >= 0 && !event.ReceivedAt.After(j.events[last].ReceivedAt) {
		event.ReceivedAt = j.events[last].ReceivedAt.Add(1)
	}
	line, err := json.Marshal(event)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	j.lines++
	j.remember(event)
	close(j.changed)
	j.changed = make(chan struct{})
	if j.lines >= 2*maxInboxEvents {
		return j.rewrite()
	}
	return nil
}

func (j *journal) remember(event InboxEvent) {
	j.events = append(j.events, event)
	if excess := len(j.events) - maxInboxEvents; excess > 0 {
		j.events = slices.Delete(j.events, 0, excess)
	}
}

// rewrite leaves in the file only what is remembered, and the file open at its end.
func (j *journal) rewrite() error {
	fresh, err := os.OpenFile(j.path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(fresh)
	encoder := json.NewEncoder(buffered)
	for _, event := range j.events {
		err = errors.Join(err, encoder.Encode(event))
	}
	if err = errors.Join(err, buffered.Flush(), os.Rename(fresh.Name(), j.path)); err != nil {
		return errors.Join(err, fresh.Close())
	}
	old := j.file
	j.file, j.lines = fresh, len(j.events)
	if old != nil {
		return old.Close()
	}
	return nil
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

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}

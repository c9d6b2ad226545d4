package dev

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// maxTranscript is how much of a child's output is kept for errors.
const maxTranscript = 4 << 10

// transcript passes a child's output on to its log and remembers the end of it.
type transcript struct {
	log io.Writer

	mu   sync.Mutex
	kept []byte
}

// Write never fails: a log that cannot be written must not block the child.
func (t *transcript) Write(output []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, output...)
	if excess := len(t.kept) - maxTranscript; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
	}
	if t.log != nil {
		_, _ = t.log.Write(output)
	}
	return len(output), nil
}

// lastLines is the end of the output, without the line that was cut in two.
func (t *transcript) lastLines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	if len(kept) == maxTranscript {
		if _, whole, found := bytes.Cut(kept, []byte("\n")); found {
			kept = whole
		}
	}
	return strings.TrimSpace(string(kept))
}

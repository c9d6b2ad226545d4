package dev

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// maxOutputTail is how much of a child's output is kept for errors.
const maxOutputTail = 4 << 10

// outputTail passes a child's output on to its log and remembers the end of it.
type outputTail struct {
	log io.Writer

	mu   sync.Mutex
	kept []byte
}

// Write never fails: a log that cannot be written must not block the child.
func (o *outputTail) Write(output []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = append(o.kept, output...)
	if excess := len(o.kept) - maxOutputTail; excess > 0 {
		o.kept = append(o.kept[:0], o.kept[excess:]...)
	}
	if o.log != nil {
		_, _ = o.log.Write(output)
	}
	return len(output), nil
}

// lastLines is the end of the output, without the line that was cut in two.
func (o *outputTail) lastLines() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.kept
	if len(kept) == maxOutputTail {
		if _, complete, found := bytes.Cut(kept, []byte("\n")); found {
			kept = complete
		}
	}
	return strings.TrimSpace(string(kept))
}

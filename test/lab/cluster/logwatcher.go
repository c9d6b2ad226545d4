package cluster

import (
	"bytes"
	"io"
	"sync"
)

// logWatcher closes seen when a text appears in a log.
type logWatcher struct {
	text []byte
	// log gets everything; nil discards it.
	log  io.Writer
	seen chan struct{}

	mu   sync.Mutex
	tail []byte
	done bool
}

func (l *logWatcher) Write(output []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log != nil {
		_, _ = l.log.Write(output)
	}
	if l.done {
		return len(output), nil
	}
	l.tail = append(l.tail, output...)
	if bytes.Contains(l.tail, l.text) {
		l.done, l.tail = true, nil
		close(l.seen)
	} else if excess := len(l.tail) - len(l.text); excess > 0 {
		l.tail = append([]byte(nil), l.tail[excess:]...)
	}
	return len(output), nil
}

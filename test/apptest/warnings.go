package apptest

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// maxWarnings bounds what a failed test shows.
const maxWarnings = 30

// warnings are the last warnings and errors that the services of the test run have logged.
var warnings = &warningLog{}

type warningLog struct {
	mu    sync.Mutex
	count int
	last  []string
}

// add keeps a line that is an error, or a warning of something else than a statement that was slow:
// here all of them are called slow.
func (w *warningLog) add(line []byte) {
	isWarning := bytes.Contains(line, []byte(" level=WARN ")) && !bytes.Contains(line, []byte(` level=WARN msg="SQL executed"`))
	if !isWarning && !bytes.Contains(line, []byte(" level=ERROR ")) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	w.last = append(w.last[max(0, len(w.last)+1-maxWarnings):], string(line))
}

// showIfFailed shows, if the test fails, what was logged while it ran: a refusal that a test did
// not expect does not say why.
func (w *warningLog) showIfFailed(t *testing.T) {
	w.mu.Lock()
	before := w.count
	w.mu.Unlock()
	t.Cleanup(func() {
		if shown := w.since(before); t.Failed() && len(shown) > 0 {
			t.Logf("logged meanwhile, by services of this and other tests:\n%s", strings.Join(shown, ""))
		}
	})
}

// since are the lines after the first count, as far as they are kept.
func (w *warningLog) since(count int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[max(0, len(w.last)-(w.count-count)):]
}

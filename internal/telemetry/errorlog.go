package telemetry

import (
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// errorInterval is the least time between two logged errors: a collector that is down fails every
	// few seconds.
	errorInterval = time.Hour
	// maxErrorLength truncates a logged error: a collector's response may be a whole page.
	maxErrorLength = 500
)

// errorLog logs OpenTelemetry's errors, one in a while.
type errorLog struct {
	log *slog.Logger

	mu     sync.Mutex
	logged time.Time
}

// Handle implements otel.ErrorHandler. It is safe for concurrent use.
func (p *errorLog) Handle(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.logged.IsZero() && time.Since(p.logged) < errorInterval {
		return
	}
	p.logged = time.Now()
	text := err.Error()
	if len(text) > maxErrorLength {
		text = strings.ToValidUTF8(text[:maxErrorLength], "") + "…"
	}
	p.log.Warn("telemetry has a problem; the service itself is not affected", "error", text)
}

package telemetry

import (
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	minInterval = time.Minute
	maxInterval = time.Hour
	// quietPeriod is how long there must be no error for the next one to be logged at once again.
	quietPeriod = 10 * time.Minute
	// maxErrorLength truncates a logged error: a collector's response may be a whole page.
	maxErrorLength = 500
)

// errorLog logs OpenTelemetry's errors at growing intervals: a collector that is down for a day
// makes a handful of lines.
type errorLog struct {
	log *slog.Logger

	mu         sync.Mutex
	lastError  time.Time
	interval   time.Duration
	nextLog    time.Time
	suppressed int
}

// Handle implements otel.ErrorHandler. It is safe for concurrent use.
func (p *errorLog) Handle(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.lastError) > quietPeriod {
		p.interval, p.nextLog = 0, now
	}
	p.lastError = now
	if now.Before(p.nextLog) {
		p.suppressed++
		return
	}
	p.interval = min(max(2*p.interval, minInterval), maxInterval)
	p.nextLog = now.Add(p.interval)
	p.log.Warn("telemetry has a problem; the service itself is not affected", "error", truncate(err.Error()), "unsaid", p.suppressed)
	p.suppressed = 0
}

func truncate(text string) string {
	if len(text) <= maxErrorLength {
		return text
	}
	return strings.ToValidUTF8(text[:maxErrorLength], "") + "…"
}

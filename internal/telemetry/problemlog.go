package telemetry

import (
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	firstSilence   = time.Minute
	longestSilence = time.Hour
	// quietPeriod is how long there must be no error for the next one to be logged at once again.
	calm = 10 * time.Minute
	// maxErrorLength truncates a logged error: a collector's response may be a whole page.
	longestProblem = 500
)

// errorLog logs OpenTelemetry's errors at growing intervals: a collector that is down for a day
// makes a handful of lines.
type problemLog struct {
	log *slog.Logger

	mu          sync.Mutex
	lastProblem time.Time
	silence     time.Duration
	silentUntil time.Time
	unsaid      int
}

// Handle implements otel.ErrorHandler. It is safe for concurrent use.
func (p *problemLog) Handle(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.lastProblem) > calm {
		p.silence, p.silentUntil = 0, now
	}
	p.lastProblem = now
	if now.Before(p.silentUntil) {
		p.unsaid++
		return
	}
	p.silence = min(max(2*p.silence, firstSilence), longestSilence)
	p.silentUntil = now.Add(p.silence)
	p.log.Warn("telemetry has a problem; the service itself is not affected", "error", shorten(err.Error()), "unsaid", p.unsaid)
	p.unsaid = 0
}

func shorten(text string) string {
	if len(text) <= longestProblem {
		return text
	}
	return strings.ToValidUTF8(text[:longestProblem], "") + "…"
}

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
	// calm is how long nothing must fail for the next problem to be news again.
	calm = 10 * time.Minute
	// longestProblem cuts what is logged of one problem: a collector's answer may be a whole page.
	longestProblem = 500
)

// problemLog logs what OpenTelemetry complains about at growing intervals: a collector that is away
// for a day is a handful of lines.
type problemLog struct {
	log *slog.Logger

	mu          sync.Mutex
	lastProblem time.Time
	silence     time.Duration
	silentUntil time.Time
	unsaid      int
}

// Handle is called by OpenTelemetry, from any goroutine.
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

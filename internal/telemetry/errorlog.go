package telemetry

import (
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"golang.org/x/time/rate"
)

// maxErrorLength truncates a logged error: a collector's response may be a whole page.
const maxErrorLength = 500

// logErrors logs OpenTelemetry's errors, one an hour: a collector that is down fails every few
// seconds.
func logErrors(log *slog.Logger) otel.ErrorHandler {
	hourly := rate.Sometimes{Interval: time.Hour}
	return otel.ErrorHandlerFunc(func(err error) {
		hourly.Do(func() {
			log.Warn("telemetry has a problem; the service itself is not affected",
				"error", fmt.Sprintf("%.*s", maxErrorLength, err.Error()))
		})
	})
}

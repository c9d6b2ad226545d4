package db

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"gorm.io/gorm/logger"

	"despacho/internal/redact"
)

// statementLog logs statements that failed or were slow. GORM's own logger renders the text of
// every statement before it knows whether it will be logged.
type statementLog struct {
	logger.Interface
	slow    time.Duration
	outages *outageLog
}

func newStatementLog(log *slog.Logger, slow time.Duration) logger.Interface {
	if log == nil {
		return logger.Discard
	}
	return statementLog{logger.NewSlogLogger(log, logger.Config{
		SlowThreshold:             slow,
		LogLevel:                  logger.Warn,
		IgnoreRecordNotFoundError: true,
	}), slow, new(outageLog)}
}

// Trace is called after every statement. One that ended because nobody waits for it any more has
// not failed.
func (l statementLog) Trace(ctx context.Context, began time.Time, statement func() (string, int64), err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		err = nil
	}
	failed := err != nil && !IsNotFound(err)
	if failed && isOfTheDatabase(err) && !l.outages.admits(time.Now()) {
		return
	}
	if failed || time.Since(began) > l.slow {
		if failed {
			err = errors.New(redact.Error(err)) // GORM's logger takes the error's text
		} else {
			err = nil // a row that is not there is no failure
		}
		l.Interface.Trace(ctx, began, statement, err)
	}
}

// ParamsFilter omits values from the log: they may be personal data.
func (statementLog) ParamsFilter(ctx context.Context, text string, values ...any) (string, []any) {
	return withoutValues(ctx, text, values...)
}

func withoutValues(_ context.Context, text string, _ ...any) (string, []any) { return text, nil }

// Scan renders its statement by a logger of its own, which has this filter instead of ParamsFilter
// (go-gorm/gorm#7844).
func init() { logger.RecorderParamsFilter = withoutValues }

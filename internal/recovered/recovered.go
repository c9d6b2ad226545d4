// Package recovered keeps a panic in one order, or in one round of a background loop, from ending
// the process with all the others.
package recovered

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Call calls fn and returns its error. A panic is logged with its stack and returned as an error:
// in a goroutine nobody else would recover it.
func Call(ctx context.Context, log *slog.Logger, fn func() error) (err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("panic: %v", recovered)
			log.ErrorContext(ctx, "panic", "error", err, "stack", string(debug.Stack()))
		}
	}()
	return fn()
}

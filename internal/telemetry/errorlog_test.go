package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestErrorLog_oneLineAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		problems := logErrors(slog.New(slog.NewTextHandler(&out, nil)))
		problems.Handle(errors.New("connection refused"))
		require.Equal(t, 1, strings.Count(out.String(), "connection refused"), "the first is said at once")
		for end := time.Now().Add(24 * time.Hour); time.Now().Before(end); time.Sleep(5 * time.Second) {
			problems.Handle(errors.New("connection refused"))
		}
		require.Equal(t, 24, strings.Count(out.String(), "\n"))
	})
}

func TestErrorLog_longTextIsCut(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	problems := logErrors(slog.New(slog.NewTextHandler(&out, nil)))
	problems.Handle(errors.New(strings.Repeat("página ", 10_000)))
	require.Less(t, out.Len(), 2*maxErrorLength)
}

func TestErrorKind_neverTheText(t *testing.T) {
	t.Parallel()
	invalid := &pgconn.PgError{Code: "22P02", Message: `invalid input syntax for type uuid: "Rosa Quispe"`}
	for kind, err := range map[string]error{
		"22P02":               fmt.Errorf("create order: %w", invalid),
		"canceled":            fmt.Errorf("read order: %w", context.Canceled),
		"deadline_exceeded":   context.DeadlineExceeded,
		"*errors.errorString": errors.New("no such parcel: Rosa Quispe"),
	} {
		require.Equal(t, kind, errorKind(err))
	}
}

package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// A database that is away does not fill the log with the statements that it did not get; what is
// wrong with a statement itself is logged every time.
func TestStatementLog_ofAnOutage(t *testing.T) {
	t.Parallel()
	for name, sample := range map[string]struct {
		err    error
		outage bool
	}{
		"refused":            {&net.OpError{Op: "dial", Err: errors.New("refused")}, true},
		"cut off":            {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		"server stopping":    {&pgconn.PgError{Code: "57P01"}, true},
		"no connection left": {&pgconn.PgError{Code: "53300"}, true},
		"disk full":          {&pgconn.PgError{Code: "53100"}, true},
		"a standby":          {&pgconn.PgError{Code: "25006"}, true},
		"deadlock":           {&pgconn.PgError{Code: "40P01"}, false},
		"a lock not free":    {&pgconn.PgError{Code: "55P03"}, false},
		"stood still":        {&pgconn.PgError{Code: "25P03"}, false},
		"cancelled":          {&pgconn.PgError{Code: "57014"}, false},
		"took too long":      {context.DeadlineExceeded, false},
		"wrong statement":    {&pgconn.PgError{Code: "42601"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const failures = 5
			var log bytes.Buffer
			statements := newStatementLog(slog.New(slog.NewTextHandler(&log, nil)), time.Hour)
			for range failures {
				statements.Trace(t.Context(), time.Now(), func() (string, int64) { return "SELECT 1", 0 }, sample.err)
			}
			if sample.outage {
				require.Less(t, strings.Count(log.String(), "SELECT 1"), failures)
				require.Contains(t, log.String(), "SELECT 1", "the first says what is wrong")
			} else {
				require.Equal(t, failures, strings.Count(log.String(), "SELECT 1"))
			}
		})
	}
}

func TestOutageLog_goesOn(t *testing.T) {
	t.Parallel()
	var outages outageLog
	began := time.Now()
	require.True(t, outages.admits(began))
	require.False(t, outages.admits(began.Add(outageInterval-1)))
	require.True(t, outages.admits(began.Add(outageInterval)), "an outage that lasts is logged again")
	require.False(t, outages.admits(began.Add(outageInterval+1)))
}

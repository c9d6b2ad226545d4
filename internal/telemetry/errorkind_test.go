package telemetry

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

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

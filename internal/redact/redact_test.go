package redact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"despacho/internal/redact"
)

func TestHandler_omitsTheValuesInErrors(t *testing.T) {
	t.Parallel()
	_, number := strconv.Atoi("rosa@example.com")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a PostgreSQL data exception": {
			&pgconn.PgError{Severity: "ERROR", Code: "22P02", Message: `invalid input syntax for type uuid: "rosa@example.com"`},
			"ERROR: invalid input syntax for type uuid: […] (SQLSTATE 22P02) SQLSTATE 22P02",
		},
		"a constraint": {
			&pgconn.PgError{Severity: "ERROR", Code: "23505", Message: `duplicate key value violates unique constraint "users_email_key"`, Detail: "Key (email)=(rosa@example.com) already exists.", TableName: "users", ConstraintName: "users_email_key"},
			"SQLSTATE 23505 users users_email_key",
		},
		"a URL":                {&url.Error{Op: "Get", URL: "https://example.com/?q=rosa@example.com", Err: errors.New("connection refused")}, "Get […]: connection refused"},
		"a number":             {number, "strconv.Atoi: parsing […]: invalid syntax"},
		"a value with a quote": {fmt.Errorf("encode args[2]: %s", `"a" rosa@example.com "b"`), "encode args[2]: […]"},
		"a value like gRPC's":  {fmt.Errorf("parsing %q", `connection error: desc = "rosa@example.com"`), "parsing […]"},
		"half a quote":         {errors.New(`unterminated "rosa@example.com`), "unterminated […]"},
		"joined errors":        {errors.Join(errors.New(`one "a"`), errors.New(`rosa@example.com "b"`)), "one […]"},
		"nothing quoted":       {errors.New("connection refused"), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			log := slog.New(redact.Handler(slog.NewTextHandler(&out, nil)))
			log.With("with", c.err).WithGroup("group").Error("failed", "error", fmt.Errorf("reading: %w", c.err), slog.Group("inner", "error", c.err))
			require.NotContains(t, out.String(), "rosa@example.com")
			require.Contains(t, redact.Error(c.err), c.want)
		})
	}
}

// The reason why there is no connection to Temporal is logged, without the values that it quotes.
func TestError_keepsTheReasonOfGRPC(t *testing.T) {
	t.Parallel()
	connection, err := grpc.NewClient("passthrough:///temporal.example:7233", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			return nil, errors.New(`dial tcp: connection refused for "rosa@example.com"`)
		}))
	require.NoError(t, err)
	defer connection.Close()
	err = connection.Invoke(t.Context(), "/temporal.Service/Method", nil, nil)
	require.Error(t, err)
	text := redact.Error(fmt.Errorf("failed reaching server: %w", err))
	require.Contains(t, text, "connection refused for […]")
	require.NotContains(t, text, "rosa@example.com")
}

func TestHandler_leavesOtherAttributes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slog.New(redact.Handler(slog.NewTextHandler(&out, nil))).Info("request", "route", `/v1/orders "x"`, "status", 200)
	require.Contains(t, out.String(), `msg=request route="/v1/orders \"x\"" status=200`)
}

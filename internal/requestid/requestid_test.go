package requestid_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/requestid"
)

func TestHandler_addsTheIdOfTheContext(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(requestid.Handler(slog.NewTextHandler(&out, nil))).With("component", "orders")
	log.InfoContext(requestid.With(context.Background(), "abc-1"), "stored")
	require.Contains(t, out.String(), "component=orders")
	require.Contains(t, out.String(), "request_id=abc-1")

	out.Reset()
	log.InfoContext(context.Background(), "on its own")
	require.NotContains(t, out.String(), "request_id")
}

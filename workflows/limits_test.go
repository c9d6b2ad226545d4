package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/workflows"
)

// A summary is as long as Temporal accepts, whatever a name or a host is made of.
func TestSummary_isBounded(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Guía 7K2QX-M4TN8C · Tienda A", workflows.Summary("Guía 7K2QX-M4TN8C · Tienda A"))
	for _, letter := range []string{"x", "ñ", "→", "😀", "<", "\x00", "\xff"} {
		short := workflows.Summary("Guía " + strings.Repeat(letter, 1<<16))
		encoded, err := json.Marshal(short)
		require.NoError(t, err)
		require.LessOrEqual(t, len(encoded), 400, letter)
		require.True(t, strings.HasPrefix(short, "Guía "), letter)
	}
}

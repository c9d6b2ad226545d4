package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListen_namesWhatIsMissing(t *testing.T) {
	t.Setenv("DESPACHO_KEY", "")
	t.Setenv("DESPACHO_URL", "")
	t.Setenv("DESPACHO_SECRET", "")
	_, err := despacho(t, "", "listen", "--forward", "localhost:3000", "--secret", "hola")
	require.Error(t, err)
	for _, name := range []string{"--url", "--forward", "--key", "--secret"} {
		require.ErrorContains(t, err, name)
	}
}

// What is secret need not be among the arguments.
func TestListen_readsTheEnvironment(t *testing.T) {
	t.Setenv("DESPACHO_KEY", "dsp_live_x")
	t.Setenv("DESPACHO_URL", "https://despacho.example")
	t.Setenv("DESPACHO_SECRET", "hola")
	_, err := despacho(t, "", "listen", "--forward", "localhost:3000")
	require.ErrorContains(t, err, "--forward must be")
	require.ErrorContains(t, err, "--secret or DESPACHO_SECRET must be one that an earlier run has printed, or a webhook's")
	require.NotContains(t, err.Error(), "DESPACHO_KEY")
	require.NotContains(t, err.Error(), "DESPACHO_URL")
}

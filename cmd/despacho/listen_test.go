package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListen_namesWhatIsMissing(t *testing.T) {
	t.Setenv("DESPACHO_KEY", "")
	t.Setenv("DESPACHO_URL", "")
	_, err := despacho(t, "", "listen", "--forward", "localhost:3000", "--secret", "hola")
	require.Error(t, err)
	for _, name := range []string{"--url", "--forward", "--key", "--secret"} {
		require.ErrorContains(t, err, name)
	}
}

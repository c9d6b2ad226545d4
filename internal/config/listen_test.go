package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListen_anAddressInUseIsNamed(t *testing.T) {
	t.Parallel()
	taken, err := Listen("127.0.0.1:0", "HTTP_ADDR")
	require.NoError(t, err)
	defer taken.Close()
	_, err = Listen(taken.Addr().String(), "HTTP_ADDR")
	require.EqualError(t, err, taken.Addr().String()+" is in use by another program: stop it, or set HTTP_ADDR to a free one")

	_, err = Listen("127.0.0.1:99999", "HTTP_ADDR")
	require.ErrorContains(t, err, "HTTP_ADDR: cannot listen on 127.0.0.1:99999")
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for listened, dialled := range map[string]string{
		"0.0.0.0:8080":     "127.0.0.1:8080",
		":8080":            "127.0.0.1:8080",
		"[::]:8080":        "127.0.0.1:8080",
		"127.0.0.1:8080":   "127.0.0.1:8080",
		"api.internal:80":  "api.internal:80",
		"[fd00::1]:8080":   "[fd00::1]:8080",
		"[::ffff:0:0]:443": "127.0.0.1:443",
	} {
		require.Equal(t, dialled, Reachable(listened), listened)
	}
}

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResolve_printsOneLineOfJSON(t *testing.T) {
	out, err := despacho(t, "", "resolve", "--offline", "https://maps.google.com/maps?q=-12.04%2C-77.04&z=17&hl=es")
	require.NoError(t, err)
	require.Equal(t, `{"lat":-12.04,"lng":-77.04,"source":"query"}`+"\n", out)
}

func TestResolve_failsWithAReason(t *testing.T) {
	for _, link := range []string{"https://maps.app.goo.gl/abc", "https://example.com/", "https://www.google.com/maps?q=Av.+Larco+345", ""} {
		out, err := despacho(t, "", "resolve", "--offline", link)
		require.Error(t, err, link)
		require.Empty(t, out)
	}
}

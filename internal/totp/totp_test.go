package totp_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/totp"
)

// The vectors of RFC 6238, appendix B, for SHA-1; their last six digits.
func TestCode_vectorsOfTheRFC(t *testing.T) {
	t.Parallel()
	secret := []byte("12345678901234567890")
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		require.Equal(t, code, totp.Code(secret, totp.Step(time.Unix(at, 0))))
	}
}

func TestMatch_oneStepEitherWay(t *testing.T) {
	t.Parallel()
	secret, now := totp.NewSecret(), time.Unix(1_800_000_015, 0)
	for offset, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		step, ok := totp.Match(secret, totp.Code(secret, totp.Step(now)+offset), now)
		require.Equal(t, want, ok, offset)
		if want {
			require.Equal(t, totp.Step(now)+offset, step)
		}
	}
	for _, typed := range []string{"", "12345", "1234567", totp.Code(secret, totp.Step(now)) + "0"} {
		_, ok := totp.Match(secret, typed, now)
		require.False(t, ok, typed)
	}
}

func TestURI(t *testing.T) {
	t.Parallel()
	require.Len(t, totp.NewSecret(), 20)
	text := totp.URI("Rayo & Envíos", "ana+1@rayo.example", []byte("12345678901234567890"))
	require.Contains(t, text, "issuer=Rayo%20%26%20Env%C3%ADos", "applications show a + as it is")
	uri, err := url.Parse(text)
	require.NoError(t, err)
	require.Equal(t, []string{"otpauth", "totp", "/Rayo & Envíos:ana+1@rayo.example"}, []string{uri.Scheme, uri.Host, uri.Path})
	require.Equal(t, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", uri.Query().Get("secret"))
	require.Equal(t, "Rayo & Envíos", uri.Query().Get("issuer"))

	uri, err = url.Parse(totp.URI("Rayo: Lima", "ana@rayo.example", []byte("12345678901234567890")))
	require.NoError(t, err)
	require.Equal(t, "/Rayo Lima:ana@rayo.example", uri.Path, "an application takes what is before the first colon for the issuer")
	require.Equal(t, "Rayo Lima", uri.Query().Get("issuer"))
}

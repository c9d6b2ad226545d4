package credentials_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/credentials"
)

// As cheap as can still be timed: under the race detector the real cost takes seconds.
func TestMain(m *testing.M) {
	credentials.Cost = 6
	m.Run()
}

func TestNewAPIKey_livePrefixAnd32Base62(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		key, err := credentials.NewAPIKey()
		require.NoError(t, err)
		require.Regexp(t, regexp.MustCompile(`^dsp_live_[0-9A-Za-z]{32}$`), key)
		require.False(t, seen[key])
		seen[key] = true
	}
}

func TestPassword(t *testing.T) {
	t.Parallel()
	hash, err := credentials.HashPassword("contraseña-larga")
	require.NoError(t, err)
	require.NotContains(t, hash, "contraseña")
	require.True(t, credentials.PasswordMatches(hash, "contraseña-larga"))
	require.False(t, credentials.PasswordMatches(hash, "otra"))
	require.False(t, credentials.PasswordMatches("", "contraseña-larga"), "no account")

	_, err = credentials.HashPassword("corta")
	require.Error(t, err)
	_, err = credentials.HashPassword(strings.Repeat("x", 73))
	require.Error(t, err)
}

// Whether an account exists cannot be told by the time that a sign-in takes.
func TestPasswordMatches_takesAsLongForNobody(t *testing.T) {
	hash, err := credentials.HashPassword("contraseña-larga")
	require.NoError(t, err)
	credentials.PasswordMatches("", "otra") // the first makes what the others are compared with
	nobody, wrong := time.Hour, time.Hour
	for range 5 {
		for which, best := range map[string]*time.Duration{"": &nobody, hash: &wrong} {
			began := time.Now()
			require.False(t, credentials.PasswordMatches(which, "otra"))
			*best = min(*best, time.Since(began))
		}
	}
	ratio := nobody.Seconds() / wrong.Seconds()
	require.Greater(t, ratio, 0.5)
	require.Less(t, ratio, 2.0)
}

package credentials_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"despacho/internal/credentials"
)

// Under the race detector the real cost takes seconds.
func TestMain(m *testing.M) {
	credentials.Cost = 6
	m.Run()
}

func TestNewAPIKey_livePrefixAnd32Base62(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		key, err := credentials.NewAPIKey(credentials.LiveKeyPrefix)
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

// The time of a sign-in must not reveal whether an account exists: a hash is compared for an
// unknown user too.
func TestPasswordMatches_takesAsLongForUnknownUsers(t *testing.T) {
	hash, err := credentials.HashPassword("contraseña-larga")
	require.NoError(t, err)
	var costs []int
	credentials.SetCompare(t, func(hash, password []byte) error {
		require.Equal(t, "otra", string(password))
		cost, err := bcrypt.Cost(hash)
		require.NoError(t, err)
		costs = append(costs, cost)
		return bcrypt.CompareHashAndPassword(hash, password)
	})
	for _, which := range []string{hash, ""} {
		require.False(t, credentials.PasswordMatches(which, "otra"))
	}
	require.Equal(t, []int{credentials.Cost, credentials.Cost}, costs)
}

func TestIsGuessable(t *testing.T) {
	t.Parallel()
	names := []string{"ana.torres@rayo.example", "Rayo Envíos"}
	for _, password := range []string{
		"12345678", "password", "PASSWORD", "Password1", "password123!", "P@ssw0rd", "P4$$w0rd2024", "qwerty12345678", "iloveyou", "Contraseña", "contraseña2026",
		"motorizado1", "Bienvenido!", "1qaz2wsx", "monkeymonkey", "alejandro1990", "!!dragon!!", "Lima2026",
		"ana.torres@rayo.example", "AnaTorres", "ana.torres1", "rayoenvios", "Rayo Envíos", "R4yo 3nvios", "rayo-envios-2026", "rayo1234", "rayorayo",
	} {
		require.True(t, credentials.IsGuessable(password, names...), password)
	}
	for _, password := range []string{
		"una contraseña larga", "otra contraseña", "una clave larga", "  dos espacios  ", "correct horse battery staple", "xK9#mQ2$vL", "84619283746192", "ana compra 3 panes",
		"rayo que no cesa", "dragon de siete colas", "JBSWY3DPEHPK3PXP",
	} {
		require.False(t, credentials.IsGuessable(password, names...), password)
	}
	require.False(t, credentials.IsGuessable("anatorresx", "x@y.example", ""), "a short or empty name is compared with nothing")
}

func TestCommonPasswords_listIsWhole(t *testing.T) {
	t.Parallel()
	require.Greater(t, credentials.CommonCount(), 40_000)
}

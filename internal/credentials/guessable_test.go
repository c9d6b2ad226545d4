package credentials_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/credentials"
)

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

package signing_test

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/signing"
)

func TestSigner(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	signer, err := signing.New("a secret key of thirty-two characters")
	require.NoError(t, err)
	signed := signer.Sign("notice", []byte("hola"), now.Add(time.Minute))
	payload, ok := signer.Open("notice", signed, now)
	require.True(t, ok)
	require.Equal(t, "hola", string(payload))

	refused := func(name, purpose, text string, at time.Time) {
		_, ok := signer.Open(purpose, text, at)
		require.False(t, ok, name)
	}
	refused("expired", "notice", signed, now.Add(time.Minute))
	refused("another purpose", "notices", signed, now)
	refused("nothing", "notice", "", now)
	refused("no base64", "notice", "¡hola!", now)
	raw, err := base64.RawURLEncoding.DecodeString(signed)
	require.NoError(t, err)
	for i := range raw {
		raw[i] ^= 1
		refused("changed", "notice", base64.RawURLEncoding.EncodeToString(raw), now)
		raw[i] ^= 1
	}
	for i := range raw {
		refused("cut", "notice", base64.RawURLEncoding.EncodeToString(raw[:i]), now)
	}
	other, err := signing.New("another secret key of many characters")
	require.NoError(t, err)
	refused("another key", "notice", other.Sign("notice", []byte("hola"), now.Add(time.Minute)), now)
	refused("another text of the same bytes", "notice", signed+"\n", now)

	replaced, err := signing.New("another secret key of many characters", "a secret key of thirty-two characters")
	require.NoError(t, err)
	payload, until, ok := replaced.Read("notice", signed)
	require.True(t, ok, "an old key's")
	require.Equal(t, "hola", string(payload))
	require.True(t, until.Equal(now.Add(time.Minute)))
	refused("the new key's", "notice", replaced.Sign("notice", []byte("hola"), now.Add(time.Minute)), now)
}

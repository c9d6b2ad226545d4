package encryption_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/encryption"
)

const secretKey = "una clave de prueba de 32 letras"

var (
	secret  = []byte("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	context = []byte("webhook 7")
)

func newCipher(t *testing.T, key string) *encryption.Cipher {
	t.Helper()
	c, err := encryption.New(key)
	require.NoError(t, err)
	return c
}

func TestOpenDecryptsSealedValues(t *testing.T) {
	t.Parallel()
	c := newCipher(t, secretKey)
	for _, plain := range [][]byte{secret, {}, bytes.Repeat([]byte{0xff}, 4096)} {
		sealed := c.Seal(plain, context)

		opened, err := newCipher(t, secretKey).Open(sealed, context)

		require.NoError(t, err)
		require.True(t, bytes.Equal(plain, opened))
	}
}

func TestOpenReadsValuesOfOtherImplementations(t *testing.T) {
	t.Parallel()
	// Version 1, a nonce counting from 0, then AES-256-GCM under HKDF-SHA256 of the key's text.
	sealed, err := hex.DecodeString(
		"01000102030405060708090a0b83ad6b21aeb5ede14ccbd3a56fff4cfc81c42b" +
			"d16cd69dfcfe59c7dc133345ed802d2b5d7f76bbfb362d9b3c067150b706ee02" +
			"cdb33391a900eaf7ff7de04e38a7c9")
	require.NoError(t, err)

	opened, err := newCipher(t, secretKey).Open(sealed, context)

	require.NoError(t, err)
	require.Equal(t, string(secret), string(opened))
}

func TestSealHidesTheSecretAndNeverRepeats(t *testing.T) {
	t.Parallel()
	c := newCipher(t, secretKey)
	first, second := c.Seal(secret, context), c.Seal(secret, context)

	require.NotEqual(t, first, second)
	require.NotContains(t, string(first), string(secret[:8]))
}

func TestOpenRejectsForeignValues(t *testing.T) {
	t.Parallel()
	c := newCipher(t, secretKey)
	sealed := c.Seal(secret, context)

	t.Run("another key", func(t *testing.T) {
		t.Parallel()
		_, err := newCipher(t, strings.ToUpper(secretKey)).Open(sealed, context)
		require.ErrorIs(t, err, encryption.ErrOpen)
	})
	t.Run("another context", func(t *testing.T) {
		t.Parallel()
		for _, other := range [][]byte{nil, []byte("webhook 8")} {
			_, err := c.Open(sealed, other)
			require.ErrorIs(t, err, encryption.ErrOpen)
		}
	})
	t.Run("any byte changed", func(t *testing.T) {
		t.Parallel()
		for i := range sealed {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1
			_, err := c.Open(changed, context)
			require.ErrorIs(t, err, encryption.ErrOpen, "byte %d", i)
		}
	})
	t.Run("cut short", func(t *testing.T) {
		t.Parallel()
		for length := range sealed {
			_, err := c.Open(sealed[:length], context)
			require.ErrorIs(t, err, encryption.ErrOpen, "%d bytes", length)
		}
	})
}

func TestNewRefusesShortKeys(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "secreto", strings.Repeat("ñ", encryption.MinKeyLength-1)} {
		_, err := encryption.New(key)
		require.ErrorIs(t, err, encryption.ErrShortKey)
	}
	_, err := encryption.New(strings.Repeat("ñ", encryption.MinKeyLength))
	require.NoError(t, err)
}

func TestPrintingACipherShowsNoKey(t *testing.T) {
	t.Parallel()
	require.NotContains(t, fmt.Sprintf("%+v", newCipher(t, secretKey)), secretKey)
}

// With an old key beside the new one everything can be read, and Reseal makes the old one
// dispensable.
func TestRotation(t *testing.T) {
	t.Parallel()
	const newKey = "otra clave de prueba de 32 letras"
	sealed := newCipher(t, secretKey).Seal(secret, context)
	both, err := encryption.New(newKey, secretKey)
	require.NoError(t, err)
	opened, err := both.Open(sealed, context)
	require.NoError(t, err)
	require.Equal(t, secret, opened)
	_, err = newCipher(t, newKey).Open(sealed, context)
	require.ErrorIs(t, err, encryption.ErrOpen)

	resealed, changed, err := both.Reseal(sealed, context)
	require.NoError(t, err)
	require.True(t, changed)
	opened, err = newCipher(t, newKey).Open(resealed, context)
	require.NoError(t, err)
	require.Equal(t, secret, opened)
	_, changed, err = both.Reseal(resealed, context)
	require.NoError(t, err)
	require.False(t, changed)
	_, _, err = both.Reseal(resealed, []byte("webhook 8"))
	require.ErrorIs(t, err, encryption.ErrOpen)
	_, err = encryption.New(newKey, "corta")
	require.ErrorIs(t, err, encryption.ErrShortKey)
}

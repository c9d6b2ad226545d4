package photourl_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/photos"
	"despacho/internal/photourl"
	"despacho/internal/signing"
)

const (
	photo    = "0b5d8f1e2c7a4936b8e1f0d2c4a6978e.jpg"
	filesURL = "https://despacho.example/files"
	lifetime = 48 * time.Hour
	oldKey   = "una clave de prueba de 32 letras"
	newKey   = "otra clave de prueba de 32 letras"
)

var givenAt = time.Date(2026, 3, 4, 5, 59, 59, 0, time.UTC)

func newSigner(t *testing.T, secretKey string, oldKeys ...string) *photourl.Signer {
	t.Helper()
	keys, err := signing.New(secretKey, oldKeys...)
	require.NoError(t, err)
	return photourl.New(filesURL, lifetime, keys)
}

func signatureOf(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	return parsed.Query().Get(photourl.Parameter)
}

func TestSigned_forOneFileAndALifetime(t *testing.T) {
	t.Parallel()
	signer := newSigner(t, oldKey)
	address := signer.Signed(photo, givenAt)
	require.True(t, strings.HasPrefix(address, signer.Unsigned(photo)+"?"), address)
	require.Equal(t, address, signer.Signed(photo, givenAt.Add(-59*time.Minute)), "browsers can use their copy")
	require.NotEqual(t, address, signer.Signed(photo, givenAt.Add(time.Second)), "the next hour")
	signature := signatureOf(t, address)
	left, err := signer.Check(photo, signature, givenAt.Add(lifetime))
	require.NoError(t, err)
	require.Equal(t, time.Second, left)

	for name, refused := range map[string]struct {
		by              *photourl.Signer
		name, signature string
		at              time.Time
		with            error
	}{
		"expired":      {signer, photo, signature, givenAt.Add(lifetime + time.Second), photourl.ErrExpired},
		"another file": {signer, photos.ThumbnailName(photo), signature, givenAt, photourl.ErrInvalid},
		"no signature": {signer, photo, "", givenAt, photourl.ErrInvalid},
		"another key":  {newSigner(t, newKey), photo, signature, givenAt, photourl.ErrInvalid},
	} {
		_, err := refused.by.Check(refused.name, refused.signature, refused.at)
		require.ErrorIs(t, err, refused.with, name)
	}
}

func TestCheck_afterTheKeyWasReplaced(t *testing.T) {
	t.Parallel()
	before, replaced := newSigner(t, oldKey), newSigner(t, newKey, oldKey)
	_, err := replaced.Check(photo, signatureOf(t, before.Signed(photo, givenAt)), givenAt)
	require.NoError(t, err, "what was given out before still works")
	_, err = newSigner(t, newKey).Check(photo, signatureOf(t, replaced.Signed(photo, givenAt)), givenAt)
	require.NoError(t, err, "the new key signs")
}

func TestSignEvent(t *testing.T) {
	t.Parallel()
	signer := newSigner(t, oldKey)
	const before, after = `{"product":"\"photo_url\":\"x/` + photo + `\"","delivery_proof":{"photo_url":"`, `","captured_at":null}}`
	require.Equal(t, before+signer.Signed(photo, givenAt)+after, signer.SignEvent(before+signer.Unsigned(photo)+after, givenAt))
	for _, unchanged := range []string{`{}`, `{"delivery_proof":null}`, before + filesURL + `/otro.jpg` + after} {
		require.Equal(t, unchanged, signer.SignEvent(unchanged, givenAt))
	}
}

package photos_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/photos"
)

// request is a form as browsers send it; header is that of the photo's part, nil for a form without
// one.
func request(t *testing.T, fields map[string]string, header textproto.MIMEHeader, content []byte) *http.Request {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for name, value := range fields {
		require.NoError(t, form.WriteField(name, value))
	}
	if header != nil {
		part, err := form.CreatePart(header)
		require.NoError(t, err)
		_, err = part.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, form.Close())
	r := httptest.NewRequest(http.MethodPost, "/", &out)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}

func photoHeader(fileName string) textproto.MIMEHeader {
	return textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="photo"; filename="` + fileName + `"`}, "Content-Type": {"application/octet-stream"},
	}
}

func TestReadForm_fieldsAndPhoto(t *testing.T) {
	t.Parallel()
	r := request(t, map[string]string{"actual_amount_collected": "89.90", "lat": "-12.1", "lng": ""}, photoHeader("a.jpg"), []byte("photo"))
	require.True(t, photos.IsForm(r))
	in, picture, err := photos.ReadForm(r)
	require.NoError(t, err)
	require.Equal(t, "photo", string(picture))
	require.EqualValues(t, 8990, *in.Money("actual_amount_collected"))
	require.InDelta(t, -12.1, *in.Number("lat", -90, 90), 0)
	require.False(t, in.Has("lng"), "what was left blank is not there")
	require.NoError(t, in.Err())
}

func TestReadForm_withoutAPhoto(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]textproto.MIMEHeader{"no field": nil, "a field that nobody filled": photoHeader("")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, picture, err := photos.ReadForm(request(t, nil, header, nil))
			require.NoError(t, err)
			require.Nil(t, picture)
		})
	}
}

func TestReadForm_refusals(t *testing.T) {
	t.Parallel()
	other := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte("x")))
	other.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	for name, test := range map[string]struct {
		request *http.Request
		code    string
	}{
		"over 8 MiB":          {request(t, nil, photoHeader("a.jpg"), make([]byte, photos.MaxBytes+1)), "photo_too_large"},
		"far over 8 MiB":      {request(t, nil, photoHeader("a.jpg"), make([]byte, photos.MaxBytes+1<<20)), "photo_too_large"},
		"no form after all":   {other, "invalid_form"},
		"one field two times": {twoLatitudes(t), "invalid_fields"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := photos.ReadForm(test.request)
			require.Equal(t, test.code, apperror.From(err).Code)
		})
	}
}

func twoLatitudes(t *testing.T) *http.Request {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	require.NoError(t, form.WriteField("lat", "1"))
	require.NoError(t, form.WriteField("lat", "2"))
	require.NoError(t, form.Close())
	r := httptest.NewRequest(http.MethodPost, "/", &out)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}

func TestIsForm(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]bool{
		"multipart/form-data; boundary=x": true, "application/json": false, "application/x-www-form-urlencoded": false, "": false, ";": false,
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Content-Type", contentType)
		require.Equal(t, want, photos.IsForm(r), contentType)
	}
}

// No part of a form is written to disk. Not parallel: it changes TMPDIR.
func TestReadForm_leavesTheDiskAlone(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	_, photo, err := photos.ReadForm(request(t, nil, photoHeader("a.jpg"), make([]byte, photos.MaxBytes)))
	require.NoError(t, err)
	require.Len(t, photo, photos.MaxBytes)
}

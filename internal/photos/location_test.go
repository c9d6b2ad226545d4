package photos_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/photos"
)

func TestParseLocation(t *testing.T) {
	t.Parallel()
	endpoint := &url.URL{Scheme: "http", Host: "127.0.0.1:7070"}
	for text, want := range map[string]photos.Location{
		"files":                   {Directory: "files"},
		"/var/lib/despacho/files": {Directory: "/var/lib/despacho/files"},
		"s3://fotos":              {Bucket: "fotos"},
		"s3://fotos/despacho/pe":  {Bucket: "fotos", Prefix: "despacho/pe/"},
		"s3://fotos?endpoint=http%3A%2F%2F127.0.0.1%3A7070&region=sa-east-1": {Bucket: "fotos", Endpoint: endpoint, Region: "sa-east-1"},
	} {
		location, err := photos.ParseLocation(text)
		require.NoError(t, err, text)
		require.Equal(t, want, location)
	}
	plain, err := photos.ParseLocation("s3://fotos/?endpoint=http://127.0.0.1:7070/")
	require.NoError(t, err, "an endpoint need not be escaped")
	require.Equal(t, "127.0.0.1:7070", plain.Endpoint.Host)
	require.Empty(t, plain.Prefix)
}

// What is wrong is said, and what might be a secret is not repeated.
func TestParseLocation_refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "is empty",
		"gs://fotos":                         "gs://",
		"s3://":                              "names no bucket",
		"s3:///fotos":                        "names no bucket",
		"s3://127.0.0.1:7070/fotos":          "names no bucket",
		"s3://AKIA:geheim@fotos":             "AWS_ACCESS_KEY_ID",
		"s3://fotos/a//b":                    "prefix",
		"s3://fotos/../b":                    "prefix",
		"s3://fotos?geheim=1":                "endpoint and region",
		"s3://fotos?endpoint=127.0.0.1:7070": "endpoint that is not",
		"s3://fotos?endpoint=http://geheim:geheim@127.0.0.1": "endpoint that is not",
		"s3://fotos?endpoint=ftp://127.0.0.1":                "endpoint that is not",
	} {
		_, err := photos.ParseLocation(text)
		require.ErrorContains(t, err, want, text)
		if want != "endpoint and region" {
			require.NotContains(t, err.Error(), "geheim")
		}
	}
}

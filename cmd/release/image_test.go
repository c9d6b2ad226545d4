package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type tarEntry struct {
	header  *tar.Header
	content []byte
}

func readTar(t *testing.T, content []byte) map[string]tarEntry {
	t.Helper()
	entries := map[string]tarEntry{}
	for reader := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return entries
		}
		require.NoError(t, err)
		body, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.NotContains(t, entries, header.Name)
		entries[header.Name] = tarEntry{header, body}
	}
}

// blobOf returns the blob that a descriptor names, which has the digest and the size it says.
func blobOf(t *testing.T, files map[string]tarEntry, d descriptor) []byte {
	t.Helper()
	sum := strings.TrimPrefix(d.Digest, "sha256:")
	content := files["blobs/sha256/"+sum].content
	require.Equal(t, sum, digest(content))
	require.Len(t, content, d.Size)
	return content
}

// An engine that follows the index, or manifest.json, comes to the binary and what it needs.
func TestImage_layout(t *testing.T) {
	t.Parallel()
	b := build{name: "despacho", version: "1.2.3", commit: "abc", epoch: time.Unix(1_700_000_000, 0).UTC()}
	layer, err := b.layer([]byte("the binary"))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, b.writeLayout(&out, target{goos: "linux", goarch: "arm64"}, layer))
	files := readTar(t, out.Bytes())
	require.JSONEq(t, `{"imageLayoutVersion": "1.0.0"}`, string(files["oci-layout"].content))

	var index struct{ Manifests []descriptor }
	require.NoError(t, json.Unmarshal(files["index.json"].content, &index))
	require.Len(t, index.Manifests, 1)
	require.Equal(t, map[string]string{"architecture": "arm64", "os": "linux"}, index.Manifests[0].Platform)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	require.NoError(t, json.Unmarshal(blobOf(t, files, index.Manifests[0]), &manifest))
	require.Len(t, manifest.Layers, 1)
	var config struct {
		Architecture, OS, Created string
		Config                    imageConfig
		RootFS                    struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	require.NoError(t, json.Unmarshal(blobOf(t, files, manifest.Config), &config))
	require.Equal(t, []string{"arm64", "linux", "2023-11-14T22:13:20Z"}, []string{config.Architecture, config.OS, config.Created})
	require.Equal(t, b.imageConfig(), config.Config)
	unzipped, err := gzip.NewReader(bytes.NewReader(blobOf(t, files, manifest.Layers[0])))
	require.NoError(t, err)
	content, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	require.Equal(t, []string{"sha256:" + digest(content)}, config.RootFS.DiffIDs)

	var legacy []struct {
		Config           string
		RepoTags, Layers []string
	}
	require.NoError(t, json.Unmarshal(files["manifest.json"].content, &legacy))
	require.Equal(t, []string{"despacho:1.2.3"}, legacy[0].RepoTags)
	require.Equal(t, "blobs/sha256/"+strings.TrimPrefix(manifest.Config.Digest, "sha256:"), legacy[0].Config)
	require.Equal(t, []string{"blobs/sha256/" + strings.TrimPrefix(manifest.Layers[0].Digest, "sha256:")}, legacy[0].Layers)

	inside := readTar(t, content)
	require.Equal(t, "the binary", string(inside["despacho"].content))
	require.EqualValues(t, 0o755, inside["despacho"].header.Mode)
	require.EqualValues(t, 0o1777, inside["tmp/"].header.Mode)
	require.Equal(t, imageUser, inside[strings.TrimPrefix(filesDir, "/")+"/"].header.Uid, "the service writes there")
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(inside["etc/ssl/certs/ca-certificates.crt"].content))
	for name, entry := range inside {
		require.True(t, b.epoch.Equal(entry.header.ModTime), name)
	}
}

// Whoever builds the image with the Dockerfile and whoever takes that of a release run the same.
func TestImage_isThatOfTheDockerfile(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	_, last, found := strings.Cut(string(content), "\nFROM scratch\n")
	require.True(t, found)
	instruction := func(name string) string {
		lines := regexp.MustCompile(`(?m)^`+name+` (.*)$`).FindAllStringSubmatch(last, -1)
		require.Len(t, lines, 1, name)
		return lines[0][1]
	}
	words := func(text string) (list []string) {
		require.NoError(t, json.Unmarshal([]byte(text), &list))
		return list
	}
	config := build{}.imageConfig()
	require.Equal(t, instruction("USER"), config.User)
	require.Equal(t, strings.Fields(instruction("ENV")), config.Env)
	require.Contains(t, config.ExposedPorts, instruction("EXPOSE")+"/tcp")
	require.Equal(t, words(instruction("ENTRYPOINT")), config.Entrypoint)
	require.Equal(t, words(instruction("CMD")), config.Cmd)
	flags, test, found := strings.Cut(instruction("HEALTHCHECK"), " CMD ")
	require.True(t, found)
	check := config.Healthcheck
	require.Equal(t, append([]string{"CMD"}, words(test)...), check.Test)
	given := map[string]string{}
	for _, flag := range strings.Fields(flags) {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		given[name] = value
	}
	require.Equal(t, map[string]string{
		"interval": check.Interval.String(), "timeout": check.Timeout.String(), "start-period": check.StartPeriod.String(), "retries": "3",
	}, given)
	require.Equal(t, 3, check.Retries)

	b := build{epoch: time.Unix(0, 0)}
	layer, err := b.layer(nil)
	require.NoError(t, err)
	inside := readTar(t, layer)
	for _, copied := range regexp.MustCompile(`(?m)^COPY .* /(\S+)$`).FindAllStringSubmatch(last, -1) {
		_, file := inside[copied[1]]
		_, directory := inside[copied[1]+"/"]
		require.True(t, file || directory, copied[1])
	}
}

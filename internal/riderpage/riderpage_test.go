package riderpage_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/riderpage"
	"despacho/test/testenv"
)

var assetAddress = regexp.MustCompile(`/reparto/assets/([0-9a-f]{12})/([a-zA-Z0-9.-]+)`)

// loaded are the files that a text refers to, each found under the address that it has there.
func loaded(t *testing.T, page *riderpage.Page, text []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, found := range assetAddress.FindAllSubmatch(text, -1) {
		content, kind, current, known := page.Asset(string(found[1]), string(found[2]))
		require.True(t, known && current, "%s", found[0])
		require.NotEmpty(t, kind)
		files[string(found[2])] = content
	}
	return files
}

func packed(t *testing.T, content []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Len()
}

// What the page loads before it shows anything is under 100 KB, and far less as it is sent; what a
// browser without a reader of codes loads later is not part of it.
func TestPage_isSmall(t *testing.T) {
	t.Parallel()
	page := riderpage.New()
	files := loaded(t, page, bytes.Join([][]byte{page.HTML, page.Manifest}, nil))
	files["page"], files["manifest"], files["worker"] = page.HTML, page.Manifest, page.Worker
	require.Contains(t, files, "reparto.js")
	require.Contains(t, files, "reparto.css")
	later := files["decode.js"]
	delete(files, "decode.js")
	require.NotEmpty(t, later)
	sent := 0
	for _, content := range files {
		sent += min(packed(t, content), len(content))
	}
	require.Less(t, sent, 60<<10, "bytes as they are sent")
	_, _, _, known := page.Asset("", "index.js")
	require.True(t, known, "the decoder imports its neighbour by this name")
}

// The service worker keeps everything that the page refers to, and is another one with any change.
func TestWorker_keepsThePage(t *testing.T) {
	t.Parallel()
	page := riderpage.New()
	text := string(page.Worker)
	_, rest, found := strings.Cut(text, "const shell = ")
	require.True(t, found)
	line, _, _ := strings.Cut(rest, ";\n")
	var shell struct {
		Name           string
		Files, Decoder []string
	}
	require.NoError(t, json.Unmarshal([]byte(line), &shell))
	require.Regexp(t, `^reparto-[0-9a-f]{12}$`, shell.Name)
	require.Equal(t, riderpage.Root, shell.Files[0])
	kept := strings.Join(append(shell.Files, shell.Decoder...), " ")
	for _, address := range assetAddress.FindAllString(string(page.HTML), -1) {
		require.Contains(t, kept, address)
	}
	var manifest struct {
		StartURL string `json:"start_url"`
		Scope    string
		Icons    []struct{ Src string }
	}
	require.NoError(t, json.Unmarshal(page.Manifest, &manifest))
	require.Equal(t, []string{riderpage.Root, riderpage.Root}, []string{manifest.StartURL, manifest.Scope})
	require.Len(t, loaded(t, page, page.Manifest), len(manifest.Icons))
}

// The page keeps to its policy: no script, style or handler is in the document.
func TestPage_hasNothingInline(t *testing.T) {
	t.Parallel()
	html := string(riderpage.New().HTML)
	require.NotRegexp(t, `(?i)<style|\son\w+=|\sstyle=|javascript:|<script[^>]*>[^<]`, html)
	require.True(t, strings.HasPrefix(riderpage.Policy, "default-src 'none'; "))
	require.NotContains(t, riderpage.Policy, "unsafe")
}

// decoderFiles are the files of the QR decoder with their SHA-256 in the package qr of npm.
var decoderFiles = map[string]string{
	"decode.js":   "f7eb7ae61651ed165e21ddef5499684c80da2954012f99db94ae461c4125108c",
	"index.js":    "7015fbf2f162e8763099979a37e57f612687b23dd5f8085548ac78e6d03a2ee2",
	"LICENSE":     "f9946796a8a5bd5981565142fa42e3b0cc36aef6f80e86beaf5905b3c0fef1b5",
	"LICENSE-MIT": "07a9f887e9215644439b808628b09f8eece932d79130ff563f958f3a1783e684",
}

const decoder = "qr-0.5.5"

// The decoder is byte for byte what its authors published.
func TestDecoder_isTheOneOnNPM(t *testing.T) {
	t.Parallel()
	for name, want := range decoderFiles {
		content, err := os.ReadFile(filepath.Join("assets", decoder, name))
		require.NoError(t, err)
		sum := sha256.Sum256(content)
		require.Equal(t, want, hex.EncodeToString(sum[:]), name)
	}
	npm := testenv.Program(t, "npm")
	work := t.TempDir()
	pack := exec.CommandContext(t.Context(), npm, "pack", "--fetch-retries=0", "--silent", strings.Replace(decoder, "-", "@", 1))
	pack.Dir = work
	if output, err := pack.CombinedOutput(); err != nil {
		t.Skipf("npm or its registry does not answer: %s", output)
	}
	unpack := exec.CommandContext(t.Context(), "tar", "xzf", decoder+".tgz")
	unpack.Dir = work
	output, err := unpack.CombinedOutput()
	require.NoError(t, err, "%s", output)
	for name, want := range decoderFiles {
		content, err := os.ReadFile(filepath.Join(work, "package", name))
		require.NoError(t, err)
		sum := sha256.Sum256(content)
		require.Equal(t, want, hex.EncodeToString(sum[:]), name)
	}
}

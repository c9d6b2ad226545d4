// Package riderpage is the rider's web app: one page without personal data, its scripts, and the
// service worker that keeps them on the phone. What they show and send goes through /rider/api.
package riderpage

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
)

//go:embed assets
var sources embed.FS

const (
	// Root is the page's address, and the scope of its service worker: a link to it opens without a
	// network, with or without a slash at its end.
	Root = "/reparto"
	// WorkerPath and ManifestPath never change, because browsers and home screens remember them.
	WorkerPath   = Root + "/sw.js"
	ManifestPath = Root + "/manifest.webmanifest"
	assetsPath   = Root + "/assets/"
)

// decoder is the folder of the QR decoder, which is named as its package and version on npm.
const decoder = "qr-0.5.5"

// Policy is the page's Content-Security-Policy: its own scripts, style, worker and connections.
// Photos that were not sent yet are blobs.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; " +
	"manifest-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const (
	javaScript = "text/javascript; charset=utf-8"
	styleSheet = "text/css; charset=utf-8"
	// ManifestType is the media type of the manifest.
	ManifestType = "application/manifest+json"
	// WorkerType is the media type of the service worker.
	WorkerType = javaScript
)

// Page has what the browser is served.
type Page struct {
	// HTML is the shell of the page, Worker its service worker.
	HTML, Worker, Manifest []byte
	assets                 map[string]asset
}

// asset is a file that browsers may keep: its address contains its version.
type asset struct {
	content       []byte
	kind, version string
}

// New reads the embedded files and gives each its address.
func New() *Page {
	p := &Page{assets: map[string]asset{}}
	p.add("reparto.css", styleSheet, joined("assets/css/*.css"))
	p.add("reparto.js", javaScript, joined("assets/js/*.js"))
	for _, name := range []string{"icon.svg", "icon-192.png", "icon-512.png"} {
		p.add(name, map[string]string{".svg": "image/svg+xml", ".png": "image/png"}[path.Ext(name)], content("assets/"+name))
	}
	p.addDecoder()
	addresses := p.addresses()
	p.Manifest = fill("assets/manifest.webmanifest", addresses)
	p.HTML = fill("assets/reparto.html", addresses)
	p.Worker = fill("assets/sw.js", map[string]string{"shell": p.shell(addresses)})
	return p
}

// addDecoder adds the two files of the decoder with one version: one imports the other by its name
// in the same folder.
func (p *Page) addDecoder() {
	names := []string{"decode.js", "index.js"}
	sum := sha256.New()
	for _, name := range names {
		sum.Write(content("assets/" + decoder + "/" + name))
	}
	version := hex.EncodeToString(sum.Sum(nil)[:6])
	for _, name := range names {
		p.assets[name] = asset{content("assets/" + decoder + "/" + name), javaScript, version}
	}
}

func (p *Page) add(name, kind string, content []byte) {
	sum := sha256.Sum256(content)
	p.assets[name] = asset{content, kind, hex.EncodeToString(sum[:6])}
}

// addresses are the URLs of the assets by name. Each changes with its content.
func (p *Page) addresses() map[string]string {
	found := map[string]string{"manifest": ManifestPath, "worker": WorkerPath, "root": Root}
	for name, a := range p.assets {
		found[name] = assetsPath + a.version + "/" + name
	}
	return found
}

// shell tells the service worker what to keep. Its name is that of all contents together, so that a
// new release is another worker, which keeps a copy of its own.
func (p *Page) shell(addresses map[string]string) string {
	sum := sha256.Sum256(bytes.Join([][]byte{p.HTML, p.Manifest}, nil))
	encoded, err := json.Marshal(map[string]any{
		"name": "reparto-" + hex.EncodeToString(sum[:6]),
		"files": []string{
			Root, ManifestPath, addresses["reparto.css"], addresses["reparto.js"], addresses["icon.svg"],
			addresses["icon-192.png"],
		},
		"decoder": []string{addresses["decode.js"], addresses["index.js"]},
	})
	if err != nil {
		panic(err) // these are texts
	}
	return string(encoded)
}

// Asset finds a file by name. current means that it is the version of the URL: while a release is
// being rolled out, a page of the other release asks for a version that this process does not have.
func (p *Page) Asset(version, name string) (content []byte, kind string, current, known bool) {
	found, known := p.assets[name]
	return found.content, found.kind, known && found.version == version, known
}

// fill replaces {{name}} in a file.
func fill(file string, values map[string]string) []byte {
	text := string(content(file))
	for name, value := range values {
		text = strings.ReplaceAll(text, "{{"+name+"}}", value)
	}
	if strings.Contains(text, "{{") {
		panic(file + " names something that there is not")
	}
	return []byte(text)
}

func joined(pattern string) []byte {
	files, err := fs.Glob(sources, pattern)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	parts := make([][]byte, 0, len(files))
	for _, file := range files {
		parts = append(parts, content(file))
	}
	return bytes.Join(parts, []byte("\n"))
}

func content(file string) []byte {
	read, err := sources.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	return read
}

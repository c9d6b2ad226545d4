package panel

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
)

//go:embed assets
var assetSources embed.FS

// asset is a static file that browsers may cache: its URL contains its version.
type asset struct {
	content []byte
	kind    string
	version string
}

// AssetVersion is the parameter of an asset's URL that contains its version.
const AssetVersion = "v"

type assets map[string]asset

// readAssets concatenates the style sheets and the scripts, and reads the other files unchanged.
func readAssets() assets {
	read := assets{}
	read.add("panel.css", "text/css; charset=utf-8", joined("assets/css/*.css"))
	read.add("panel.js", "text/javascript; charset=utf-8", joined("assets/js/*.js"))
	for _, file := range matching("assets/*.css") {
		read.add(path.Base(file), "text/css; charset=utf-8", joined(file))
	}
	return read
}

func (a assets) add(name, kind string, content []byte) {
	sum := sha256.Sum256(content)
	a[name] = asset{content, kind, hex.EncodeToString(sum[:6])}
}

// address is the URL of an asset, which changes with its content.
func (a assets) address(name string) string {
	return "/panel/assets/" + name + "?" + AssetVersion + "=" + a[name].version
}

// Asset finds a file by name. current means that it is the version of the URL: while a release is
// being rolled out, a page of the other release asks for a version that this process does not have.
func (p *Pages) Asset(name, version string) (content []byte, kind string, current, known bool) {
	found, known := p.assets[name]
	return found.content, found.kind, known && found.version == version, known
}

func joined(pattern string) []byte {
	var parts [][]byte
	for _, file := range matching(pattern) {
		content, err := assetSources.ReadFile(file)
		if err != nil {
			panic(err) // it is embedded
		}
		parts = append(parts, content)
	}
	return bytes.Join(parts, []byte("\n"))
}

func matching(pattern string) []string {
	files, err := fs.Glob(assetSources, pattern)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return files
}

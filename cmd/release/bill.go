package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// bill is a software bill of materials in CycloneDX 1.5, https://cyclonedx.org/docs/1.5/json/.
type bill struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PackageURL string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// writeBills writes the bills of a binary and of its image beside them. They list what the linker
// recorded in the binary, not what go.mod could have pulled in.
func (b build) writeBills(binary, image string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	if err := b.writeBill(binary, info.Settings, modules(info)); err != nil {
		return err
	}
	// The certificate authorities are those of a module that this program is built with.
	own, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this program was built without modules")
	}
	authorities := slices.DeleteFunc(modules(own), func(c component) bool { return c.Name != authoritiesModule })
	return b.writeBill(image, info.Settings, append(modules(info), authorities...))
}

const authoritiesModule = "golang.org/x/crypto/x509roots/fallback"

func (b build) writeBill(file string, settings []debug.BuildSetting, components []component) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	encoded, err := json.MarshalIndent(b.bill(filepath.Base(file), digest(content), settings, components), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file+".cdx.json", append(encoded, '\n'), 0o644)
}

// modules are the modules of a binary, and the standard library.
func modules(info *debug.BuildInfo) []component {
	components := []component{library("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, library(module.Path, module.Version, module.Sum))
	}
	return components
}

func (b build) bill(file, sum string, settings []debug.BuildSetting, components []component) bill {
	product := component{
		Type: "application", Ref: file, Name: b.name, Version: b.version, Hashes: []hash{{"SHA-256", sum}},
	}
	if strings.HasSuffix(file, ".tar") {
		product.Type = "container"
	}
	for _, setting := range settings {
		product.Properties = append(product.Properties, property{"go:build:" + setting.Key, setting.Value})
	}
	slices.SortFunc(components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	uses := make([]string, len(components))
	for i, used := range components {
		uses[i] = used.Ref
	}
	return bill{
		Format: "CycloneDX", SpecVersion: "1.5", Version: 1,
		// Derived from the file, so that the same file has the same bill.
		SerialNumber: "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceOID, []byte(sum)).String(),
		Metadata:     metadata{Timestamp: b.epoch.Format(time.RFC3339), Component: product},
		Components:   components,
		Dependencies: []dependency{{Ref: product.Ref, DependsOn: uses}},
	}
}

// library is a module, or the standard library. Its sum is that of go.sum, which is no hash of one
// file.
func library(path, version, sum string) component {
	url := "pkg:golang/" + path + "@" + version
	c := component{Type: "library", Ref: url, Name: path, Version: version, PackageURL: url}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}

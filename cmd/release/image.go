package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The image is that of the Dockerfile, made without a container engine: nothing of it depends on
// what a registry or a package mirror serves that day.
const (
	imageUser = 65532
	filesDir  = "/var/lib/despacho/files"
)

// imageConfig is the part of an image's configuration that says how it runs. Health checks are
// Docker's addition to the OCI image specification.
type imageConfig struct {
	User         string              `json:"User"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts"`
	Env          []string            `json:"Env"`
	Entrypoint   []string            `json:"Entrypoint"`
	Cmd          []string            `json:"Cmd"`
	Healthcheck  imageHealthcheck    `json:"Healthcheck"`
	Labels       map[string]string   `json:"Labels"`
}

type imageHealthcheck struct {
	Test                           []string
	Interval, Timeout, StartPeriod time.Duration
	Retries                        int
}

func (b build) imageConfig() imageConfig {
	return imageConfig{
		User: "65532:65532", ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Env:        []string{"HTTP_ADDR=0.0.0.0:8080", "FILES_DIR=" + filesDir},
		Entrypoint: []string{"/despacho"}, Cmd: []string{"api"},
		Healthcheck: imageHealthcheck{
			Test:     []string{"CMD", "/despacho", "health"},
			Interval: 10 * time.Second, Timeout: 5 * time.Second, StartPeriod: 10 * time.Second, Retries: 3,
		},
		Labels: map[string]string{"org.opencontainers.image.version": b.version, "org.opencontainers.image.revision": b.commit},
	}
}

// descriptor names a blob of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// archive is a tar file whose entries all have the release's time.
type archive struct {
	*tar.Writer
	epoch time.Time
}

func (a archive) directory(name string, mode int64, owner int) error {
	return a.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner, ModTime: a.epoch})
}

func (a archive) file(name string, mode int64, content []byte) error {
	if err := a.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content)), ModTime: a.epoch}); err != nil {
		return err
	}
	_, err := a.Write(content)
	return err
}

// blob adds content under its digest.
func (a archive) blob(mediaType string, content []byte) (descriptor, error) {
	sum := digest(content)
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(content)}, a.file("blobs/sha256/"+sum, 0o644, content)
}

func (a archive) document(mediaType string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return descriptor{}, err
	}
	return a.blob(mediaType, content)
}

// layer is the image's file system.
func (b build) layer(binary []byte) ([]byte, error) {
	var content bytes.Buffer
	files := archive{tar.NewWriter(&content), b.epoch}
	for _, directory := range []string{"etc", "etc/ssl", "etc/ssl/certs", "var", "var/lib", "var/lib/despacho"} {
		if err := files.directory(directory, 0o755, 0); err != nil {
			return nil, err
		}
	}
	if err := files.file("etc/ssl/certs/ca-certificates.crt", 0o644, certificateAuthorities()); err != nil {
		return nil, err
	}
	if err := files.file("despacho", 0o755, binary); err != nil {
		return nil, err
	}
	if err := files.directory("tmp", 0o1777, imageUser); err != nil {
		return nil, err
	}
	if err := files.directory(strings.TrimPrefix(filesDir, "/"), 0o755, imageUser); err != nil {
		return nil, err
	}
	return content.Bytes(), files.Close()
}

// certificateAuthorities are the roots of Mozilla's list that receivers of webhooks are checked
// against. Those that are trusted only for older certificates are left out: a PEM file cannot say
// so.
func certificateAuthorities() []byte {
	var list bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			list.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return list.Bytes()
}

// writeImage writes the image of a binary as an archive that `docker load` reads, and everything
// that knows the OCI image layout.
func (b build) writeImage(target target, binary, path string) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	layer, err := b.layer(program)
	if err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := b.writeLayout(out, target, layer); err != nil {
		return err
	}
	return out.Close()
}

// writeLayout writes an OCI image layout: the blobs, then the files that refer to them.
func (b build) writeLayout(out io.Writer, target target, layer []byte) error {
	image := archive{tar.NewWriter(out), b.epoch}
	files, err := image.layerBlob(layer)
	if err != nil {
		return err
	}
	created := b.epoch.Format(time.RFC3339)
	config, err := image.document("application/vnd.oci.image.config.v1+json", map[string]any{
		"created": created, "architecture": target.goarch, "os": target.goos, "config": b.imageConfig(),
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
		"history": []any{map[string]any{"created": created, "created_by": "make release"}},
	})
	if err != nil {
		return err
	}
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	manifest, err := image.document(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{files},
	})
	if err != nil {
		return err
	}
	tag := b.name + ":" + b.version
	manifest.Platform = map[string]string{"architecture": target.goarch, "os": target.goos}
	manifest.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": b.version, "io.containerd.image.name": "docker.io/library/" + tag,
	}
	if err := image.writeIndex(config, manifest, files, tag); err != nil {
		return err
	}
	return image.Close()
}

// layerBlob adds a layer's tar file, compressed.
func (a archive) layerBlob(layer []byte) (descriptor, error) {
	var compressed bytes.Buffer
	compressor := gzip.NewWriter(&compressed)
	if _, err := compressor.Write(layer); err != nil {
		return descriptor{}, err
	}
	if err := compressor.Close(); err != nil {
		return descriptor{}, err
	}
	return a.blob("application/vnd.oci.image.layer.v1.tar+gzip", compressed.Bytes())
}

// writeIndex adds the files by which engines find the image.
func (a archive) writeIndex(config, manifest, files descriptor, tag string) error {
	path := func(d descriptor) string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }
	for _, file := range []struct {
		name    string
		content any
	}{
		{"index.json", map[string]any{
			"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []descriptor{manifest},
		}},
		{"oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"}},
		// For engines before Docker 25.
		{"manifest.json", []any{map[string]any{"Config": path(config), "RepoTags": []string{tag}, "Layers": []string{path(files)}}}},
	} {
		content, err := json.Marshal(file.content)
		if err != nil {
			return err
		}
		if err := a.file(file.name, 0o644, content); err != nil {
			return err
		}
	}
	return nil
}

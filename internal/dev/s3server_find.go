package dev

import (
	"context"
	_ "embed"
	"path/filepath"
)

// s3ServerModule is the go.mod that the S3 server is compiled with.
//
//go:embed s3server.mod
var s3ServerModule []byte

const (
	// s3ServerVersion is the one in s3ServerModule.
	s3ServerVersion = "v1.8.0"
	// s3Server is its name in messages.
	s3Server = "the S3 server of the tests"
	// s3ServerPackages is roughly how many packages it consists of.
	s3ServerPackages = 700
)

// FindS3Server returns the path of versitygw, an S3 server that keeps objects as files. It is kept
// in binDir and compiled from Go modules if it is not there yet. progress is called with what is
// going on, at least every five seconds.
func FindS3Server(ctx context.Context, binDir string, progress func(string)) (string, error) {
	binDir, err := filepath.Abs(binDir)
	if err != nil {
		return "", err
	}
	// The version is part of the name: a program of another version is not taken for this one.
	path := filepath.Join(binDir, "versitygw-"+s3ServerVersion)
	build := goBuild{
		what: s3Server, module: s3ServerModule, packages: []string{"github.com/versity/versitygw/cmd/versitygw"},
		size: s3ServerPackages, interval: progressInterval, progress: progress,
	}
	return path, installation{
		what: s3Server, name: "versitygw", binDir: binDir, programs: map[string]string{"versitygw": path},
		interval: progressInterval, progress: progress,
	}.ensure(ctx, build.into)
}

package dev

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// The credentials of the S3 server, whose objects last as long as it runs.
const (
	S3AccessKey = "despacho-tests"
	S3SecretKey = "despacho-tests-secret"
)

// S3Server is a running S3 server.
type S3Server struct {
	Server
	// Address is its host:port, without TLS.
	Address string
}

// StartS3Server runs program, as FindS3Server gives it, on a free loopback port and returns when it
// answers. ctx bounds the start alone.
func StartS3Server(ctx context.Context, program string) (*S3Server, error) {
	address, err := portAddress(loopback, 0)
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "despacho-s3-")
	if err != nil {
		return nil, fmt.Errorf("a place for %s: %w", s3Server, err)
	}
	// Metadata is in files of its own: not every file system has extended attributes.
	objects, metadata := filepath.Join(directory, "objects"), filepath.Join(directory, "metadata")
	server := &S3Server{Address: address, Server: Server{
		directory: directory,
		ready:     func(ctx context.Context) error { return answers(ctx, "http://"+address) },
		command: Command{
			Name: s3Server, Path: program,
			Args: []string{"--port", address, "--access", S3AccessKey, "--secret", S3SecretKey, "posix", "--sidecar", metadata,
				objects},
		},
	}}
	makeDirectories := func(context.Context) error {
		for _, path := range []string{objects, metadata} {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
		}
		return nil
	}
	if err := server.start(ctx, makeDirectories); err != nil {
		return nil, err
	}
	return server, nil
}

// answers fails unless something at the address speaks HTTP.
func answers(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is on this machine
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

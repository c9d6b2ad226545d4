package testenv

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"despacho/internal/dev"
)

// bucketName is the one bucket of the S3 server. Every test has a prefix of its own in it.
const bucketName = "fotos"

// Bucket is an empty place in a bucket of a real S3 server.
type Bucket struct {
	// Client reaches the server.
	Client *minio.Client
	// Name is the bucket's, Prefix what the keys of the place begin with.
	Name, Prefix string
	// Endpoint is the address of the server.
	Endpoint *url.URL
}

// NewBucket returns a place that no other test uses. The server is shared by all tests; where it
// cannot be compiled the test is skipped, or fails with CI=true. Its credentials are in the
// environment of the process from then on, which is where the service looks for them.
func NewBucket(t testing.TB) *Bucket {
	t.Helper()
	SkipIfShort(t)
	address, err := s3Server.get()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	setCredentials()
	client, err := s3Client(address)
	require.NoError(t, err)
	return &Bucket{
		Client: client, Name: bucketName, Prefix: strings.ToLower(rand.Text()) + "/",
		Endpoint: &url.URL{Scheme: "http", Host: address},
	}
}

// Location is the place as PHOTOS names it.
func (b *Bucket) Location() string { return b.LocationAt(b.Endpoint.String()) }

// LocationAt is the place as PHOTOS names it, with another endpoint.
func (b *Bucket) LocationAt(endpoint string) string {
	return fmt.Sprintf("s3://%s/%s?endpoint=%s", b.Name, strings.TrimSuffix(b.Prefix, "/"), url.QueryEscape(endpoint))
}

var setCredentials = sync.OnceFunc(func() {
	os.Setenv("AWS_ACCESS_KEY_ID", dev.S3AccessKey)
	os.Setenv("AWS_SECRET_ACCESS_KEY", dev.S3SecretKey)
})

// StartS3 starts an S3 server for tests, with its bucket, and returns its host:port.
func StartS3(ctx context.Context) (address string, stop func(context.Context) error, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", nil, err
	}
	program, err := dev.FindS3Server(ctx, filepath.Join(root, "bin"), func(line string) { fmt.Fprintln(os.Stderr, line) })
	if err != nil {
		return "", nil, err
	}
	server, err := dev.StartS3Server(ctx, program)
	if err != nil {
		return "", nil, err
	}
	client, err := s3Client(server.Address)
	if err == nil {
		err = client.MakeBucket(ctx, bucketName, minio.MakeBucketOptions{})
	}
	if err != nil {
		_ = server.Stop(ctx)
		return "", nil, err
	}
	return server.Address, server.Stop, nil
}

func s3Client(address string) (*minio.Client, error) {
	return minio.New(address, &minio.Options{Creds: credentials.NewStaticV4(dev.S3AccessKey, dev.S3SecretKey, "")})
}

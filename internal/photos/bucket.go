package photos

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// amazon is the endpoint of a bucket without one; the client makes it that of the region.
	amazon = "s3.amazonaws.com"
	// bucketAttempts is how often a request is made that fails in a way that may pass.
	bucketAttempts = 3
)

var errSlowBucket = errors.New("the object storage does not answer in time")

// bucket is a backend in S3 or a compatible service. Photos are small: each is sent in one request,
// which the service carries out in whole or not at all.
type bucket struct {
	client minio.Core
	name   string
	prefix string
	// timeout is how long the service may take for one operation, and for each page of a list.
	timeout time.Duration
}

// newBucket takes the credentials from where Amazon's own tools do: AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, a file of credentials, or the role of the machine or container.
func newBucket(location Location, timeout time.Duration) (*bucket, error) {
	host, secure := amazon, true
	if location.Endpoint != nil {
		host, secure = location.Endpoint.Host, location.Endpoint.Scheme == "https"
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.DialContext = (&net.Dialer{Timeout: timeout}).DialContext
	client, err := minio.New(host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
			&credentials.IAM{Client: &http.Client{Transport: transport, Timeout: timeout}},
		}),
		Secure: secure, Transport: transport, MaxRetries: bucketAttempts,
		Region: cmp.Or(location.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		return nil, err
	}
	return &bucket{client: minio.Core{Client: client}, name: location.Bucket, prefix: location.Prefix, timeout: timeout}, nil
}

func (b *bucket) key(path string) string { return b.prefix + path }

// prepare does nothing: a service that is away for the moment must not keep the api from starting.
func (b *bucket) prepare() error { return nil }

// do runs one operation within the timeout.
func (b *bucket) do(ctx context.Context, operation func(context.Context) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, b.timeout, errSlowBucket)
	defer cancel()
	return explained(limited, operation(limited))
}

// explained returns fs.ErrNotExist where the service answers that there is no such object, and adds
// why ctx has ended.
func explained(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case minio.ToErrorResponse(err).Code == minio.NoSuchKey:
		return fs.ErrNotExist
	default:
		return errors.Join(context.Cause(ctx), err)
	}
}

func (b *bucket) write(ctx context.Context, path string, content []byte) error {
	return b.do(ctx, func(ctx context.Context) error {
		_, err := b.client.Client.PutObject(ctx, b.name, b.key(path), bytes.NewReader(content), int64(len(content)),
			minio.PutObjectOptions{ContentType: contentType(path), DisableMultipart: true})
		return err
	})
}

func contentType(name string) string {
	return cmp.Or(mime.TypeByExtension(path.Ext(name)), "application/octet-stream")
}

func (b *bucket) remove(ctx context.Context, path string) error {
	return ignoreMissing(b.do(ctx, func(ctx context.Context) error {
		return b.client.RemoveObject(ctx, b.name, b.key(path), minio.RemoveObjectOptions{})
	}))
}

// move has the service copy, and then deletes. The file's time is the copy's.
func (b *bucket) move(ctx context.Context, from, to string, _ time.Time) error {
	err := b.do(ctx, func(ctx context.Context) error {
		_, err := b.client.Client.CopyObject(ctx,
			minio.CopyDestOptions{Bucket: b.name, Object: b.key(to)}, minio.CopySrcOptions{Bucket: b.name, Object: b.key(from)})
		return err
	})
	if err != nil {
		return ignoreMissing(err)
	}
	return b.remove(ctx, from)
}

func (b *bucket) list(ctx context.Context, folder string) (files []storedFile, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slow := time.AfterFunc(b.timeout, func() { cancel(errSlowBucket) })
	defer slow.Stop()
	prefix := b.prefix
	if folder != "" {
		prefix += folder + "/"
	}
	for object := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix}) {
		if object.Err != nil {
			return nil, explained(ctx, object.Err)
		}
		slow.Reset(b.timeout)
		name := strings.TrimPrefix(object.Key, prefix)
		if name == "" || strings.HasSuffix(name, "/") {
			continue // a folder
		}
		files = append(files, storedFile{name: name, size: object.Size, modified: object.LastModified})
	}
	return files, context.Cause(ctx) // the list of a context that has ended is incomplete
}

// checkWritable asks whether the bucket is there and answers to the credentials, which writes
// nothing that is paid for. Credentials that may only read are found out by the first photo.
func (b *bucket) checkWritable(ctx context.Context) error {
	return b.do(ctx, func(ctx context.Context) error {
		found, err := b.client.Client.BucketExists(ctx, b.name)
		if err == nil && !found {
			err = fmt.Errorf("there is no bucket %s", b.name)
		}
		return err
	})
}

// open reads a whole file: it is small, and its client may read it more slowly than the service of
// the bucket waits.
func (b *bucket) open(ctx context.Context, path string) (file *File, err error) {
	err = b.do(ctx, func(ctx context.Context) error {
		body, info, _, err := b.client.GetObject(ctx, b.name, b.key(path), minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		content, err := io.ReadAll(io.LimitReader(body, MaxBytes))
		file = &File{ReadSeekCloser: inMemory{bytes.NewReader(content)}, Modified: info.LastModified}
		return errors.Join(err, body.Close())
	})
	return file, err
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

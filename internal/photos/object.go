package photos

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/minio/minio-go/v7"
)

// open requests the object from its first byte on, which is what most readers want.
func (b *bucket) open(ctx context.Context, path string) (*File, error) {
	o := &object{bucket: b, key: b.key(path), ctx: context.WithoutCancel(ctx)}
	if err := o.request(ctx); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return &File{ReadSeekCloser: o, Modified: o.modified}, nil
}

// object is a file of a bucket that is read while it arrives. A seek makes the next read request
// the rest from there on.
type object struct {
	bucket *bucket
	key    string
	// ctx has the values of the context that the object was opened with. It does not end with it: the
	// client of a request may read more slowly than the request may take.
	ctx      context.Context
	size     int64
	modified time.Time
	// offset is where the next read begins, arrived where body stands.
	offset, arrived int64
	body            io.ReadCloser
	// cancel ends the request of body, and slow does when nothing arrives.
	cancel context.CancelCauseFunc
	slow   *time.Timer
	// requestCtx tells why the request ended.
	requestCtx context.Context
}

// request asks for the object from offset on. The end of opening ends it, until it is answered.
func (o *object) request(opening context.Context) error {
	ctx, cancel := context.WithCancelCause(o.ctx)
	defer context.AfterFunc(opening, func() { cancel(context.Cause(opening)) })()
	slow := time.AfterFunc(o.bucket.timeout, func() { cancel(errSlowBucket) })
	defer slow.Stop()
	var options minio.GetObjectOptions
	if o.offset > 0 {
		if err := options.SetRange(o.offset, 0); err != nil {
			return err
		}
	}
	body, info, _, err := o.bucket.client.GetObject(ctx, o.bucket.name, o.key, options)
	if err != nil {
		err = explained(ctx, err)
		cancel(nil)
		return err
	}
	if o.offset == 0 {
		o.size, o.modified = info.Size, info.LastModified
	}
	o.body, o.arrived = body, o.offset
	o.requestCtx, o.cancel, o.slow = ctx, cancel, slow
	return nil
}

func (o *object) Read(p []byte) (int, error) {
	if o.offset >= o.size {
		return 0, io.EOF
	}
	if o.body == nil || o.arrived != o.offset {
		if err := errors.Join(o.Close(), o.request(o.ctx)); err != nil {
			return 0, err
		}
	}
	o.slow.Reset(o.bucket.timeout)
	n, err := o.body.Read(p)
	o.slow.Stop()
	o.offset, o.arrived = o.offset+int64(n), o.arrived+int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = explained(o.requestCtx, err)
	}
	return n, err
}

func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the first byte of a photo")
	}
	o.offset = offset
	return offset, nil
}

// Close ends the request that is under way.
func (o *object) Close() error {
	if o.body == nil {
		return nil
	}
	o.cancel(nil)
	err := o.body.Close()
	o.body = nil
	return err
}

package batch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/batch"
	"despacho/test/poll"
)

// recorder is a query that returns each number as text. Every call is recorded and waits for
// release.
type recorder struct {
	release chan struct{}
	calls   chan []int
}

func newRecorder() *recorder {
	return &recorder{release: make(chan struct{}, 100), calls: make(chan []int, 100)}
}

func (f *recorder) query(ctx context.Context, keys []int) ([]string, error) {
	f.calls <- keys
	select {
	case <-f.release:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	values := make([]string, len(keys))
	for i, key := range keys {
		values[i] = strconv.Itoa(key)
	}
	return values, nil
}

func options(maxSize int) batch.Options {
	return batch.Options{MaxSize: maxSize, StallAfter: poll.Deadline, Timeout: poll.Deadline, Log: slog.New(slog.DiscardHandler)}
}

// lookups gets all keys at once and waits until each has its value.
func lookups(t *testing.T, batcher *batch.Batcher[int, string], keys ...int) (wait func()) {
	t.Helper()
	var all sync.WaitGroup
	for _, key := range keys {
		all.Go(func() {
			value, err := batcher.Get(t.Context(), key)
			if err != nil || value != strconv.Itoa(key) {
				t.Errorf("asked %d, got %q, %v", key, value, err)
			}
		})
	}
	return all.Wait
}

func TestGet_runsAtOnceWhenIdle(t *testing.T) {
	t.Parallel()
	f := newRecorder()
	batcher := batch.New(options(10), f.query)
	for i := range 3 {
		f.release <- struct{}{}
		lookups(t, batcher, i)()
		require.Equal(t, []int{i}, <-f.calls)
	}
}

func TestGet_coalescesConcurrentLookups(t *testing.T) {
	t.Parallel()
	f := newRecorder()
	batcher := batch.New(options(4), f.query)
	wait := lookups(t, batcher, 0)
	require.Equal(t, []int{0}, <-f.calls, "the first query is running")
	rest := lookups(t, batcher, 1, 2, 3, 4, 5, 6)
	poll.Until(t, func() error {
		if waiting := batcher.Waiting(); waiting != 6 {
			return fmt.Errorf("%d wait", waiting)
		}
		return nil
	})
	for range 3 {
		f.release <- struct{}{}
	}
	wait()
	rest()
	second, third := <-f.calls, <-f.calls
	require.Len(t, second, 4, "a query has at most MaxSize keys")
	require.ElementsMatch(t, []int{1, 2, 3, 4, 5, 6}, append(second, third...))
}

func TestGet_cancelledCallerDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	f := newRecorder()
	batcher := batch.New(options(10), f.query)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := batcher.Get(ctx, 1)
		result <- err
	}()
	<-f.calls
	wait := lookups(t, batcher, 2)
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	f.release <- struct{}{}
	f.release <- struct{}{}
	wait()
}

func TestGet_errorFailsTheWholeBatch(t *testing.T) {
	t.Parallel()
	broken := errors.New("query failed")
	batcher := batch.New(options(10), func(_ context.Context, keys []int) ([]string, error) {
		switch keys[0] {
		case 1:
			return nil, broken
		case 2:
			panic("query panicked")
		case 3:
			return nil, nil
		}
		return []string{"0"}, nil
	})
	for key, expected := range map[int]string{1: broken.Error(), 2: "query panicked", 3: "0 values for 1 keys"} {
		_, err := batcher.Get(t.Context(), key)
		require.ErrorContains(t, err, expected)
	}
	value, err := batcher.Get(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, "0", value, "the next query is independent")
}

// A query that panics is logged with its stack: the error of its lookups does not say where it was.
func TestGet_logsThePanicOfAQuery(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	settings := options(10)
	settings.Log = slog.New(slog.NewTextHandler(&logged, nil))
	batcher := batch.New(settings, panicking)
	_, err := batcher.Get(t.Context(), 1)
	require.ErrorContains(t, err, "query panicked")
	require.Contains(t, logged.String(), "batch_test.panicking")
}

func panicking(context.Context, []int) ([]string, error) { panic("query panicked") }

func TestGet_timesOut(t *testing.T) {
	t.Parallel()
	batcher := batch.New(batch.Options{MaxSize: 1, StallAfter: poll.Deadline, Timeout: time.Millisecond, Log: slog.New(slog.DiscardHandler)}, newRecorder().query)
	_, err := batcher.Get(t.Context(), 1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestGet_doesNotWaitForAStalledQuery(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	batcher := batch.New(batch.Options{MaxSize: 10, StallAfter: time.Millisecond, Timeout: poll.Deadline, Log: slog.New(slog.DiscardHandler)}, func(_ context.Context, keys []int) ([]string, error) {
		if keys[0] == 0 {
			close(started)
			<-release
		}
		values := make([]string, len(keys))
		for i, key := range keys {
			values[i] = strconv.Itoa(key)
		}
		return values, nil
	})
	wait := lookups(t, batcher, 0)
	<-started
	for i := range 20 {
		lookups(t, batcher, i+1)()
	}
	close(release)
	wait()
	lookups(t, batcher, 21)()
}

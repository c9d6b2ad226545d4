package batch_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/batch"
	"despacho/test/testenv"
)

// ferry answers a number with its text. Every trip waits for leave to go, and is written down.
type ferry struct {
	leave chan struct{}
	left  chan []int
}

func newFerry() *ferry { return &ferry{leave: make(chan struct{}, 100), left: make(chan []int, 100)} }

func (f *ferry) ask(ctx context.Context, questions []int) ([]string, error) {
	f.left <- questions
	select {
	case <-f.leave:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	answers := make([]string, len(questions))
	for i, question := range questions {
		answers[i] = strconv.Itoa(question)
	}
	return answers, nil
}

func options(seats int) batch.Options {
	return batch.Options{MaxSize: seats, StallAfter: testenv.Deadline, Timeout: testenv.Deadline}
}

// crowd asks all the questions at once and waits until every one has its own answer.
func crowd(t *testing.T, group *batch.Batcher[int, string], questions ...int) (wait func()) {
	t.Helper()
	var all sync.WaitGroup
	for _, question := range questions {
		all.Go(func() {
			answer, err := group.Get(t.Context(), question)
			if err != nil || answer != strconv.Itoa(question) {
				t.Errorf("asked %d, got %q, %v", question, answer, err)
			}
		})
	}
	return all.Wait
}

func TestAsk_aloneNobodyWaits(t *testing.T) {
	t.Parallel()
	f := newFerry()
	group := batch.New(options(10), f.ask)
	for i := range 3 {
		f.leave <- struct{}{}
		crowd(t, group, i)()
		require.Equal(t, []int{i}, <-f.left)
	}
}

func TestAsk_theCrowdSharesTrips(t *testing.T) {
	t.Parallel()
	f := newFerry()
	group := batch.New(options(4), f.ask)
	wait := crowd(t, group, 0)
	require.Equal(t, []int{0}, <-f.left, "the first is on the way")
	rest := crowd(t, group, 1, 2, 3, 4, 5, 6)
	testenv.Until(t, func() error {
		if waiting := group.Waiting(); waiting != 6 {
			return fmt.Errorf("%d wait", waiting)
		}
		return nil
	})
	for range 3 {
		f.leave <- struct{}{}
	}
	wait()
	rest()
	second, third := <-f.left, <-f.left
	require.Len(t, second, 4, "as many as there are seats")
	require.ElementsMatch(t, []int{1, 2, 3, 4, 5, 6}, append(second, third...))
}

func TestAsk_aCallerWhoLeavesTakesNobodyAlong(t *testing.T) {
	t.Parallel()
	f := newFerry()
	group := batch.New(options(10), f.ask)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := group.Get(ctx, 1)
		gone <- err
	}()
	<-f.left
	wait := crowd(t, group, 2)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	f.leave <- struct{}{}
	f.leave <- struct{}{}
	wait()
}

func TestAsk_whatFailsFailsForThoseWhoSharedIt(t *testing.T) {
	t.Parallel()
	broken := errors.New("no water under the keel")
	group := batch.New(options(10), func(_ context.Context, questions []int) ([]string, error) {
		switch questions[0] {
		case 1:
			return nil, broken
		case 2:
			panic("aground")
		case 3:
			return nil, nil
		}
		return []string{"0"}, nil
	})
	for question, expected := range map[int]string{1: broken.Error(), 2: "aground", 3: "0 values for 1 keys"} {
		_, err := group.Get(t.Context(), question)
		require.ErrorContains(t, err, expected)
	}
	answer, err := group.Get(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, "0", answer, "the next trip is another matter")
}

func TestAsk_aTripThatHangsEnds(t *testing.T) {
	t.Parallel()
	group := batch.New(batch.Options{MaxSize: 1, StallAfter: testenv.Deadline, Timeout: time.Millisecond}, newFerry().ask)
	_, err := group.Get(t.Context(), 1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestAsk_everyoneGetsTheirOwnAnswer(t *testing.T) {
	t.Parallel()
	group := batch.New(options(7), func(_ context.Context, questions []int) ([]string, error) {
		answers := make([]string, len(questions))
		for i, question := range questions {
			answers[i] = strconv.Itoa(question)
		}
		return answers, nil
	})
	var questions []int
	for i := range 500 {
		questions = append(questions, i)
	}
	crowd(t, group, questions...)()
}

func TestAsk_nobodyWaitsForATripThatIsLate(t *testing.T) {
	t.Parallel()
	departed, stuck := make(chan struct{}), make(chan struct{})
	group := batch.New(batch.Options{MaxSize: 10, StallAfter: time.Millisecond, Timeout: testenv.Deadline}, func(_ context.Context, questions []int) ([]string, error) {
		if questions[0] == 0 {
			close(departed)
			<-stuck
		}
		answers := make([]string, len(questions))
		for i, question := range questions {
			answers[i] = strconv.Itoa(question)
		}
		return answers, nil
	})
	wait := crowd(t, group, 0)
	<-departed
	for i := range 20 {
		crowd(t, group, i+1)()
	}
	close(stuck)
	wait()
	crowd(t, group, 21)()
}

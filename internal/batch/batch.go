// Package gather lets callers share trips: a question is sent at once while nobody is on the way,
// and those that come up meanwhile go together with the next trip. Alone nobody waits for company;
// in a crowd the cost of a trip is divided by those who share it.
package batch

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Options tune a group.
type Options struct {
	// MaxSize is how many questions a trip takes at most.
	MaxSize int
	// StallAfter is how long a trip may take before the next one goes without waiting for it.
	StallAfter time.Duration
	// Timeout bounds a trip. It does not end with the caller who happened to be first: others ride
	// along.
	Timeout time.Duration
}

// Batcher answers questions of one kind.
type Batcher[Q, A any] struct {
	options Options
	ask     func(ctx context.Context, questions []Q) ([]A, error)

	mu sync.Mutex
	// onTheWay says that a trip is, and that it is not late.
	onTheWay bool
	waiting  []*caller[Q, A]
}

type caller[Q, A any] struct {
	ctx      context.Context
	question Q
	answer   A
	err      error
	answered chan struct{}
}

// New makes a group. ask answers the questions of one trip, in their order; its context carries the
// values of the first caller's.
func New[Q, A any](options Options, ask func(ctx context.Context, questions []Q) ([]A, error)) *Batcher[Q, A] {
	return &Batcher[Q, A]{options: options, ask: ask}
}

// Get returns the answer to a question. If ctx ends first the caller goes without it; the question
// may be asked all the same.
func (g *Batcher[Q, A]) Get(ctx context.Context, question Q) (A, error) {
	mine := &caller[Q, A]{ctx: ctx, question: question, answered: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, mine)
	depart := !g.onTheWay
	g.onTheWay = true
	g.mu.Unlock()
	if depart {
		go g.run()
	}
	select {
	case <-mine.answered:
		return mine.answer, mine.err
	case <-ctx.Done():
		var none A
		return none, ctx.Err()
	}
}

// Waiting is how many wait for the next trip.
func (g *Batcher[Q, A]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// run makes one trip after the other until nobody waits. Once a trip is late another traveller goes
// on in its place.
func (g *Batcher[Q, A]) run() {
	for {
		g.mu.Lock()
		boarding := g.next()
		g.onTheWay = len(boarding) > 0
		g.mu.Unlock()
		if len(boarding) == 0 {
			return
		}
		late := time.AfterFunc(g.options.StallAfter, g.run)
		g.runBatch(boarding)
		if !late.Stop() {
			return
		}
	}
}

// next takes those who are next.
func (g *Batcher[Q, A]) next() []*caller[Q, A] {
	if len(g.waiting) <= g.options.MaxSize {
		boarding := g.waiting
		g.waiting = nil
		return boarding
	}
	boarding := g.waiting[:g.options.MaxSize:g.options.MaxSize]
	g.waiting = g.waiting[g.options.MaxSize:]
	return boarding
}

func (g *Batcher[Q, A]) runBatch(callers []*caller[Q, A]) {
	questions := make([]Q, len(callers))
	for i, c := range callers {
		questions[i] = c.question
	}
	answers, err := g.fetch(callers[0].ctx, questions)
	for i, c := range callers {
		if c.err = err; err == nil {
			c.answer = answers[i]
		}
		close(c.answered)
	}
}

// fetch turns a panic into an error: it must fail the requests that share the trip, not the
// process.
func (g *Batcher[Q, A]) fetch(ctx context.Context, questions []Q) (answers []A, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.options.Timeout)
	defer cancel()
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("gather: panic: %v", recovered)
		}
	}()
	answers, err = g.ask(ctx, questions)
	if err == nil && len(answers) != len(questions) {
		err = fmt.Errorf("gather: %d answers to %d questions", len(answers), len(questions))
	}
	return answers, err
}

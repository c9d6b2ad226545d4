// Package gather lets callers share trips: a question is sent at once while nobody is on the way, and those that come up meanwhile go
// together with the next trip. Alone nobody waits for company; in a crowd the cost of a trip is divided by those who share it.
package batch

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Options tune a group.
type Options struct {
	// Seats is how many questions a trip takes at most.
	Seats int
	// Late is how long a trip may take before the next one goes without waiting for it.
	Late time.Duration
	// Timeout bounds a trip. It does not end with the caller who happened to be first: others ride along.
	Timeout time.Duration
}

// Group answers questions of one kind.
type Group[Q, A any] struct {
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

// New makes a group. ask answers the questions of one trip, in their order; its context carries the values of the first caller's.
func New[Q, A any](options Options, ask func(ctx context.Context, questions []Q) ([]A, error)) *Group[Q, A] {
	return &Group[Q, A]{options: options, ask: ask}
}

// Ask returns the answer to a question. If ctx ends first the caller goes without it; the question may be asked all the same.
func (g *Group[Q, A]) Ask(ctx context.Context, question Q) (A, error) {
	mine := &caller[Q, A]{ctx: ctx, question: question, answered: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, mine)
	depart := !g.onTheWay
	g.onTheWay = true
	g.mu.Unlock()
	if depart {
		go g.travel()
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
func (g *Group[Q, A]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// travel makes one trip after the other until nobody waits. Once a trip is late another traveller goes on in its place.
func (g *Group[Q, A]) travel() {
	for {
		g.mu.Lock()
		boarding := g.board()
		g.onTheWay = len(boarding) > 0
		g.mu.Unlock()
		if len(boarding) == 0 {
			return
		}
		late := time.AfterFunc(g.options.Late, g.travel)
		g.trip(boarding)
		if !late.Stop() {
			return
		}
	}
}

// board takes those who are next.
func (g *Group[Q, A]) board() []*caller[Q, A] {
	if len(g.waiting) <= g.options.Seats {
		boarding := g.waiting
		g.waiting = nil
		return boarding
	}
	boarding := g.waiting[:g.options.Seats:g.options.Seats]
	g.waiting = g.waiting[g.options.Seats:]
	return boarding
}

func (g *Group[Q, A]) trip(callers []*caller[Q, A]) {
	questions := make([]Q, len(callers))
	for i, c := range callers {
		questions[i] = c.question
	}
	answers, err := g.askSafely(callers[0].ctx, questions)
	for i, c := range callers {
		if c.err = err; err == nil {
			c.answer = answers[i]
		}
		close(c.answered)
	}
}

// askSafely turns a panic into an error: it must fail the requests that share the trip, not the process.
func (g *Group[Q, A]) askSafely(ctx context.Context, questions []Q) (answers []A, err error) {
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

package chaos

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// load is a number of clients that create and move orders.
type load struct {
	s      *stack
	ending atomic.Bool
	// working counts the clients and the goroutines of late scenarios.
	working sync.WaitGroup
	stop    context.CancelFunc
}

// poisonEvery is how many orders there are for each that is sent invalid data before its moves.
const poisonEvery = 20

// finishTimeout bounds the scenarios under way once no more are started: the longest waits for the
// timer.
const finishTimeout = 3 * time.Minute

// startLoad starts the clients. Each has its own random numbers, so that what it does does not
// depend on the speed of the others.
func (s *stack) startLoad(ctx context.Context, firstStream uint64, scenarios []scenario) *load {
	ctx, stop := context.WithCancel(ctx)
	l := &load{s: s, stop: stop}
	for number := range s.options.Clients {
		rng := stream(s.options.Seed, firstStream+uint64(number))
		l.working.Go(func() {
			for !l.ending.Load() && ctx.Err() == nil {
				l.runOrder(ctx, number, rng, chooseScenario(rng, scenarios))
			}
		})
	}
	return l
}

// addManyMoves adds an order that is reassigned very often.
func (l *load) addManyMoves(ctx context.Context) {
	if count := l.s.options.ManyMoves; count > 0 {
		l.working.Go(func() { l.runOrder(ctx, 0, stream(l.s.options.Seed, manyMovesStream), manyMoves(count)) })
	}
}

// runOrder creates an order and runs its scenario; a late scenario runs in its own goroutine.
func (l *load) runOrder(ctx context.Context, number int, rng *rand.Rand, chosen scenario) {
	c := l.s.newClient(rng)
	key := c.newIdempotencyKey()
	body, cash := newOrder(rng, key)
	tracked := l.s.ledger.open(key, chosen.name, body, cash)
	tracked.apiKey = l.s.operator.key(number)
	if err := c.create(ctx, tracked); err != nil {
		c.close()
		return
	}
	l.s.report.count("lives: " + chosen.name)
	if !chosen.late {
		defer c.close()
		l.runMoves(ctx, c, tracked, chosen)
		return
	}
	c.rng = rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	l.working.Go(func() {
		defer c.close()
		if c.waitForTimer(ctx, tracked) == nil {
			l.runMoves(ctx, c, tracked, chosen)
		}
	})
}

func (l *load) runMoves(ctx context.Context, c *client, tracked *trackedOrder, chosen scenario) {
	poisoned := c.rng.IntN(poisonEvery) == 0
	for _, step := range chosen.steps {
		if !chosen.hurried && c.think(ctx) != nil {
			return
		}
		if poisoned {
			c.sendPoison(ctx, tracked)
		}
		moved, err := c.make(ctx, tracked, step)
		if err != nil {
			return
		}
		if !moved {
			break // the timer cancelled it first
		}
	}
	tracked.finished = true
}

// finish starts no more orders and waits for the scenarios under way.
func (l *load) finish() {
	l.ending.Store(true)
	timeout := time.AfterFunc(l.s.options.scaledTimeout(finishTimeout), l.stop)
	l.working.Wait()
	timeout.Stop()
	l.stop()
}

// randomBytes reads random numbers as bytes.
type randomBytes struct{ rng *rand.Rand }

func (r randomBytes) Read(p []byte) (int, error) {
	var word [8]byte
	for i := 0; i < len(p); i += len(word) {
		binary.LittleEndian.PutUint64(word[:], r.rng.Uint64())
		copy(p[i:], word[:])
	}
	return len(p), nil
}

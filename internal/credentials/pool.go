package credentials

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"despacho/internal/apperror"
)

// ErrBusy means that too many passwords wait to be hashed.
var ErrBusy = (&apperror.Error{
	Kind: apperror.Unavailable, Code: "overloaded", RetryAfter: 2 * time.Second,
	Message: "Hay demasiados ingresos a la vez. Vuelva a intentarlo en unos segundos.",
}).Because(errors.New("too many passwords wait to be hashed"))

// maxWaiting bounds the queue of a Pool, so that whoever gets a place in it is served before the
// request's deadline: at bcrypt's default cost about four seconds.
const maxWaiting = 64

// Pool hashes and compares passwords on half of the CPUs, so that many sign-ins at once do not slow
// other requests. A request waits in order, with its context.
type Pool struct {
	running chan struct{}
	waiting atomic.Int64
}

// NewPool returns a pool for one process.
func NewPool() *Pool { return newPool(max(1, runtime.GOMAXPROCS(0)/2)) }

func newPool(size int) *Pool { return &Pool{running: make(chan struct{}, size)} }

// Hash is HashPassword in the pool.
func (p *Pool) Hash(ctx context.Context, password string) (string, error) {
	return p.hash(ctx, func() (string, error) { return HashPassword(password) })
}

// HashPIN is the function of that name in the pool.
func (p *Pool) HashPIN(ctx context.Context, pin string) (string, error) {
	return p.hash(ctx, func() (string, error) { return HashPIN(pin) })
}

func (p *Pool) hash(ctx context.Context, work func() (string, error)) (hash string, err error) {
	err = p.run(ctx, func() (err error) {
		hash, err = work()
		return err
	})
	return hash, err
}

// Matches is PasswordMatches in the pool.
func (p *Pool) Matches(ctx context.Context, hash, password string) (matches bool, err error) {
	err = p.run(ctx, func() error {
		matches = PasswordMatches(hash, password)
		return nil
	})
	return matches && err == nil, err
}

func (p *Pool) run(ctx context.Context, work func() error) error {
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) > maxWaiting+int64(cap(p.running)) {
		return ErrBusy
	}
	select {
	case p.running <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.running }()
	return work()
}

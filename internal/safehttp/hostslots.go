package safehttp

import (
	"context"
	"sync"
)

// hostSlots bounds the concurrency per host, so that a slow host delays only itself.
type hostSlots struct {
	perHost int
	mu      sync.Mutex
	hosts   map[string]*hostQueue
}

// hostQueue exists while a slot of its host is held or awaited.
type hostQueue struct {
	slots chan struct{}
	users int
}

// newHostSlots gives each host the same number of slots.
func newHostSlots(perHost int) *hostSlots {
	return &hostSlots{perHost: perHost, hosts: map[string]*hostQueue{}}
}

// acquire waits for a free slot of the host until ctx ends. release frees it; call it once.
func (s *hostSlots) acquire(ctx context.Context, host string) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	queue := s.join(host)
	select {
	case queue.slots <- struct{}{}:
		return sync.OnceFunc(func() {
			<-queue.slots
			s.leave(host, queue)
		}), nil
	case <-ctx.Done():
		s.leave(host, queue)
		return nil, ctx.Err()
	}
}

func (s *hostSlots) join(host string) *hostQueue {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue, known := s.hosts[host]
	if !known {
		queue = &hostQueue{slots: make(chan struct{}, s.perHost)}
		s.hosts[host] = queue
	}
	queue.users++
	return queue
}

func (s *hostSlots) leave(host string, queue *hostQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue.users--
	if queue.users == 0 {
		delete(s.hosts, host)
	}
}

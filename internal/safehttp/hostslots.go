package safehttp

import (
	"context"
	"sync"
)

// HostSlots bounds how much happens at once at each host, so that a slow one holds up itself alone.
type HostSlots struct {
	perHost int
	mu      sync.Mutex
	hosts   map[string]*hostQueue
}

// hostQueue lives as long as somebody holds or awaits one of its slots.
type hostQueue struct {
	slots chan struct{}
	users int
}

// NewHostSlots gives each host the same number of slots.
func NewHostSlots(perHost int) *HostSlots {
	return &HostSlots{perHost: perHost, hosts: map[string]*hostQueue{}}
}

// Acquire waits for a free slot of the host as long as ctx allows; release gives it back, once.
func (s *HostSlots) Acquire(ctx context.Context, host string) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	queue := s.enter(host)
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

func (s *HostSlots) enter(host string) *hostQueue {
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

func (s *HostSlots) leave(host string, queue *hostQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue.users--
	if queue.users == 0 {
		delete(s.hosts, host)
	}
}

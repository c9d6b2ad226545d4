package chaos

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"despacho/lab/cluster"
)

// A balancer asks every process this often whether it wants requests, and waits this long for an
// answer.
const (
	probeEvery   = 200 * time.Millisecond
	probeTimeout = time.Second
)

// balancer sends requests to the processes that say they are ready, as a load balancer in front of
// the service does.
type balancer struct {
	addresses []string
	ready     []atomic.Bool
	next      atomic.Uint64
}

func startBalancer(ctx context.Context, probing *sync.WaitGroup, addresses []string) *balancer {
	b := &balancer{addresses: addresses, ready: make([]atomic.Bool, len(addresses))}
	for i, address := range addresses {
		probing.Go(func() {
			tick := time.NewTicker(probeEvery)
			defer tick.Stop()
			for ctx.Err() == nil {
				probe, cancel := context.WithTimeout(ctx, probeTimeout)
				b.ready[i].Store(cluster.Ready(probe, address))
				cancel()
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
		})
	}
	return b
}

// pick is where the next request goes. With nobody ready somebody is asked all the same: the answer
// tells.
func (b *balancer) pick() string {
	first := int(b.next.Add(1) % uint64(len(b.addresses)))
	for i := range b.addresses {
		if n := (first + i) % len(b.addresses); b.ready[n].Load() {
			return b.addresses[n]
		}
	}
	return b.addresses[first]
}

// complete reports whether everybody is ready.
func (b *balancer) allReady() bool {
	for i := range b.ready {
		if !b.ready[i].Load() {
			return false
		}
	}
	return true
}

package chaos

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"despacho/test/lab/cluster"
)

// probeEvery is how often each process's readiness is probed, probeTimeout bounds one probe.
const (
	probeEvery   = 200 * time.Millisecond
	probeTimeout = time.Second
)

// balancer picks among the processes whose readiness probe succeeds, as a load balancer does.
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

// pick is the address of the next request. With no process ready it picks one all the same.
func (b *balancer) pick() string {
	first := int(b.next.Add(1) % uint64(len(b.addresses)))
	for i := range b.addresses {
		if n := (first + i) % len(b.addresses); b.ready[n].Load() {
			return b.addresses[n]
		}
	}
	return b.addresses[first]
}

// allReady reports whether every process is ready.
func (b *balancer) allReady() bool {
	for i := range b.ready {
		if !b.ready[i].Load() {
			return false
		}
	}
	return true
}

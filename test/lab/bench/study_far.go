package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"despacho/test/lab/cluster"
)

const (
	// farDelay is added to everything that is sent to Temporal and that it answers, as if it was in a
	// cloud: a start takes about 25 ms then.
	farDelay = 12 * time.Millisecond
	// farRate is how many orders are created a second, however long each takes.
	farRate = 60
)

var rowFar = fmt.Sprintf("commit of a creation to its workflow running, p99, %d orders a second and a Temporal %s away", farRate,
	farDelay)

func farRows(scale) []string { return []string{rowFar} }

// studyFar measures the time from the commit of a creation to the begin of its first workflow task
// while orders come at a steady rate to a service whose Temporal is far away.
func studyFar(ctx context.Context, s *stack) ([]Row, error) {
	address, err := s.newDatabase(ctx, "bench_far")
	if err != nil {
		return nil, err
	}
	far, err := s.delayed(s.Temporal.Address)
	if err != nil {
		return nil, err
	}
	v := &service{stack: s, databaseURL: address, queue: "far", temporal: far}
	if err := v.startBoth(ctx); err != nil {
		return nil, err
	}
	var tails []float64
	for range s.scale.rounds {
		tail, err := v.startTail(ctx)
		if err != nil {
			return nil, err
		}
		tails = append(tails, tail)
	}
	return []Row{absoluteRow(rowFar, "ms", atMost(500), tails)}, v.stop(ctx)
}

// startTail creates orders for a round and returns the 99th percentile, in milliseconds.
func (v *service) startTail(ctx context.Context) (float64, error) {
	orders := make([]uuid.UUID, int(farRate*v.stack.scale.loadTime.Seconds()))
	clients := connections(v.api.Address, len(orders))
	defer closeAll(clients)
	tick := time.NewTicker(time.Second / farRate)
	defer tick.Stop()
	group, creating := errgroup.WithContext(ctx)
	for i := range orders {
		<-tick.C
		group.Go(func() (err error) {
			orders[i], err = createOrder(creating, clients[i], cluster.Request{Key: v.stack.tenants.mainKeys.Key()})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	delays := make([]float64, len(orders))
	for i, order := range orders {
		running, err := v.stack.firstTask(ctx, workflowOf(order))
		if err != nil {
			return 0, err
		}
		committed, err := v.commitsOf(ctx, order, 1)
		if err != nil {
			return 0, err
		}
		delays[i] = cluster.Milliseconds(running.Sub(committed[1]))
	}
	return cluster.Percentile(delays, 99), nil
}

// delayed is the address of a server that passes everything on to another, farDelay later each way.
func (s *stack) delayed(server string) (address string, err error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(cluster.Loopback, "0"))
	if err != nil {
		return "", err
	}
	s.OnClose(func(context.Context) error { return listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // the stack is closed
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			go passOn(near, far)
			go passOn(far, near)
		}
	}()
	return listener.Addr().String(), nil
}

// passOn writes what is read from one connection to another, farDelay later, and then closes it.
func passOn(from io.Reader, to io.WriteCloser) {
	type piece struct {
		bytes []byte
		due   time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				pieces <- piece{slices.Clone(buffer[:n]), time.Now().Add(farDelay)}
			}
			if err != nil {
				return
			}
		}
	}()
	var err error
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if err == nil { // what is left is read to its end, so that the reader ends
			_, err = to.Write(p.bytes)
		}
	}
	_ = errors.Join(err, to.Close())
}

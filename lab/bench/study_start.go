package bench

import (
	"context"
	"errors"
)

const (
	rowAPIStart    = "api, start to ready"
	rowWorkerStart = "worker, start to ready"
	rowAPIIdle     = "RSS of the api, idle"
	rowWorkerIdle  = "RSS of the worker, idle"
)

func startRows(scale) []string {
	return []string{rowAPIStart, rowWorkerStart, rowAPIIdle, rowWorkerIdle}
}

// studyStart starts both processes again and again, has them serve one order and leaves them alone.
func studyStart(ctx context.Context, s *stack) ([]Row, error) {
	address, err := s.newDatabase(ctx, "bench_start")
	if err != nil {
		return nil, err
	}
	var apiStart, workerStart, apiIdle, workerIdle []float64
	for range s.scale.rounds {
		v, memory, err := s.startAndRest(ctx, address)
		if err != nil {
			return nil, err
		}
		apiStart, workerStart = append(apiStart, v.api.Ready.Seconds()), append(workerStart, v.worker.Ready.Seconds())
		apiIdle, workerIdle = append(apiIdle, memory[0]), append(workerIdle, memory[1])
	}
	return []Row{
		alone(rowAPIStart, "s", atMost(1), apiStart),
		alone(rowWorkerStart, "s", atMost(1), workerStart),
		alone(rowAPIIdle, "MiB", atMost(60), apiIdle),
		alone(rowWorkerIdle, "MiB", atMost(60), workerIdle),
	}, nil
}

// startAndRest gives back the times and the memory of a service that is gone again. It has served
// one order first: a process that has never done anything has not loaded what it works with.
func (s *stack) startAndRest(ctx context.Context, databaseURL string) (v *service, memory []float64, err error) {
	if v, err = s.startService(ctx, databaseURL, "start"); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, v.stop(context.WithoutCancel(ctx))) }()
	people := v.staffOf(theOne)
	defer people.Close()
	order, err := people.received(ctx)
	if err != nil {
		return v, nil, err
	}
	if err := s.waitForQuiet(ctx, workflowOf(order)); err != nil {
		return v, nil, err
	}
	memory, err = rssAtRest(ctx, v.api, v.worker)
	return v, memory, err
}

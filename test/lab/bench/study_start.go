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

// studyStart measures the start-up time and the idle memory of both processes.
func studyStart(ctx context.Context, s *stack) ([]Row, error) {
	address, err := s.newDatabase(ctx, "bench_start")
	if err != nil {
		return nil, err
	}
	var apiStart, workerStart, apiIdle, workerIdle []float64
	for range s.scale.rounds {
		v, memory, err := s.measureStart(ctx, address)
		if err != nil {
			return nil, err
		}
		apiStart, workerStart = append(apiStart, v.api.Ready.Seconds()), append(workerStart, v.worker.Ready.Seconds())
		apiIdle, workerIdle = append(apiIdle, memory[0]), append(workerIdle, memory[1])
	}
	return []Row{
		absoluteRow(rowAPIStart, "s", atMost(1), apiStart),
		absoluteRow(rowWorkerStart, "s", atMost(1), workerStart),
		absoluteRow(rowAPIIdle, "MiB", atMost(60), apiIdle),
		absoluteRow(rowWorkerIdle, "MiB", atMost(60), workerIdle),
	}, nil
}

// measureStart starts and stops a service and returns its start-up times and idle memory. It serves
// one order first, so that lazily loaded data counts.
func (s *stack) measureStart(ctx context.Context, databaseURL string) (v *service, memory []float64, err error) {
	if v, err = s.startService(ctx, databaseURL, "start"); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, v.stop(context.WithoutCancel(ctx))) }()
	caller := v.operatorClient(mainOperator)
	defer caller.Close()
	order, err := caller.received(ctx)
	if err != nil {
		return v, nil, err
	}
	if err := s.waitForIdle(ctx, workflowOf(order)); err != nil {
		return v, nil, err
	}
	memory, err = idleRSS(ctx, v.api, v.worker)
	return v, memory, err
}

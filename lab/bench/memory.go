package bench

import (
	"context"
	"time"

	"despacho/lab/cluster"
)

// calm is how long a process is left alone before its memory is read.
const calm = 2 * time.Second

// rssAtRest reads the memory of processes once they have been left alone for a moment.
func rssAtRest(ctx context.Context, processes ...*cluster.Child) ([]float64, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(calm):
	}
	list := make([]float64, len(processes))
	for i, process := range processes {
		var err error
		if list[i], err = cluster.RSS(process.Pid()); err != nil {
			return nil, err
		}
	}
	return list, nil
}

package bench

import (
	"context"
	"time"

	"despacho/test/lab/cluster"
)

// idleTime is how long a process is idle before its memory is read.
const idleTime = 2 * time.Second

// idleRSS reads the memory of processes after idleTime.
func idleRSS(ctx context.Context, processes ...*cluster.Child) ([]float64, error) {
	if err := cluster.Sleep(ctx, idleTime); err != nil {
		return nil, err
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

package dev

import (
	"context"
	"errors"
	"time"
)

// readyPoll is how often a server that starts is asked whether it is ready.
const readyPoll = 20 * time.Millisecond

// poll repeats try until it succeeds, the child ends or ctx does.
func (p *Process) poll(ctx context.Context, try func(context.Context) error) error {
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			return p.Err()
		case <-ctx.Done():
			return p.withLastLines(errors.Join(context.Cause(ctx), err).Error())
		case <-ticker.C:
		}
	}
}

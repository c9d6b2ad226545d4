package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	// testTimeout bounds one package's tests, slowed down by the race detector on a small machine.
	testTimeout = "20m"
	// heartbeat bounds the silence while packages compile.
	heartbeat = 30 * time.Second
)

// goTest runs the tests of the suite's packages, with the race detector where there is a C compiler.
func goTest(ctx context.Context, s suite, env *environment, out io.Writer) counts {
	command := []string{"go", "test", "-json", "-count=1", "-timeout=" + testTimeout}
	variables := env.variables
	if env.missing[compiler] == "" {
		command = append(command, "-race")
		variables = append(slices.Clone(variables), "CGO_ENABLED=1")
	}
	began := time.Now()
	shared := &lockedWriter{writer: out}
	done := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(shared, "...   still running, %s\n", rounded(time.Since(began)))
			case <-done:
				return
			}
		}
	})
	report := newTestReport(shared)
	err := execute(ctx, append(command, s.packages...), variables, report)
	close(done)
	beating.Wait()
	return report.finish(err)
}

// lockedWriter lets the report and the heartbeat take turns.
type lockedWriter struct {
	mu     sync.Mutex
	writer io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writer.Write(p)
}

package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"despacho/test/lab/cluster"
)

// profiled runs a load and, with --pprof, takes CPU profiles of the service's two processes:
// <name>-api.pprof and <name>-worker.pprof. An existing profile is kept, so that only the first
// round is profiled.
func (v *service) profiled(ctx context.Context, name string, duration time.Duration, run func() (float64, error)) (float64, error) {
	directory := v.stack.options.PprofDir
	if directory == "" {
		return run()
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return 0, err
	}
	var captures errgroup.Group
	for process, c := range map[string]*cluster.Child{"api": v.api, "worker": v.worker} {
		if c == nil {
			continue
		}
		file := filepath.Join(directory, fmt.Sprintf("%s-%s-%s.pprof", v.stack.profile, name, process))
		if _, err := os.Stat(file); err == nil {
			continue
		}
		captures.Go(func() error { return capture(ctx, c.Admin, duration, file) })
	}
	value, err := run()
	if captureErr := captures.Wait(); err == nil {
		err = captureErr
	}
	return value, err
}

func capture(ctx context.Context, admin string, duration time.Duration, file string) error {
	seconds := max(1, int(duration.Seconds()))
	address := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, seconds)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, response.Status)
	}
	return os.WriteFile(file, content, 0o644)
}

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"despacho/internal/devstack"
)

const loopback = "127.0.0.1"

// service is an api and a worker, each a process of its own as in production, on a database and a task queue of their own.
type service struct {
	stack       *stack
	databaseURL string
	queue       string
	api, worker *child
}

// child is a running despacho process.
type child struct {
	*devstack.Process
	// address is where an api answers, admin where /metrics and the profiles are.
	address, admin string
	// ready is how long it took from its start until it could be used.
	ready time.Duration
}

// readyTimeout bounds how long a process may take to become ready; readyStep is how often it is asked.
const (
	readyTimeout = time.Minute
	readyStep    = 2 * time.Millisecond
)

func (s *stack) startService(ctx context.Context, databaseURL, queue string) (*service, error) {
	v := &service{stack: s, databaseURL: databaseURL, queue: queue}
	var err error
	if v.worker, err = v.startWorker(ctx); err != nil {
		return nil, err
	}
	s.later(v.worker.Stop)
	if v.api, err = v.startAPI(ctx); err != nil {
		return nil, err
	}
	s.later(v.api.Stop)
	return v, nil
}

// stop ends the processes before the stack does.
func (v *service) stop(ctx context.Context) error {
	err := v.api.Stop(ctx)
	if v.worker != nil {
		err = errors.Join(err, v.worker.Stop(ctx))
	}
	return err
}

func (v *service) startAPI(ctx context.Context) (*child, error) {
	api, began, err := v.start("api", nil)
	if err != nil {
		return nil, err
	}
	err = api.until(ctx, func() error {
		probe := newConnection(api.address)
		defer probe.close()
		_, err := probe.expect(ctx, http.StatusOK, request{method: http.MethodGet, path: "/readyz"})
		return err
	})
	if err != nil {
		return nil, errors.Join(err, api.Stop(context.WithoutCancel(ctx)))
	}
	api.ready = time.Since(began)
	return api, nil
}

func (v *service) startWorker(ctx context.Context) (*child, error) {
	started := &lookout{text: []byte("worker started"), seen: make(chan struct{})}
	worker, began, err := v.start("worker", started)
	if err != nil {
		return nil, err
	}
	select {
	case <-started.seen:
		worker.ready = time.Since(began)
		return worker, nil
	case <-worker.Done():
		return nil, worker.Err()
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(readyTimeout):
		err = fmt.Errorf("the worker was not ready within %s", readyTimeout)
	}
	return nil, errors.Join(err, worker.Stop(context.WithoutCancel(ctx)))
}

func (v *service) start(command string, log *lookout) (*child, time.Time, error) {
	c := &child{}
	for _, address := range []*string{&c.address, &c.admin} {
		port, err := devstack.FreePort(loopback)
		if err != nil {
			return nil, time.Time{}, err
		}
		*address = net.JoinHostPort(loopback, strconv.Itoa(port))
	}
	s := v.stack
	description := devstack.Command{
		Name: "despacho " + command, Path: s.options.Binary, Args: []string{command}, Dir: s.dir,
		Env: s.environment(map[string]string{
			"DATABASE_URL": v.databaseURL, "TEMPORAL_ADDRESS": s.temporalAddress, "TEMPORAL_TASK_QUEUE": v.queue,
			"HTTP_ADDR": c.address, "ADMIN_ADDR": c.admin, "FILES_DIR": filepath.Join(s.dir, "files"),
			"SECRET_KEY":         "a throwaway key of the benchmark's own",
			"WEBHOOK_ALLOW_NETS": loopback + "/32", "WEBHOOK_CA_FILE": s.certificates.CAFile,
			// Limits by client address stay on; the harness pretends to be many clients.
			"TRUSTED_PROXIES": loopback,
			// As in docker-compose.yml.
			"LOG_FORMAT": "json",
		}),
	}
	if log != nil {
		description.Log = log
	}
	began := time.Now()
	var err error
	c.Process, err = devstack.Start(description)
	return c, began, err
}

// environment is what a child gets: nothing of ours that could change how it works.
func (s *stack) environment(variables map[string]string) []string {
	list := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}
	for name, value := range variables {
		list = append(list, name+"="+value)
	}
	return list
}

// until repeats a check until it succeeds, the child ends or time is up.
func (c *child) until(ctx context.Context, check func() error) error {
	end := time.Now().Add(readyTimeout)
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-c.Done():
			return c.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(readyStep):
		}
		if time.Now().After(end) {
			return fmt.Errorf("not ready within %s: %w", readyTimeout, err)
		}
	}
}

// lookout reads a log until a text has come by.
type lookout struct {
	text []byte
	seen chan struct{}

	mu   sync.Mutex
	tail []byte
	done bool
}

func (l *lookout) Write(output []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return len(output), nil
	}
	l.tail = append(l.tail, output...)
	if bytes.Contains(l.tail, l.text) {
		l.done, l.tail = true, nil
		close(l.seen)
	} else if excess := len(l.tail) - len(l.text); excess > 0 {
		l.tail = append([]byte(nil), l.tail[excess:]...)
	}
	return len(output), nil
}

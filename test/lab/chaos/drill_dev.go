package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

// devInstallation is `despacho dev`: SQLite, Temporal's development server and its file, all in one
// directory.
type devInstallation struct {
	*stack
	directory string
	copy      string
	variables map[string]string
	running   processGroup
}

func startDevInstallation(ctx context.Context, base *stack) (*devInstallation, error) {
	d, err := newDevInstallation(base, filepath.Join(base.Dir, "dev"))
	if err != nil {
		return nil, err
	}
	d.copy = filepath.Join(base.Dir, "copy")
	// It makes its directory and its database when it starts.
	if err := d.serve(ctx, nil); err != nil {
		return nil, err
	}
	base.operator, err = seedOperator(ctx, d.databaseURL)
	return d, errors.Join(err, d.stop(ctx))
}

// newDevInstallation chooses free ports. Temporal's Web UI is a thousand above it.
func newDevInstallation(s *stack, directory string) (*devInstallation, error) {
	d := &devInstallation{stack: s, directory: directory}
	s.databaseURL = "sqlite:" + filepath.Join(directory, dev.DatabaseFile)
	inbox, err := cluster.FreeAddress()
	if err != nil {
		return nil, err
	}
	temporal, err := portWithUI()
	if err != nil {
		return nil, err
	}
	d.variables = map[string]string{
		"DEV_DIR": directory, "DEV_INBOX_ADDR": inbox, "DEV_TEMPORAL_PORT": strconv.Itoa(temporal),
		"AUTO_CANCEL_AFTER": s.options.AutoCancelAfter.String(), "WEBHOOK_CA_FILE": s.Certificates.CAFile,
		"MAX_CONNECTIONS_PER_ADDRESS": "0", "PANEL_USER_LIMIT": "1000000", "PANEL_OPERATOR_LIMIT": "1000000", "LOG_FORMAT": "json",
	}
	return d, nil
}

func portWithUI() (int, error) {
	for {
		port, err := dev.FreePort(cluster.Loopback)
		if err != nil {
			return 0, err
		}
		listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", cluster.Loopback, port+1000))
		if err == nil {
			return port, listener.Close()
		}
	}
}

func (d *devInstallation) clients() *stack { return d.stack }

func (d *devInstallation) program(variables map[string]string) *cluster.Program {
	all := maps.Clone(d.variables)
	maps.Copy(all, variables)
	return &cluster.Program{Binary: d.options.Binary, Dir: filepath.Dir(d.directory), Variables: all}
}

func (d *devInstallation) serve(ctx context.Context, variables map[string]string) error {
	child, err := d.running.add(ctx, d.stack, d.program(variables), filepath.Base(d.directory), "dev")
	if err != nil {
		return err
	}
	if d.Client, err = cluster.DialTemporal(net.JoinHostPort(cluster.Loopback, d.variables["DEV_TEMPORAL_PORT"])); err != nil {
		return err
	}
	return d.running.probe(ctx, d.stack, child.Address)
}

func (d *devInstallation) stop(ctx context.Context) error {
	d.Client.Close()
	return d.running.end(ctx, false)
}

func (d *devInstallation) backup(ctx context.Context) error {
	return d.program(nil).Run(ctx, d.variables, "dev", "backup", d.copy)
}

func (d *devInstallation) chooseTarget(context.Context) (time.Time, error) { return time.Time{}, nil }

func (d *devInstallation) loseAll(ctx context.Context) error {
	d.Client.Close()
	if err := d.running.end(ctx, true); err != nil {
		return err
	}
	return os.RemoveAll(d.directory)
}

func (d *devInstallation) restore(context.Context) (installation, error) {
	return newDevInstallation(d.forInstallation(), d.copy)
}

func (d *devInstallation) close(ctx context.Context) error { return d.running.end(ctx, false) }

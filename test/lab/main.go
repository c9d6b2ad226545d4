// Command lab runs benchmarks, chaos tests and restore drills of the service. It is not shipped.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the process at once.
	context.AfterFunc(ctx, stop)
	root := &cobra.Command{
		Use: "lab", Short: "Benchmarks, chaos tests and restore drills of Despacho",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(benchCommand(), chaosCommand(), drillCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

// programs are the paths of the lab's binary and of the despacho binary in the same directory.
type programs struct{ lab, despacho, dir string }

func findPrograms() (programs, error) {
	lab, err := os.Executable()
	if err != nil {
		return programs{}, err
	}
	dir := filepath.Dir(lab)
	return programs{lab: lab, despacho: filepath.Join(dir, "despacho"), dir: dir}, nil
}

// interrupted replaces the error of a run that was interrupted.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

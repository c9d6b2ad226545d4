// Command despacho is the service: the API, the worker, and the administration commands.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // operators' time zones must also load in an image without tzdata

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	defer stop()
	context.AfterFunc(ctx, func() {
		// A hang-up may come twice, from the terminal and from its shell, or right after SIGTERM.
		signal.Ignore(syscall.SIGHUP)
		// A second Ctrl-C ends the process at once.
		stop()
	})
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		// All errors on one line.
		fmt.Fprintln(os.Stderr, "despacho:", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

// stopSignals are those on which a process drains. SIGHUP is what it gets when its terminal or its
// session ends; nohup has it ignored, and it stays so.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "despacho",
		Short:         "Delivery orders between stores and the companies that deliver",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		apiCommand(), workerCommand(), devCommand(), migrateCommand(), operatorCommand(), secretsCommand(), reconcileCommand(),
		zonesCommand(),
		listenCommand(), resolveCommand(), triggerCommand(), healthCommand(), versionCommand(),
	)
	return root
}

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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		// All errors on one line.
		fmt.Fprintln(os.Stderr, "despacho:", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "despacho",
		Short:         "Delivery orders between stores and the companies that deliver",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		apiCommand(), workerCommand(), devCommand(), migrateCommand(), operatorCommand(), deploymentCommand(), secretsCommand(), reconcileCommand(), photosCommand(),
		listenCommand(), resolveCommand(), triggerCommand(), healthCommand(), versionCommand(),
	)
	return root
}

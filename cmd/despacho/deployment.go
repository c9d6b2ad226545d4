package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"despacho/internal/config"
	"despacho/worker"
)

func deploymentCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "deployment",
		Short: "Show and choose the release whose workers carry the orders",
		Args:  cobra.NoArgs,
		RunE:  showHelp,
	}
	command.PersistentFlags().Bool(jsonFlag, false, "print JSON instead of a table")
	command.AddCommand(deploymentStatusCommand(), deploymentCurrentCommand(), deploymentRampCommand(), deploymentDeleteCommand())
	return command
}

// withDeployment runs a command on the deployment of TEMPORAL_TASK_QUEUE.
func withDeployment(cmd *cobra.Command, run func(ctx context.Context, d *worker.Deployment) error) error {
	cfg, err := config.Load()
	if err != nil {
		return err
	}
	options, err := config.TemporalOptions()
	if err != nil {
		return err
	}
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)) // a command prints its result or its error
	temporal, err := client.DialContext(cmd.Context(), options)
	if err != nil {
		return fmt.Errorf("TEMPORAL_ADDRESS: Temporal does not answer: %w", err)
	}
	defer temporal.Close()
	return run(cmd.Context(), worker.NewDeployment(temporal, cfg.TaskQueue))
}

func deploymentStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "List the versions with their workers and open workflows", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withDeployment(cmd, func(ctx context.Context, d *worker.Deployment) error { return printDeployment(ctx, cmd, d) })
		},
	}
}

// errNoWorkers is the error of a version that no running worker has.
type errNoWorkers struct{ version string }

func (e errNoWorkers) Error() string {
	return fmt.Sprintf("no worker of version %s runs: start one, or see `despacho deployment status`", e.version)
}

// changeRouting changes the routing once a worker of the version runs, within the given time. It
// starts again if somebody else has changed the routing in between. Run again, it changes nothing.
func changeRouting(ctx context.Context, d *worker.Deployment, buildID string, waitTimeout time.Duration, change func(context.Context, *worker.Routing) error) error {
	giveUp := time.After(waitTimeout)
	for {
		err := changeOnce(ctx, d, buildID, change)
		var conflict *serviceerror.FailedPrecondition
		var missing errNoWorkers
		if err == nil || !errors.As(err, &conflict) && !errors.As(err, &missing) && !errors.Is(err, worker.ErrNoDeployment) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-giveUp:
			return err
		case <-time.After(routingRetry):
		}
	}
}

// routingRetry is the time between attempts to change the routing.
const routingRetry = 250 * time.Millisecond

func changeOnce(ctx context.Context, d *worker.Deployment, buildID string, change func(context.Context, *worker.Routing) error) error {
	workers, err := d.Workers(ctx)
	if err != nil {
		return err
	}
	if workers[buildID] == 0 {
		return errNoWorkers{worker.VersionName(buildID)}
	}
	routing, err := d.Routing(ctx)
	if err != nil {
		return err
	}
	if buildID != worker.Unversioned && !routing.Knows(buildID) {
		return errNoWorkers{worker.VersionName(buildID)}
	}
	return change(ctx, routing)
}

// versionArgument is the version that an argument names, or this binary's own.
func versionArgument(args []string, position int) (string, error) {
	if len(args) > position {
		return worker.ParseVersion(args[position]), nil
	}
	if buildID() == worker.Unversioned {
		return "", fmt.Errorf("this is %s, which has no version in Temporal: name the version", version())
	}
	return buildID(), nil
}

const waitFlag = "wait"

func addWaitFlag(command *cobra.Command, waitTimeout *time.Duration) {
	command.Flags().DurationVar(waitTimeout, waitFlag, time.Minute, "how long to wait for a worker of the version")
}

func deploymentCurrentCommand() *cobra.Command {
	var waitTimeout time.Duration
	command := &cobra.Command{
		Use:   "current [version]",
		Short: "Give all tasks to the workers of a version, of this release if none is named; ends a ramp",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDeployment(cmd, func(ctx context.Context, d *worker.Deployment) error {
				target, err := versionArgument(args, 0)
				if err != nil {
					return err
				}
				err = changeRouting(ctx, d, target, waitTimeout, func(ctx context.Context, routing *worker.Routing) error {
					return d.SetCurrent(ctx, routing, target)
				})
				if err != nil {
					return err
				}
				return printDeployment(ctx, cmd, d)
			})
		},
	}
	addWaitFlag(command, &waitTimeout)
	return command
}

func deploymentRampCommand() *cobra.Command {
	var waitTimeout time.Duration
	command := &cobra.Command{
		Use:     "ramp <percentage> [version]",
		Short:   "Give a percentage of the orders to the workers of a version, of this release if none is named; 0 ends the ramp",
		Example: "  despacho deployment ramp 10\n  despacho deployment ramp 0",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			percentage, err := strconv.ParseFloat(args[0], 32)
			if err != nil || !(percentage >= 0 && percentage <= 100) { // NaN is neither
				return fmt.Errorf("the percentage must be a number from 0 to 100, not %q", args[0])
			}
			return withDeployment(cmd, func(ctx context.Context, d *worker.Deployment) error {
				if percentage == 0 {
					routing, err := d.Routing(ctx)
					if err != nil {
						return err
					}
					if err := d.SetRamp(ctx, routing, worker.Unversioned, 0); err != nil {
						return err
					}
					return printDeployment(ctx, cmd, d)
				}
				target, err := versionArgument(args, 1)
				if err != nil {
					return err
				}
				err = changeRouting(ctx, d, target, waitTimeout, func(ctx context.Context, routing *worker.Routing) error {
					if routing.Current == target {
						return fmt.Errorf("%s is the current version and has all tasks", worker.VersionName(target))
					}
					return d.SetRamp(ctx, routing, target, float32(percentage))
				})
				if err != nil {
					return err
				}
				return printDeployment(ctx, cmd, d)
			})
		},
	}
	addWaitFlag(command, &waitTimeout)
	return command
}

func deploymentDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete <version>",
		Short: "Forget a version that has no workers and no tasks any more",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDeployment(cmd, func(ctx context.Context, d *worker.Deployment) error {
				routing, err := d.Routing(ctx)
				if err != nil {
					return err
				}
				if !routing.Knows(args[0]) {
					return fmt.Errorf("there is no version %s", args[0])
				}
				if err := d.Delete(ctx, args[0]); err != nil {
					return err
				}
				return printDeployment(ctx, cmd, d)
			})
		},
	}
}

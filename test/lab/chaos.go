package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"despacho/test/lab/chaos"
)

func chaosCommand() *cobra.Command {
	var options chaos.Options
	command := &cobra.Command{
		Use:   "chaos",
		Short: "Inject faults into the processes and servers while clients use the service, and check its promises",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := findPrograms()
			if err != nil {
				return err
			}
			options.Out, options.Binary, options.BinDir = cmd.OutOrStdout(), found.despacho, found.dir
			if options.JSON == "" {
				options.JSON = filepath.Join(options.BinDir, "chaos.json")
			}
			options.LogDir = filepath.Join(options.BinDir, "chaos-logs")
			return interrupted(cmd.Context(), chaos.Run(cmd.Context(), options))
		},
	}
	flags := command.Flags()
	flags.Uint64Var(&options.Seed, "seed", 1, "what decides the faults and the clients' requests")
	flags.DurationVar(&options.Duration, "duration", 5*time.Minute, "how long faults go on")
	flags.StringVar(&options.Only, "only", "", "run one part: faults, rolling, overload, slow or soak")
	flags.IntVar(&options.Clients, "clients", 12, "how many clients work at once")
	flags.IntVar(&options.ManyMoves, "many-moves", 2200,
		"how often one order is reassigned; Temporal takes 2,000 updates for a run")
	flags.DurationVar(&options.Pause, "pause", 10*time.Second, "how long a stopped process stands still")
	flags.DurationVar(&options.AutoCancelAfter, "auto-cancel-after", 30*time.Second, "how long an order may stay registered")
	flags.DurationVar(&options.Overload, "overload", time.Minute, "how long ten times too many clients come; 0 skips it")
	flags.DurationVar(&options.Soak, "soak", 2*time.Minute, "how long load and abandoned sockets go on in the soak; 0 skips it")
	flags.IntVar(&options.SlowClients, "slow-clients", 1000,
		"sockets of each slow kind that are opened to each api; 0 skips them")
	flags.IntVar(&options.MostClients, "most-clients", 4000, "how many clients come at the most in the overload")
	flags.StringVar(&options.JSON, "json", "", "file for the counters and invariants (default chaos.json beside the program)")
	return command
}

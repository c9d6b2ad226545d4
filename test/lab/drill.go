package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"despacho/test/lab/chaos"
)

func drillCommand() *cobra.Command {
	var options chaos.Options
	command := &cobra.Command{
		Use:   "drill",
		Short: "Copy and restore the service in every documented way, each under load, and check it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := findPrograms()
			if err != nil {
				return err
			}
			options.Out, options.Binary, options.BinDir = cmd.OutOrStdout(), found.despacho, found.dir
			options.JSON, options.LogDir = filepath.Join(options.BinDir, "drill.json"),
				filepath.Join(options.BinDir, "drill-logs")
			return interrupted(cmd.Context(), chaos.Drill(cmd.Context(), options))
		},
	}
	flags := command.Flags()
	flags.Uint64Var(&options.Seed, "seed", 1, "what decides the clients' requests")
	flags.DurationVar(&options.Duration, "duration", 20*time.Second, "how long clients work before the copy; half of it after")
	flags.IntVar(&options.Clients, "clients", 8, "how many clients work at once")
	flags.StringVar(&options.Only, "only", "", "run one drill: base-backup or point-in-time")
	return command
}

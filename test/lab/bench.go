package main

import (
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"despacho/test/lab/bench"
)

func benchCommand() *cobra.Command {
	var options bench.Options
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure the service on servers of its own, each figure against its baseline, and print one table in Markdown",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := findPrograms()
			if err != nil {
				return err
			}
			options.Out, options.Binary, options.Lab, options.BinDir = cmd.OutOrStdout(), found.despacho, found.lab, found.dir
			if options.JSON == "" {
				options.JSON = filepath.Join(options.BinDir, "bench.json")
			}
			return interrupted(cmd.Context(), bench.Run(cmd.Context(), options))
		},
	}
	flags := command.Flags()
	flags.Func("only", "measure only the rows whose name matches this `regexp`", func(text string) (err error) {
		options.Only, err = regexp.Compile(text)
		return err
	})
	flags.IntVar(&options.Rounds, "rounds", 0, "how often each thing is measured (default 7, quick 3)")
	flags.BoolVar(&options.Quick, "quick", false, "measure little, to see that everything works; the figures are worth nothing")
	flags.StringVar(&options.JSON, "json", "", "file for the rows (default bench.json beside the program)")
	command.AddCommand(benchBaselineCommand())
	return command
}

// benchBaselineCommand is the second process of a comparison between processes.
func benchBaselineCommand() *cobra.Command {
	return &cobra.Command{
		Use: bench.BaselineCommand + " <database> <address>", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return bench.ServeBaseline(cmd.Context(), args[0], args[1])
		},
	}
}

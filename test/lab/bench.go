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
		Short: "Measure the service on servers of its own, each figure against its baseline, and print one table",
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
	flags.Func("only", "measure only the rows whose name matches this `regexp`", compileInto(&options.Only))
	flags.Func("skip", "do not measure the rows whose name matches this `regexp`", compileInto(&options.Skip))
	flags.IntVar(&options.Rounds, "rounds", 0, "how often each thing is measured (default 7, quick 3)")
	flags.BoolVar(&options.Quick, "quick", false, "measure little, to see that everything works; the figures are worth nothing")
	flags.BoolVar(&options.Durable, "durable", false, "have PostgreSQL wait for the disk")
	flags.StringVar(&options.JSON, "json", "", "file for the rows (default bench.json beside the program)")
	flags.StringVar(&options.Document, "write", "", "document whose results are replaced, such as docs/benchmarks.md")
	flags.StringVar(&options.Reference, "reference", "",
		"program of temporalio/reference-app-orders-go (go build ./cmd/oms in a clone of it) to compare whole lives with")
	command.AddCommand(benchBaselineCommand())
	return command
}

// compileInto sets a regular expression from a flag.
func compileInto(into **regexp.Regexp) func(string) error {
	return func(text string) (err error) {
		*into, err = regexp.Compile(text)
		return err
	}
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

package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"despacho/internal/maplink"
	"despacho/internal/safehttp"
)

func resolveCommand() *cobra.Command {
	var offline bool
	command := &cobra.Command{
		Use:   "resolve <map link>",
		Short: "Print the point of a map link as one line of JSON",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			point, err := maplink.Parse(args[0])
			if errors.Is(err, maplink.ErrShortLink) && !offline {
				resolver := maplink.NewResolver(safehttp.NewClient(safehttp.Options{}), safehttp.DefaultTimeout)
				point, err = resolver.Resolve(cmd.Context(), args[0], maplink.Bounds{})
			}
			if err != nil {
				return err
			}
			line, err := json.Marshal(point)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(line))
			return err
		},
	}
	command.Flags().BoolVar(&offline, "offline", false, "never use the network: a short link has no point then")
	return command
}

package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"despacho/internal/catalog"
	"despacho/internal/db"
)

func zonesCommand() *cobra.Command {
	command := &cobra.Command{Use: "zones", Short: "Load and list the zones of districts", Args: cobra.NoArgs, RunE: showHelp}
	command.AddCommand(
		&cobra.Command{
			Use:   "load FILE.csv",
			Short: "Add the zones of a file, or of standard input as -, to the catalog, or change them",
			Long: `Add the zones of a file to the catalog, or change them: all of its rows or, if one is wrong, none.

The file has the columns ubigeo (of the district), zone, alias, lat and lng; the last three may be blank
or left out. A zone is known by its district and its name, so that a file can be loaded again. Running processes see the zones within a minute.`,
			Example: `  despacho zones load zonas.csv`,
			Args:    cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				content, err := readTableFile(args[0], cmd.InOrStdin())
				if err != nil {
					return err
				}
				zones, err := readZones(content)
				if err != nil {
					return err
				}
				return withDatabase(cmd.Context(), func(ctx context.Context, database *db.DB) error {
					if err := database.LoadCatalog(ctx, nil, zones); err != nil {
						return err
					}
					_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d zones loaded\n", len(zones))
					return err
				})
			},
		},
		&cobra.Command{
			Use: "list", Short: "List the zones of all districts", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return withDatabase(cmd.Context(), func(ctx context.Context, database *db.DB) error {
					zones, err := database.Zones(ctx)
					if err != nil {
						return err
					}
					return printZones(cmd.OutOrStdout(), zones)
				})
			},
		},
	)
	return command
}

// printZones lists the zones in the order of a catalog's districts.
func printZones(out io.Writer, zones []catalog.Location) error {
	countries, places := catalog.Embedded()
	index := catalog.NewIndex(countries, append(places, zones...))
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "UBIGEO\tDISTRICT\tZONE\tALIAS\tLAT\tLNG\tID")
	for _, district := range places {
		if district.Type != catalog.TypeDistrict {
			continue
		}
		for _, zone := range index.Children(district.ID) {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", district.Ubigeo, index.PathName(district.ID), zone.Name,
				zone.Alias,
				degrees(zone.Lat), degrees(zone.Lng), zone.ID)
		}
	}
	return table.Flush()
}

func degrees(value *float64) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf("%.6f", *value)
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
)

// loadZones runs the command on a file with this content.
func loadZones(t *testing.T, content string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zones.csv")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return despacho(t, "", "zones", "load", file)
}

func TestZones(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		_, err := loadCatalog(t.Context(), database)
		require.NoError(t, err)
		running := db.NewCatalogCache(database)
		_, err = running.Index(t.Context())
		require.NoError(t, err)

		const file = "ubigeo,zone,alias,lat,lng\n150122,Santa Cruz,,-12.11,-77.04\n80101,San Blas,Barrio de artesanos,,\n"
		for range 2 { // a reload changes nothing
			out, err := loadZones(t, file)
			require.NoError(t, err)
			require.Equal(t, "2 zones loaded\n", out)
		}
		listed, err := despacho(t, "", "zones", "list")
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(listed), "\n")
		require.Len(t, lines, 3)
		id := catalog.ZoneID("PE", "080101", "San Blas")
		require.Equal(t, []string{"080101", "Cusco, Cusco", "San Blas", "Barrio de artesanos", id.String()}, columnsOf(lines[1]))
		require.Equal(t, []string{"150122", "Miraflores, Lima", "Santa Cruz", "-12.110000", "-77.040000", catalog.ZoneID("PE", "150122", "Santa Cruz").String()}, columnsOf(lines[2]))

		places, known, err := running.Destination(t.Context(), id)
		require.NoError(t, err)
		require.True(t, known, "a process that was running finds it")
		require.Equal(t, "Cusco", places[1].Name)
		index, err := running.Index(t.Context())
		require.NoError(t, err)
		found := index.Search("PE", "artesanos", 5)
		require.Len(t, found, 1, "by its alias")
		require.Equal(t, id, found[0].ID)

		_, err = despacho(t, "zone;ubigeo;lat;lng\nSAN BLÁS;080101;-13,515;-71,974\n", "zones", "load", "-")
		require.NoError(t, err)
		zones, err := database.Zones(t.Context())
		require.NoError(t, err)
		require.Len(t, zones, 2, "another spelling is the same zone")
		_, err = despacho(t, "", "migrate", "up")
		require.NoError(t, err)
		zones, err = database.Zones(t.Context())
		require.NoError(t, err)
		require.Len(t, zones, 2, "the embedded catalog is loaded beside them")
	})
}

// columnsOf are the cells of a printed line that are not blank.
func columnsOf(line string) (cells []string) {
	for cell := range strings.SplitSeq(line, "  ") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	return cells
}

// A file with a wrong row changes nothing, and the error says where.
func TestZones_refused(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		_, err := loadCatalog(t.Context(), database)
		require.NoError(t, err)
		for content, want := range map[string]string{
			"":                                                  "nothing in the file",
			"distrito,zona\n150122,Aurora\n":                    "line 1: the columns have to be ubigeo, zone, alias, lat, lng",
			"zone,lat,lng\nAurora,,\n":                          "line 1: the columns have to be",
			"ubigeo,zone\n150199,Aurora\n":                      "line 2, column ubigeo: no district has the code \"150199\"",
			"ubigeo,zone\n,Aurora\n":                            "line 2, column ubigeo",
			"ubigeo,zone\n1501,Aurora\n":                        "line 2, column ubigeo",
			"ubigeo,zone\n150122,Aurora\n150122\n":              "line 3, column zone: is missing",
			"ubigeo,zone\n150122,Aurora\n150122,AURÓRA\n":       "line 3, column zone: \"AURÓRA\" is the zone of line 2",
			"ubigeo,zone,lat,lng\n150122,Aurora,x,-77\n":        "line 2, column lat: \"x\" is not a number of degrees",
			"ubigeo,zone,lat,lng\n150122,Aurora,-12.1,\n":       "line 2, column lat: lat and lng go together",
			"ubigeo,zone,lat,lng\n150122,Aurora,-77.03,-12.1\n": "swapped",
			"ubigeo,zone\n150122,Santa Cruz\n150122," + strings.Repeat("a", 201): "line 3, column zone: has more than 200 characters",
			"ubigeo,zone\n150122,a,b\n": "line 2",
			"ubigeo,zone\n" + strings.Repeat("9,Aurora\n", maxZoneProblems+5) + "\n": "and 5 more",
		} {
			_, err := loadZones(t, content)
			require.ErrorContains(t, err, want, content)
		}
		zones, err := database.Zones(t.Context())
		require.NoError(t, err)
		require.Empty(t, zones)
	})
}

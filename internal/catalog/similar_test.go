package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
)

func TestSimilar(t *testing.T) {
	t.Parallel()
	index := catalog.NewIndex(catalog.Embedded())
	for typed, want := range map[string]string{
		"miraflores lima": "Miraflores, Lima (150122)", "Luriganho": "Lurigancho, Lima (150118)", "San Isidor": "San Isidro, Lima (150131)", "Barrancos": "Barranco, Lima (150104)",
	} {
		var names []string
		for _, place := range index.Similar("PE", typed, 5, catalog.TypeDistrict) {
			names = append(names, index.FullName(place))
		}
		require.Contains(t, names, want, typed)
	}
	for _, typed := range []string{"", "abc", "Xyzzyx", "Reykjavik"} {
		require.Empty(t, index.Similar("PE", typed, 5), typed)
	}
}

package catalog

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// What people write for a place, in a form or a file, and what it means.
func TestResolve(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	destinations := []LocationType{TypeDistrict, TypeZone}
	type place = WrittenPlace
	for name, tc := range map[string]struct {
		written place
		types   []LocationType
		// want is the FullName of the only place that is meant; empty where that is not clear.
		want string
		// exact is how many places have exactly the name, where none is the only one.
		exact int
	}{
		"a ubigeo":                      {written: ParsePlace("150122"), want: "Miraflores, Lima (150122)"},
		"without its leading zero":      {written: ParsePlace("10101"), want: "Chachapoyas, Chachapoyas (010101)"},
		"likewise, in a cell":           {written: place{Ubigeo: "10101"}, want: "Chachapoyas, Chachapoyas (010101)"},
		"an unknown ubigeo":             {written: ParsePlace("999999")},
		"a ubigeo with letters":         {written: place{Ubigeo: "Miraflores"}},
		"a ubigeo that is too long":     {written: place{Ubigeo: "0150122"}},
		"an id":                         {written: ParsePlace(miraflores.String()), want: "Miraflores, Lima (150122)"},
		"the id of the country":         {written: place{ID: peru.String()}, want: "Perú"},
		"an unknown id":                 {written: ParsePlace(uuid.Nil.String())},
		"a name as an id":               {written: place{ID: "Miraflores"}},
		"the id of a city, to go there": {written: ParsePlace(lima.String()), types: destinations},
		"a full name":                   {written: ParsePlace(" Miraflores, Lima (150122) "), want: "Miraflores, Lima (150122)"},
		"with an unknown code":          {written: ParsePlace("Miraflores, Lima (999999)")},
		"a full name without a zero":    {written: ParsePlace("Chachapoyas (10101)"), want: "Chachapoyas, Chachapoyas (010101)"},
		"the only one of the name":      {written: ParsePlace("SANTIAGO DE SURCO"), want: "Santiago de Surco, Lima (150140)"},
		"the only one that matches":     {written: ParsePlace("antiago de surc"), want: "Santiago de Surco, Lima (150140)"},
		"one of several":                {written: ParsePlace("Miraflores"), exact: 4},
		"with its city":                 {written: ParsePlace("miraflores, arequipa"), want: "Miraflores, Arequipa (040110)"},
		"with two around it":            {written: ParsePlace("Zarate, San Juan de Lurigancho, Lima"), want: "Zárate, San Juan de Lurigancho, Lima"},
		"with its department":           {written: ParsePlace("Miraflores, Huánuco"), want: "Miraflores, Huamalíes (100506)"},
		"with a comma and nothing":      {written: ParsePlace("Santiago de Surco,"), want: "Santiago de Surco, Lima (150140)"},
		"in a place where it is not":    {written: ParsePlace("Miraflores, Cusco")},
		"with its city in a cell":       {written: place{Name: "Miraflores", City: "AREQUIPA"}, want: "Miraflores, Arequipa (040110)"},
		"with its department in a cell": {written: place{Name: "Miraflores", Department: "arequipa"}, want: "Miraflores, Arequipa (040110)"},
		"with another's city":           {written: place{Name: "Miraflores", City: "Cusco"}},
		"a city":                        {written: ParsePlace("Lima"), want: "Lima"},
		"a city with its city":          {written: place{Name: "Lima", City: "Lima", Department: "Lima"}, want: "Lima"},
		"its district, to go there":     {written: ParsePlace("Lima"), types: destinations, want: "Lima, Lima (150101)"},
		"nothing":                       {written: ParsePlace(" ")},
		"a comma":                       {written: ParsePlace(",")},
		"nonsense":                      {written: ParsePlace("Narnia")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := index.Resolve("pe", tc.written, tc.types...)
			only, clear := found.Only()
			require.Equal(t, tc.want != "", clear, "%v", names(found.All))
			if clear {
				require.Equal(t, tc.want, index.FullName(only))
				return
			}
			require.Len(t, found.Exact, tc.exact)
			require.GreaterOrEqual(t, len(found.All), tc.exact)
		})
	}
}

// Every place is found again by its own name.
func TestFullName_isUnique(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	for _, location := range index.searchable["PE"] {
		found, clear := index.Resolve("PE", ParsePlace(index.FullName(location.Location))).Only()
		require.True(t, clear, location.Name)
		require.Equal(t, location.ID, found.ID, location.Name)
	}
}

package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
)

// Contract 2.2, rule 5: a zone is a location with everything below it, words in the address, or
// both.
func TestRiskZone(t *testing.T) {
	t.Parallel()
	places := destinationChain()
	district, elsewhere := places[1].ID, uuid.New()
	for name, c := range map[string]struct {
		zone    models.RiskZone
		address string
		risky   bool
	}{
		"the whole place":                  {models.RiskZone{LocationID: &district}, "Av. Sol 1", true},
		"another place":                    {models.RiskZone{LocationID: &elsewhere}, "Av. Sol 1", false},
		"words everywhere":                 {models.RiskZone{Words: "huascar"}, "Jr. Huáscar 123", true},
		"words in capitals, with accents":  {models.RiskZone{Words: "HUÁSCAR"}, "jr. huascar 123", true},
		"words in the place":               {models.RiskZone{LocationID: &district, Words: "huascar"}, "Jr. Huáscar 123", true},
		"words in another place":           {models.RiskZone{LocationID: &elsewhere, Words: "huascar"}, "Jr. Huáscar 123", false},
		"other words in the place":         {models.RiskZone{LocationID: &district, Words: "huascar"}, "Av. Sol 1", false},
		"any of several expressions":       {models.RiskZone{Words: "huascar\nparadero 10"}, "Paradero 10, lote 5", true},
		"an expression as a whole":         {models.RiskZone{Words: "paradero 10"}, "Paradero 100", false},
		"words apart are no expression":    {models.RiskZone{Words: "paradero 10"}, "Paradero 5, lote 10", false},
		"punctuation does not part it":     {models.RiskZone{Words: "paradero 10"}, "(paradero-10)", true},
		"at the end of the address":        {models.RiskZone{Words: "sol"}, "Av. Sol", true},
		"part of a word":                   {models.RiskZone{Words: "sol"}, "Av. Soledad", false},
		"expressions that say nothing":     {models.RiskZone{Words: " \n--\n"}, "Av. Sol 1", false},
		"lines ended as Windows does":      {models.RiskZone{Words: "huascar\r\nsol\r\n"}, "Av. Sol 1", true},
		"an address of punctuation marks":  {models.RiskZone{Words: "sol"}, "...", false},
		"the ñ of an address written as n": {models.RiskZone{Words: "breña"}, "Brena", true},
	} {
		c.zone.Name = name
		found := (&settings{riskZones: []models.RiskZone{c.zone}}).riskZone(places, c.address)
		require.Equal(t, c.risky, found != nil, name)
		if found != nil {
			require.Contains(t, riskWarning(found), name)
		}
	}
}

package orders

import (
	"strings"

	"despacho/internal/catalog"
	"despacho/internal/textnorm"
	"despacho/models"
)

// riskZone finds the first risk zone that matches the destination: its location is the destination
// or an ancestor, and the address contains one of its expressions. A zone without a location
// matches everywhere, one without expressions every address.
func (s *settings) riskZone(destination []catalog.Location, address string) *models.RiskZone {
	folded := " " + textnorm.String(address) + " "
	for i := range s.riskZones {
		zone := &s.riskZones[i]
		if zone.LocationID != nil && !within(destination, zone) {
			continue
		}
		if zone.Words == "" || containsExpression(folded, zone.Words) {
			return zone
		}
	}
	return nil
}

func within(destination []catalog.Location, zone *models.RiskZone) bool {
	for _, place := range destination {
		if place.ID == *zone.LocationID {
			return true
		}
	}
	return false
}

// containsExpression reports whether an address, normalized and padded with spaces, contains one of
// the expressions, which are one per line.
func containsExpression(address, expressions string) bool {
	for expression := range strings.Lines(expressions) {
		if words := textnorm.String(expression); words != "" && strings.Contains(address, " "+words+" ") {
			return true
		}
	}
	return false
}

func riskWarning(zone *models.RiskZone) string {
	return "El destino está en una zona de riesgo del operador: " + zone.Name + "."
}

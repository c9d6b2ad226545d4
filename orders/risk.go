package orders

import (
	"strings"

	"despacho/catalog"
	"despacho/internal/textnorm"
	"despacho/models"
)

// riskZone finds the first zone marked risky that the destination falls into: its place is in the
// zone's, and the address holds one of its words. A zone without a place is everywhere, one without
// words is the whole place.
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

// mentions reports whether an address, folded and padded with spaces, holds one of the expressions,
// one on each line.
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

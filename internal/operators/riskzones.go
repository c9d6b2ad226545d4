package operators

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Limits of a risk zone: the number of expressions, and characters of each.
const (
	maxExpressions = 100
	maxExpression  = 100
)

// RiskZones are an operator's risk zones by name: a location, expressions in addresses, or both.
func (s *Service) RiskZones() Rows[models.RiskZone] {
	return Rows[models.RiskZone]{
		service: s, patch: patchRiskZone, errs: rowErrors{notFound: ErrRiskZoneNotFound},
		order: func(a, b models.RiskZone) int { return textnorm.Compare(a.Name, b.Name) },
		begin: func(id uuid.UUID, operator *models.Operator, now time.Time) models.RiskZone {
			return models.RiskZone{ID: id, OperatorID: operator.ID, Active: true, CreatedAt: now}
		},
	}
}

func patchRiskZone(ctx context.Context, tx *db.DB, _ *models.Operator, zone *models.RiskZone, in *jsonbody.Object) error {
	readName(in, &zone.Name)
	readFlag(in, "active", &zone.Active)
	if in.HasOrNull("location_id") {
		zone.LocationID = in.UUID("location_id")
		if err := checkLocation(ctx, tx, in, zone.LocationID); err != nil {
			return err
		}
	}
	if in.Has("words") {
		zone.Words = models.JoinWords(readExpressions(in))
	}
	if zone.LocationID == nil && zone.Words == "" && in.Blank("location_id") {
		in.AddError("words", "indique una ubicación o al menos una palabra: sin ninguna, toda dirección sería de riesgo")
	}
	return in.Err()
}

// readExpressions reads the expressions; those that differ only in accents, case or punctuation are
// duplicates.
func readExpressions(in *jsonbody.Object) []string {
	var expressions []string
	known := map[string]bool{}
	for _, expression := range in.LineList("words", maxExpression) {
		folded := textnorm.String(expression)
		if folded == "" {
			in.AddError("words", "cada expresión debe tener alguna letra o cifra")
		}
		if !known[folded] {
			known[folded] = true
			expressions = append(expressions, expression)
		}
	}
	if len(expressions) > maxExpressions {
		in.AddError("words", "admite como máximo 100 expresiones")
	}
	return expressions
}

package operators

import (
	"context"

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

// RiskZones lists an operator's risk zones by name, including inactive ones.
func (s *Service) RiskZones(ctx context.Context, operator *models.Operator) ([]models.RiskZone, error) {
	return list(ctx, s, operator, func(a, b models.RiskZone) int { return textnorm.Compare(a.Name, b.Name) })
}

// CreateRiskZone creates a risk zone from a location, expressions in addresses, or both.
func (s *Service) CreateRiskZone(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.RiskZone, error) {
	zone := &models.RiskZone{ID: uuid.New(), OperatorID: operator.ID, Active: true, CreatedAt: s.clock.Now()}
	return create(ctx, s, operator, zone, nil, patchRiskZone(ctx, in))
}

// ChangeRiskZone changes a risk zone.
func (s *Service) ChangeRiskZone(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*models.RiskZone) error) (*models.RiskZone, error) {
	return change(ctx, s, operator, id, check, rowErrors{notFound: ErrRiskZoneNotFound}, patchRiskZone(ctx, in))
}

func patchRiskZone(ctx context.Context, in *jsonbody.Object) patch[models.RiskZone] {
	return func(tx *db.DB, zone *models.RiskZone) error {
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

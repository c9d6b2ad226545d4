package panel

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// riskZone is a risk zone with the name of its place.
type riskZone struct {
	models.RiskZone
	place string
}

func (p *Pages) riskZones() *resource[riskZone] {
	return &resource[riskZone]{
		pages: p, path: "/panel/zonas-de-riesgo", title: "Zonas de riesgo",
		intro:   "Quien crea un pedido hacia una zona de riesgo recibe una advertencia; el pedido se crea igual. Con lugar y palabras, cuentan las direcciones de ese lugar que tengan alguna de ellas.",
		columns: []string{"Nombre", "Lugar", "Palabras", "Estado"},
		add:     "Agregar zona", made: "Zona de riesgo agregada.", changed: "Zona de riesgo guardada.",
		all: p.listRiskZones, absent: operators.ErrRiskZoneNotFound,
		make: func(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*riskZone, error) {
			_, err := p.Operators.CreateRiskZone(ctx, operator, in)
			return nil, err
		},
		alter: func(ctx context.Context, operator *models.Operator, id uuid.UUID, read *riskZone, in *jsonbody.Object) error {
			return unlessChanged(p.Operators.ChangeRiskZone)(ctx, operator, id, &read.RiskZone, in)
		},
		id:   func(z *riskZone) uuid.UUID { return z.ID },
		name: func(z *riskZone) string { return z.Name },
		cells: func(_ *Request, z *riskZone) []cell {
			return []cell{plain(z.Name), plain(orDash(z.place)), plain(orDash(strings.Join(z.WordList(), " · "))), activity(z.Active)}
		},
		fields: func(_ *Request, z *riskZone) ([]forms.Field, error) {
			name := forms.Field{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Hint: "Así la nombra la advertencia."}
			place := forms.Field{Name: "location_id", Label: "Lugar", Kind: forms.Place, Hint: "Con todo lo que hay dentro. En blanco, cualquier lugar."}
			words := forms.Field{Name: "words", Label: "Palabras de la dirección", Kind: forms.Lines, Wide: true, Hint: "Una expresión por línea; basta una. No importan tildes ni mayúsculas."}
			if z == nil {
				return []forms.Field{name, place, words}, nil
			}
			name.Value, place.Value, words.Value = z.Name, z.place, z.Words
			return []forms.Field{name, place, words, forms.Active(z.Active, "Sin marcar, no advierte a nadie.")}, nil
		},
	}
}

func (p *Pages) listRiskZones(ctx context.Context, operator *models.Operator) ([]riskZone, error) {
	rows, err := p.Operators.RiskZones(ctx, operator)
	if err != nil {
		return nil, err
	}
	zones := make([]riskZone, len(rows))
	for i, row := range rows {
		place, err := p.placeNamed(ctx, forms.IDValue(row.LocationID))
		if err != nil {
			return nil, err
		}
		zones[i] = riskZone{row, place}
	}
	return zones, nil
}

// orDash is a dash for an empty text.
func orDash(text string) string {
	if text == "" {
		return "—"
	}
	return text
}

package panel

import (
	"cmp"
	"strings"

	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) riskZones() *resource[models.RiskZone] {
	return resourceOf(p, p.Operators.RiskZones(), resource[models.RiskZone]{
		path: "/panel/zonas-de-riesgo", title: "Zonas de riesgo",
		intro: "Quien crea un pedido hacia una zona de riesgo recibe una advertencia; el pedido se crea igual. " +
			"Con lugar y palabras, cuentan las direcciones de ese lugar que tengan alguna de ellas.",
		columns: []string{"Nombre", "Lugar", "Palabras", "Estado"},
		add:     "Agregar zona", made: "Zona de riesgo agregada.", changed: "Zona de riesgo guardada.",
		gender: feminine, reads: models.SettingsRead, writes: models.SettingsWrite,
		inactive: "Sin marcar, no advierte a nadie.",
		name:     func(z *models.RiskZone) string { return z.Name }, active: func(z *models.RiskZone) bool { return z.Active },
		describe: p.describeRiskZones,
	})
}

func (p *Pages) describeRiskZones(v *Request) (described[models.RiskZone], error) {
	index, err := p.Catalog.Index(v.Ctx())
	place := func(z *models.RiskZone) string {
		if z.LocationID == nil {
			return ""
		}
		location, _ := index.Location(*z.LocationID)
		return index.FullName(location)
	}
	return described[models.RiskZone]{
		cells: func(z *models.RiskZone) []cell {
			return []cell{plain(z.Name), plain(orDash(place(z))), plain(orDash(strings.Join(z.WordList(), " · "))),
				activity(z.Active, feminine)}
		},
		fields: func(z *models.RiskZone) []forms.Field {
			return []forms.Field{
				{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: z.Name, Hint: "Así la nombra la advertencia."},
				{
					Name: "location_id", Label: "Lugar", Kind: forms.Place, Value: place(z),
					Hint: "Con todo lo que hay dentro. En blanco, cualquier lugar.",
				},
				{
					Name: "words", Label: "Palabras de la dirección", Kind: forms.Lines, Wide: true, Value: z.Words,
					Hint: "Una expresión por línea; basta una. No importan tildes ni mayúsculas.",
				},
			}
		},
	}, err
}

// orDash is a dash for an empty text.
func orDash(text string) string { return cmp.Or(text, "—") }

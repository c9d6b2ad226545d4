package panel

import (
	"strconv"

	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) sizes() *resource[models.Size] {
	return resourceOf(p, p.Operators.Sizes(), resource[models.Size]{
		path: "/panel/tamanos", title: "Tamaños",
		intro: "Los tamaños de paquete y lo que cada uno suma al precio del lugar. " +
			"La predeterminada es la de los pedidos que no indican ninguna.",
		columns: []string{"Código", "Nombre", "Recargo", "Predeterminada", "Estado"},
		add:     "Agregar tamaño", made: "Tamaño agregado.",
		changed: "Tamaño guardado. Los pedidos que ya existen conservan su precio.",
		gender:  masculine, reads: models.SettingsRead, writes: models.SettingsWrite,
		inactive: "Sin marcar, los pedidos no pueden llevarla.",
		name:     func(s *models.Size) string { return s.Code + " · " + s.Name },
		active:   func(s *models.Size) bool { return s.Active },
		describe: always(func(v *Request, s *models.Size) []cell {
			return []cell{
				plain(s.Code), plain(s.Name), {Text: format.Amount(s.Surcharge, v.Operator().Currency), Money: true},
				marked("Predeterminada", s.IsDefault), activity(s.Active, masculine),
			}
		}, func(v *Request, s *models.Size) []forms.Field {
			return []forms.Field{
				{
					Name: "code", Label: "Código", Kind: forms.Text, Required: true, Value: s.Code,
					Hint: "Lo que las tiendas escriben en el pedido, tal cual: S, XL…",
				},
				{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: s.Name},
				{Name: "surcharge", Label: moneyLabel(v, "Recargo"), Kind: forms.Money, Required: true, Value: s.Surcharge.String()},
				{
					Name: "default", Label: "Es la predeterminada", Kind: forms.Flag, Value: strconv.FormatBool(s.IsDefault),
					Hint: "Deja de serlo la que lo era.",
				},
			}
		}),
	})
}

// moneyLabel adds the currency to a label.
func moneyLabel(v *Request, label string) string {
	return label + " (" + format.CurrencySign(v.Operator().Currency) + ")"
}

package panel

import (
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/operators"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) sizes() *resource[models.Size] {
	return &resource[models.Size]{
		pages: p, path: "/panel/tallas", title: "Tallas",
		intro:   "Los tamaños de paquete y lo que cada uno suma al precio del lugar. La predeterminada es la de los pedidos que no indican ninguna.",
		columns: []string{"Código", "Nombre", "Recargo", "Predeterminada", "Estado"},
		add:     "Agregar talla", made: "Talla agregada.", changed: "Talla guardada. Los pedidos que ya existen conservan su precio.",
		all: p.Operators.Sizes, make: p.Operators.CreateSize, alter: unlessChanged(p.Operators.ChangeSize), absent: operators.ErrSizeNotFound,
		id:   func(s *models.Size) uuid.UUID { return s.ID },
		name: func(s *models.Size) string { return s.Code + " · " + s.Name },
		cells: func(v *Request, s *models.Size) []cell {
			return []cell{
				plain(s.Code), plain(s.Name), {Text: format.Amount(s.Surcharge, v.Operator().Currency), Money: true},
				marked("Predeterminada", s.IsDefault), activity(s.Active),
			}
		},
		fields: func(v *Request, s *models.Size) ([]forms.Field, error) {
			code := forms.Field{Name: "code", Label: "Código", Kind: forms.Text, Required: true, Hint: "Lo que las tiendas escriben en el pedido, tal cual: S, XL…"}
			name := forms.Field{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true}
			surcharge := forms.Field{Name: "surcharge", Label: moneyLabel(v, "Recargo"), Kind: forms.Money, Required: true, Value: "0.00"}
			first := forms.Field{Name: "default", Label: "Es la predeterminada", Kind: forms.Flag, Hint: "Deja de serlo la que lo era."}
			if s == nil {
				return []forms.Field{code, name, surcharge, first}, nil
			}
			code.Value, name.Value, surcharge.Value, first.Value = s.Code, s.Name, s.Surcharge.String(), strconv.FormatBool(s.IsDefault)
			return []forms.Field{code, name, surcharge, first, forms.Active(s.Active, "Sin marcar, los pedidos no pueden llevarla.")}, nil
		},
	}
}

// moneyLabel adds the currency to a label.
func moneyLabel(v *Request, label string) string {
	return label + " (" + format.CurrencySign(v.Operator().Currency) + ")"
}

package panel

import (
	"github.com/google/uuid"

	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) riders() *resource[models.Rider] {
	return &resource[models.Rider]{
		pages: p, path: "/panel/motorizados", title: "Motorizados",
		intro:   "Quienes reparten los pedidos. A un motorizado inactivo no se le asigna nada más; lo que ya lleva sigue siendo suyo.",
		columns: []string{"Nombre", "Teléfono", "Estado"},
		add:     "Agregar motorizado", made: "Motorizado agregado.", changed: "Motorizado guardado.",
		all: p.Operators.Riders, make: p.Operators.CreateRider, alter: unlessChanged(p.Operators.ChangeRider), absent: operators.ErrRiderNotFound,
		id:   func(r *models.Rider) uuid.UUID { return r.ID },
		name: func(r *models.Rider) string { return r.Name },
		cells: func(_ *Request, r *models.Rider) []cell {
			return []cell{plain(r.Name), plain(r.Phone), activity(r.Active)}
		},
		fields: func(_ *Request, r *models.Rider) ([]forms.Field, error) {
			name := forms.Field{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true}
			phone := forms.Field{Name: "phone", Label: "Teléfono", Kind: forms.Phone, Required: true}
			if r == nil {
				return []forms.Field{name, phone}, nil
			}
			name.Value, phone.Value = r.Name, r.Phone
			return []forms.Field{name, phone, forms.Active(r.Active, "Sin marcar, no se le asignan más pedidos.")}, nil
		},
	}
}

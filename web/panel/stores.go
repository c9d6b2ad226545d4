package panel

import (
	"github.com/google/uuid"

	"despacho/models"
	"despacho/operators"
	"despacho/web/panel/forms"
)

func (p *Pages) stores() *resource[models.Store] {
	return &resource[models.Store]{
		pages: p, path: "/panel/tiendas", title: "Tiendas",
		intro:   "Los negocios que envían con usted. Una tienda inactiva no puede crear pedidos; los que ya tiene siguen su camino.",
		columns: []string{"Nombre", "Desde", "Estado"},
		add:     "Agregar tienda", made: "Tienda agregada.", changed: "Tienda guardada.",
		all: p.Operators.Stores, make: p.Operators.CreateStore, alter: p.Operators.ChangeStore, absent: operators.ErrStoreNotFound,
		id:   func(s *models.Store) uuid.UUID { return s.ID },
		name: func(s *models.Store) string { return s.Name },
		cells: func(v *Request, s *models.Store) []cell {
			return []cell{plain(s.Name), plain(day(v, s.CreatedAt)), activity(s.Active)}
		},
		fields: func(_ *Request, s *models.Store) ([]forms.Field, error) {
			if s == nil {
				return []forms.Field{{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true}}, nil
			}
			return []forms.Field{
				{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: s.Name},
				forms.Active(s.Active, "Sin marcar, la tienda deja de crear pedidos."),
			}, nil
		},
	}
}

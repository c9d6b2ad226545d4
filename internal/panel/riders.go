package panel

import (
	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) riders() *resource[models.Rider] {
	return resourceOf(p, p.Operators.Riders(), resource[models.Rider]{
		path: "/panel/motorizados", title: "Motorizados",
		intro:   "Quienes reparten los pedidos. A un motorizado inactivo no se le asigna nada más; lo que ya lleva sigue siendo suyo.",
		columns: []string{"Nombre", "Teléfono", "Estado"},
		add:     "Agregar motorizado", made: "Motorizado agregado.", changed: "Motorizado guardado.",
		inactive: "Sin marcar, no se le asignan más pedidos.",
		name:     func(r *models.Rider) string { return r.Name }, active: func(r *models.Rider) bool { return r.Active },
		describe: always(func(_ *Request, r *models.Rider) []cell {
			return []cell{plain(r.Name), plain(r.Phone), activity(r.Active)}
		}, func(_ *Request, r *models.Rider) []forms.Field {
			return []forms.Field{
				{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: r.Name},
				{Name: "phone", Label: "Teléfono", Kind: forms.Phone, Required: true, Value: r.Phone},
			}
		}),
	})
}

package panel

import (
	"strconv"

	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) branches() *resource[models.Branch] {
	return resourceOf(p, p.Operators.Branches(), resource[models.Branch]{
		path: "/panel/sucursales", title: "Sucursales",
		intro:   "Donde se reciben los paquetes. La principal es la de los pedidos que no nombran otra: siempre hay una, y está activa.",
		columns: []string{"Nombre", "Principal", "Estado"},
		add:     "Agregar sucursal", made: "Sucursal agregada.", changed: "Sucursal guardada.",
		gender: feminine, reads: models.SettingsRead, writes: models.SettingsWrite,
		inactive: "Sin marcar, no recibe más pedidos.",
		name:     func(b *models.Branch) string { return b.Name }, active: func(b *models.Branch) bool { return b.Active },
		describe: always(func(_ *Request, b *models.Branch) []cell {
			return []cell{plain(b.Name), marked("Principal", b.Main), activity(b.Active, feminine)}
		}, func(_ *Request, b *models.Branch) []forms.Field {
			return []forms.Field{
				{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: b.Name},
				{Name: "main", Label: "Es la principal", Kind: forms.Flag, Hint: "Deja de serlo la que lo era.",
					Value: strconv.FormatBool(b.Main)},
			}
		}),
	})
}

package panel

import (
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) branches() *resource[models.Branch] {
	return &resource[models.Branch]{
		pages: p, path: "/panel/sucursales", title: "Sucursales",
		intro:   "Donde se reciben los paquetes. La principal es la de los pedidos que no nombran otra: siempre hay una, y está activa.",
		columns: []string{"Nombre", "Principal", "Estado"},
		add:     "Agregar sucursal", made: "Sucursal agregada.", changed: "Sucursal guardada.",
		all: p.Operators.Branches, make: p.Operators.CreateBranch, alter: unlessChanged(p.Operators.ChangeBranch), absent: operators.ErrBranchNotFound,
		id:   func(b *models.Branch) uuid.UUID { return b.ID },
		name: func(b *models.Branch) string { return b.Name },
		cells: func(_ *Request, b *models.Branch) []cell {
			return []cell{plain(b.Name), marked("Principal", b.Main), activity(b.Active)}
		},
		fields: func(_ *Request, b *models.Branch) ([]forms.Field, error) {
			name := forms.Field{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true}
			first := forms.Field{Name: "main", Label: "Es la principal", Kind: forms.Flag, Hint: "Deja de serlo la que lo era."}
			if b == nil {
				return []forms.Field{name, first}, nil
			}
			name.Value, first.Value = b.Name, strconv.FormatBool(b.Main)
			return []forms.Field{name, first, forms.Active(b.Active, "Sin marcar, no recibe más pedidos.")}, nil
		},
	}
}

package panel

import (
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const ridersPath = "/panel/motorizados"

func riderPath(id uuid.UUID) string { return ridersPath + "/" + id.String() }

func (p *Pages) riders() *resource[models.Rider] {
	return resourceOf(p, p.Operators.Riders(), resource[models.Rider]{
		path: ridersPath, title: "Motorizados",
		intro: "Quienes reparten los pedidos. A un motorizado inactivo no se le asigna nada más; lo que ya lleva sigue siendo suyo. " +
			"En la página de cada uno está el enlace para su celular.",
		columns: []string{"Nombre", "Teléfono", "Estado", "Celular", "Lo que lleva"},
		add:     "Agregar motorizado", made: "Motorizado agregado.", changed: "Motorizado guardado.",
		gender: masculine, reads: models.RiderRead, writes: models.SettingsWrite,
		inactive: "Sin marcar, no se le asignan más pedidos y su celular deja de tener acceso.",
		name:     func(r *models.Rider) string { return r.Name }, active: func(r *models.Rider) bool { return r.Active },
		ask: p.askAboutPackages, describe: p.describeRiders,
	})
}

func (p *Pages) describeRiders(v *Request) (described[models.Rider], error) {
	access, err := p.Riders.List(v.Ctx(), v.Operator())
	return described[models.Rider]{
		cells: func(r *models.Rider) []cell {
			sheet := plain("")
			if v.May(models.DispatchRead) {
				sheet = cell{Text: "Hoja de ruta", Path: routeSheetOf(r.ID)}
			}
			return []cell{plain(r.Name), plain(r.Phone), activity(r.Active, masculine), p.phoneCell(v, access[r.ID]), sheet}
		},
		fields: func(r *models.Rider) []forms.Field {
			return []forms.Field{
				{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: r.Name},
				{Name: "phone", Label: "Teléfono", Kind: forms.Phone, Required: true, Value: r.Phone},
			}
		},
		actions: func(r *models.Rider) []action { return phoneActions(v, r, access[r.ID]) },
	}, err
}

// askAboutPackages asks before a rider who carries packages is deactivated: they stay with the
// rider.
func (p *Pages) askAboutPackages(v *Request, rider *models.Rider, form *forms.Form) error {
	if !rider.Active || form.Field("active").On() {
		return nil
	}
	carried, err := p.Orders.List(v.Ctx(), v.Caller, orders.Query{Status: models.StatusAssigned, RiderID: &rider.ID, Page: 1, Limit: 1})
	if err != nil || carried.Total == 0 {
		return err
	}
	if form.Asked = strconv.FormatInt(carried.Total, 10); v.PostForm(forms.AskedName) == form.Asked {
		return nil
	}
	form.Question = fmt.Sprintf("Lleva %d %s en reparto, y %s: ¿desactivarlo?", carried.Total,
		format.Plural(int(carried.Total), "pedido", "pedidos"),
		format.Plural(int(carried.Total), "seguirá siendo suyo", "seguirán siendo suyos"))
	form.Look = orderQuery{Status: models.StatusAssigned, Rider: rider.ID.String()}.at(ordersPath)
	return nil
}

package panel

import (
	"slices"
	"strings"

	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) stores() *resource[models.Store] {
	return resourceOf(p, p.Operators.Stores(), resource[models.Store]{
		path: "/panel/tiendas", title: "Tiendas",
		intro:   "Los negocios que envían con usted. Una tienda inactiva no puede crear pedidos ni recibe eventos en sus webhooks; los pedidos que ya tiene siguen su camino.",
		columns: []string{"Nombre", "Desde", "Estado"},
		add:     "Agregar tienda", made: "Tienda agregada.", changed: "Tienda guardada.",
		gender: feminine, reads: models.SettingsRead, writes: models.SettingsWrite,
		inactive: "Sin marcar, la tienda deja de crear pedidos.",
		name:     func(s *models.Store) string { return s.Name }, active: func(s *models.Store) bool { return s.Active },
		describe: always(func(v *Request, s *models.Store) []cell {
			return []cell{{Text: s.Name, Note: contactsOf(s)}, plain(day(v, s.CreatedAt)), activity(s.Active, feminine)}
		}, func(_ *Request, s *models.Store) []forms.Field {
			return []forms.Field{
				{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: s.Name},
				{
					Name: "contact_whatsapp", Label: "WhatsApp para clientes", Kind: forms.Phone,
					Value: orEmpty(s.ContactWhatsApp),
					Hint:  "Los tres contactos se muestran en la página de seguimiento de sus pedidos.",
				},
				{Name: "contact_phone", Label: "Teléfono para clientes", Kind: forms.Phone, Value: orEmpty(s.ContactPhone)},
				{Name: "contact_email", Label: "Correo para clientes", Kind: forms.Email, Value: orEmpty(s.ContactEmail)},
			}
		}),
	})
}

// contactsOf is how customers reach a store, in one line.
func contactsOf(s *models.Store) string {
	var contacts []string
	for _, contact := range []*string{s.ContactWhatsApp, s.ContactPhone, s.ContactEmail} {
		if contact != nil && !slices.Contains(contacts, *contact) {
			contacts = append(contacts, *contact)
		}
	}
	return strings.Join(contacts, " · ")
}

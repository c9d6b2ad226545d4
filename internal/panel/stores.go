package panel

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) stores() *resource[models.Store] {
	return resourceOf(p, p.Operators.Stores(), resource[models.Store]{
		path: storesPath, title: "Tiendas",
		intro:   "Los negocios que envían con usted. Una tienda inactiva no puede crear pedidos ni recibe eventos en sus webhooks; los pedidos que ya tiene siguen su camino.",
		columns: []string{"Nombre", "Desde", "Tarifas", "Estado"},
		add:     "Agregar tienda", made: "Tienda agregada.", changed: "Tienda guardada.",
		gender: feminine, reads: models.SettingsRead, writes: models.SettingsWrite,
		inactive: "Sin marcar, la tienda deja de crear pedidos.",
		name:     func(s *models.Store) string { return s.Name }, active: func(s *models.Store) bool { return s.Active },
		describe: p.describeStores,
	})
}

func (p *Pages) describeStores(v *Request) (described[models.Store], error) {
	prices, err := p.Operators.StorePrices().List(v.Ctx(), v.Operator())
	count := map[uuid.UUID]int{}
	for _, price := range prices {
		count[price.StoreID]++
	}
	return described[models.Store]{
		cells: func(s *models.Store) []cell {
			return []cell{{Text: s.Name, Note: contactsOf(s)}, plain(day(v, s.CreatedAt)),
				{Text: priceCount(count[s.ID]), Path: pricesOf(s.ID)}, activity(s.Active, feminine)}
		},
		fields: func(s *models.Store) []forms.Field {
			return []forms.Field{
				{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: s.Name},
				{
					Name: "contact_whatsapp", Label: "WhatsApp para clientes", Kind: forms.Phone,
					Value: orEmpty(s.ContactWhatsApp),
					Hint:  "Los tres contactos se muestran en la página de seguimiento de sus pedidos.",
				},
				{Name: "contact_phone", Label: "Teléfono para clientes", Kind: forms.Phone, Value: orEmpty(s.ContactPhone)},
				{Name: "contact_email", Label: "Correo para clientes", Kind: forms.Email, Value: orEmpty(s.ContactEmail)},
				feeOfStore(v, "attempt_fee", attemptFeeLabel, s.AttemptFee, v.Operator().Rules.AttemptFee),
				feeOfStore(v, "return_fee", returnFeeLabel, s.ReturnFee, v.Operator().Rules.ReturnFee),
			}
		},
		links: func(s *models.Store) []pageLink { return []pageLink{{pricesOf(s.ID), "Tarifas de la tienda"}} },
	}, err
}

// The labels of the fees, of the operator's rules and of a store.
const (
	attemptFeeLabel = "Cobro por intento fallido"
	returnFeeLabel  = "Cobro por devolución"
)

// feeOfStore is the field of a fee that the operator has, too.
func feeOfStore(v *Request, name, label string, ofStore, ofOperator *money.Cents) forms.Field {
	usual := "nada"
	if ofOperator != nil {
		usual = format.Amount(*ofOperator, v.Operator().Currency)
	}
	return forms.Field{Name: name, Label: moneyLabel(v, label), Kind: forms.Money, Value: forms.MoneyValue(ofStore),
		Hint: "En blanco, el de Entregas e intentos: " + usual + "."}
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

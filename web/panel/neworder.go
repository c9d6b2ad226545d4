package panel

import (
	"errors"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/orders"
)

const newOrderPath = "/panel/pedidos/nuevo"

// newOrderPage is the form of a new order, in groups.
type newOrderPage struct {
	Form   *form
	Groups []fieldGroup
	// Token is the form's idempotency key: sending the form again does not create another order.
	Token string
}

type fieldGroup struct {
	ID, Title string
	Fields    []field
}

// errFormUsed is shown when a form that already created an order is changed and sent again.
var errFormUsed = apperror.New(apperror.Unprocessable, "idempotency_key_reused",
	"Este formulario ya creó un pedido. Si quiere crear otro con los datos de abajo, vuelva a presionar el botón.")

func (p *Pages) newOrder(v *Request) error {
	groups, err := p.newOrderGroups(v)
	if err != nil {
		return err
	}
	return p.showNewOrder(v, http.StatusOK, newOrderForm(groups), groups, uuid.NewString())
}

func (p *Pages) createOrder(v *Request) error {
	groups, err := p.newOrderGroups(v)
	if err != nil {
		return err
	}
	asked := newOrderForm(groups)
	in, err := asked.read(p, v)
	token := v.PostForm("ficha")
	var created *orders.Created
	if err == nil {
		created, err = p.createFromForm(v, in, token)
	}
	if err == nil {
		return p.done(v, orderPath(created.Order.ID), newOrderNotice(created))
	}
	if errors.Is(err, orders.ErrKeyReused) {
		err, token = errFormUsed, uuid.NewString()
	}
	if !asked.addError(forForm(err)) {
		return err
	}
	return p.showNewOrder(v, http.StatusUnprocessableEntity, asked, groups, token)
}

func (p *Pages) createFromForm(v *Request, in *jsonbody.Object, token string) (*orders.Created, error) {
	if _, ok := jsonbody.ParseUUID(token); !ok {
		return nil, apperror.New(apperror.Invalid, "invalid_form", "El formulario está incompleto. Vuelva a abrir la página.")
	}
	return p.createOnce(v.Ctx(), v.Caller, in, "formulario:"+token)
}

func newOrderNotice(created *orders.Created) string {
	text := "Pedido creado."
	if created.Replayed {
		text = "El pedido ya estaba creado."
	}
	order := created.Order
	text += " Guía " + order.GuideCode + ", tarifa " + amount(order.ShippingCost, order.Currency) + "."
	if created.Warning != "" {
		text += " Atención: " + created.Warning
	}
	return text
}

func (p *Pages) showNewOrder(v *Request, status int, asked *form, groups []fieldGroup, token string) error {
	page := newOrderPage{Form: asked, Token: token}
	if wrong := slices.IndexFunc(asked.Fields, func(f field) bool { return f.Error != "" }); wrong >= 0 {
		for i := range asked.Fields {
			asked.Fields[i].Focus = i == wrong
		}
	}
	at := 0
	for _, group := range groups {
		group.Fields = asked.Fields[at : at+len(group.Fields)]
		at += len(group.Fields)
		page.Groups = append(page.Groups, group)
	}
	return p.show(v, status, "new_order", "Nuevo pedido", page)
}

// newOrderForm joins the groups into one form.
func newOrderForm(groups []fieldGroup) *form {
	asked := &form{Action: newOrderPath, Submit: "Crear pedido"}
	for _, group := range groups {
		asked.Fields = append(asked.Fields, group.Fields...)
	}
	return asked
}

func (p *Pages) newOrderGroups(v *Request) ([]fieldGroup, error) {
	places, err := p.destinations(v)
	if err != nil {
		return nil, err
	}
	return []fieldGroup{
		{ID: "recipient", Title: "Destinatario", Fields: []field{
			{Name: "recipient_name", Label: "Nombre", Kind: textField, Required: true, Focus: true},
			{Name: "recipient_phone", Label: "Teléfono", Kind: phoneField, Required: true, Hint: "Con código de país si no es de aquí. Ejemplo: 987 654 321."},
			{Name: "recipient_doc_type", Label: "Documento", Kind: choiceField, Options: docTypeOptions},
			{Name: "recipient_doc_number", Label: "Número de documento", Kind: textField, Hint: "Un DNI se verifica después de crear el pedido."},
		}},
		{ID: "delivery", Title: "Entrega", Fields: []field{
			{Name: "location_id", Label: "Distrito o zona", Kind: destinationField, Required: true, Suggestions: places.offered(), Hint: "Decide la tarifa. Escriba y elija de la lista."},
			{Name: "delivery_type", Label: "Tipo de entrega", Kind: choiceField, Options: []option{{string(models.DeliveryHome), "A domicilio"}, {string(models.DeliveryAgency), "En agencia"}}},
			{Name: "delivery_address", Label: "Dirección", Kind: textField, Required: true, Wide: true, Hint: "Como se la diría al motorizado."},
			{Name: "delivery_reference", Label: "Referencia", Kind: textField, Wide: true, Hint: "Ejemplo: frente al parque, portón verde."},
			{Name: "delivery_maps_url", Label: "Enlace del mapa", Kind: textField, Wide: true, Hint: "El que envía el cliente, corto o largo: https://maps.app.goo.gl/…"},
			{Name: "delivery_lat", Label: "Latitud", Kind: numberField, Hint: "Ejemplo: -12.1211. Con el punto exacto, el enlace sobra."},
			{Name: "delivery_lng", Label: "Longitud", Kind: numberField, Hint: "Ejemplo: -77.0297."},
		}},
		{ID: "package", Title: "Paquete", Fields: packageFields(v, places.choices)},
		{ID: "payment", Title: "Cobro", Fields: []field{
			{Name: "amount_to_collect", Label: "Monto por cobrar", Kind: moneyField, Hint: "Lo que el motorizado cobra al entregar. Ejemplo: 89.90. Vacío: nada."},
			{Name: "payment_type", Label: "Forma de cobro", Kind: choiceField, Hint: "Con un monto siempre es contra entrega.", Options: []option{
				{"", "Según el monto"}, {string(models.CashOnDelivery), "Contra entrega, monto por definir"}, {string(models.DeliveryOnly), "Solo entrega"},
			}},
		}},
	}, nil
}

var docTypeOptions = []option{
	{"", "Sin documento"}, {string(models.DocDNI), "DNI"}, {string(models.DocCE), "Carné de extranjería"},
	{string(models.DocPassport), "Pasaporte"}, {string(models.DocOther), "Otro"},
}

func packageFields(v *Request, choices *orders.Choices) []field {
	fields := []field{{Name: "product", Label: "Contenido", Kind: textField, Required: true, Wide: true, Hint: "Qué hay en el paquete, en una línea."}}
	if len(choices.Sizes) > 0 {
		fields = append(fields, sizeField(v, choices.Sizes))
	}
	if v.Caller.StoreID == nil {
		fields = append(fields, field{Name: "store_id", Label: "Tienda", Kind: choiceField, Options: storeOptions("Ninguna: pedido del operador", choices.Stores, "")})
	}
	if len(choices.Branches) > 1 {
		fields = append(fields, branchField(choices.Branches))
	}
	return append(fields, field{Name: "notes", Label: "Notas para el despacho", Kind: areaField, Wide: true})
}

func sizeField(v *Request, sizes []models.Size) field {
	f := field{Name: "size", Label: "Talla", Kind: choiceField}
	for _, size := range sizes {
		label := size.Name + " (" + size.Code + ")"
		if size.Surcharge > 0 {
			label += " + " + amount(size.Surcharge, v.Operator().Currency)
		}
		f.Options = append(f.Options, option{size.Code, label})
		if size.IsDefault {
			f.Value = size.Code
		}
	}
	return f
}

func branchField(branches []models.Branch) field {
	f := field{Name: "branch_id", Label: "Sucursal que recibe", Kind: choiceField}
	for _, branch := range branches {
		label := branch.Name
		if branch.Main {
			f.Value, label = branch.ID.String(), label+" (principal)"
		}
		f.Options = append(f.Options, option{branch.ID.String(), label})
	}
	return f
}

package panel

import (
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/orders"
)

// The fields of a new order, as the form has them and as the columns of an uploaded file. Each takes
// every member of a creation request.

// fieldGroup is a group of fields of the form.
type fieldGroup struct {
	ID, Title string
	Fields    []field
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

// uploadColumns are the columns of the template, and then the other accepted ones.
var uploadColumns = []uploadColumn{
	{Column: column("destinatario", "nombre", "cliente", "nombre del destinatario", "nombre y apellido"), Member: "recipient_name", Required: true, Help: "Nombre de quien recibe.", Example: "Rosa Díaz"},
	{Column: column("telefono", "celular", "movil", "telefono del destinatario", "nro de telefono"), Member: "recipient_phone", Required: true, Help: "Con o sin código de país.", Example: "987654321", take: takeDigits},
	{Column: column("direccion", "direccion de entrega", "domicilio"), Member: "delivery_address", Required: true, Help: "Como se la diría al motorizado.", Example: "Av. Larco 345, dpto. 201"},
	{Column: column("referencia", "referencias"), Member: "delivery_reference", Help: "Algo que ayude a llegar.", Example: "Frente al parque"},
	{Column: column(placeColumn, "distrito o zona", "zona", "destino", "ubicacion"), Member: "location_id", Required: true, Help: "Distrito o zona por su nombre. Si hay varios iguales: «Miraflores, Lima». En su lugar sirve la columna ubigeo.", take: takePlace},
	{Column: column("producto", "contenido", "paquete", "descripcion"), Member: "product", Required: true, Help: "Qué hay en el paquete.", Example: "Zapatillas"},
	{Column: column(sizeColumn, "tamano", "size"), Member: "size", Help: "Código de talla del operador. Vacío: la talla habitual.", take: takeSize},
	{Column: column("monto_a_cobrar", "monto", "monto por cobrar", "cobrar"), Member: "amount_to_collect", Help: "Lo que se cobra al entregar: 89.90 u 89,90. Vacío: nada.", Example: "89.90", take: takeAmount},
	{Column: column("tipo_documento", "tipo de documento", "tipo doc"), Member: "recipient_doc_type", Help: "DNI, CE, pasaporte u otro.", take: oneOf(docTypeSpellings, "debe ser DNI, CE, pasaporte u otro")},
	{Column: column("documento", "numero de documento", "nro documento"), Member: "recipient_doc_number", Help: "Número del documento.", take: takeDigits},
	{Column: column("notas", "observaciones", "comentarios", "instrucciones"), Member: "notes", Help: "Instrucciones para el despacho.", Example: "Ejemplo: reemplace esta fila"},
	{Column: column("enlace_mapa", "enlace del mapa", "mapa", "google maps", "link"), Member: "delivery_maps_url", Help: "Enlace de mapa que envió el cliente."},
	{Column: column("lat", "latitud"), Member: "delivery_lat", Help: "Punto exacto, en lugar del enlace.", take: takeCoordinate},
	{Column: column("lng", "longitud", "lon", "long"), Member: "delivery_lng", Help: "Junto con lat.", take: takeCoordinate},
	{Column: column(storeColumn, "nombre de la tienda"), Member: "store_id", Help: "Nombre de la tienda que envía.", operatorOnly: true, take: takeStore},
	{Column: column(codeColumn, "codigo", "numero", "nro", "nro de pedido", "numero de pedido", "pedido", "id"), Help: "Su propio número de pedido: durante 24 horas no se crea dos veces.", take: takeCode},

	{Column: column(ubigeoColumn, "codigo ubigeo"), Help: "Código INEI de seis cifras, en lugar del distrito.", Spare: true},
	{Column: column("tipo_de_cobro", "forma de cobro", "tipo de pago", "forma de pago"), Member: "payment_type", Help: "Contra entrega o solo entrega. Con un monto siempre es contra entrega.", Spare: true, take: oneOf(paymentSpellings, "debe ser contra entrega o solo entrega")},
	{Column: column("tipo_de_entrega", "entrega"), Member: "delivery_type", Help: "Domicilio o agencia.", Spare: true, take: oneOf(deliverySpellings, "debe ser domicilio o agencia")},
	{Column: column("sucursal"), Member: "branch_id", Help: "Sucursal del operador que recibe el paquete.", Spare: true, take: takeBranch},
}

// numberMembers are read as numbers.
var numberMembers = map[string]jsonbody.FormField{"amount_to_collect": jsonbody.FormNumber, "delivery_lat": jsonbody.FormNumber, "delivery_lng": jsonbody.FormNumber}

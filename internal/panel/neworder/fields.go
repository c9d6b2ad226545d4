package neworder

import (
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/places"
	"despacho/models"
)

// Group is a group of fields of the form.
type Group struct {
	ID, Title string
	Fields    []forms.Field
}

// Groups are the fields of the form, one for each member of a creation request.
func Groups(caller orders.Caller, destinations *places.Destinations) []Group {
	return []Group{
		{ID: "recipient", Title: "Destinatario", Fields: []forms.Field{
			{Name: "recipient_name", Label: "Nombre", Kind: forms.Text, Required: true, Focus: true},
			{Name: "recipient_phone", Label: "Teléfono", Kind: forms.Phone, Required: true, Hint: "Con código de país si no es de aquí. Ejemplo: 987 654 321."},
			{Name: "recipient_doc_type", Label: "Documento", Kind: forms.Choice, Options: docTypeOptions},
			{Name: "recipient_doc_number", Label: "Número de documento", Kind: forms.Text, Hint: "Un DNI se verifica después de crear el pedido."},
		}},
		{ID: "delivery", Title: "Entrega", Fields: []forms.Field{
			{Name: "location_id", Label: "Distrito o zona", Kind: forms.Destination, Required: true, Suggestions: destinations.Offered(), Hint: "Decide la tarifa. Escriba y elija de la lista."},
			{Name: "delivery_type", Label: "Tipo de entrega", Kind: forms.Choice, Options: []forms.Option{{Value: string(models.DeliveryHome), Label: "A domicilio"}, {Value: string(models.DeliveryAgency), Label: "En agencia"}}},
			{Name: "delivery_address", Label: "Dirección", Kind: forms.Text, Required: true, Wide: true, Hint: "Como se la diría al motorizado."},
			{Name: "delivery_reference", Label: "Referencia", Kind: forms.Text, Wide: true, Hint: "Ejemplo: frente al parque, portón verde."},
			{Name: "delivery_maps_url", Label: "Enlace del mapa", Kind: forms.Text, Wide: true, Hint: "El que envía el cliente, corto o largo: https://maps.app.goo.gl/…"},
			{Name: "delivery_lat", Label: "Latitud", Kind: forms.Number, Hint: "Ejemplo: -12.1211. Con el punto exacto, el enlace sobra."},
			{Name: "delivery_lng", Label: "Longitud", Kind: forms.Number, Hint: "Ejemplo: -77.0297."},
		}},
		{ID: "package", Title: "Paquete", Fields: packageFields(caller, destinations.Choices)},
		{ID: "payment", Title: "Cobro", Fields: []forms.Field{
			{Name: "amount_to_collect", Label: "Monto por cobrar", Kind: forms.Money, Hint: "Lo que el motorizado cobra al entregar. Ejemplo: 89.90. Vacío: nada."},
			{Name: "payment_type", Label: "Forma de cobro", Kind: forms.Choice, Hint: "Con un monto siempre es contra entrega.", Options: []forms.Option{
				{Value: "", Label: "Según el monto"},
				{Value: string(models.CashOnDelivery), Label: "Contra entrega, monto por definir"},
				{Value: string(models.DeliveryOnly), Label: "Solo entrega"},
			}},
		}},
	}
}

var docTypeOptions = []forms.Option{
	{Value: "", Label: "Sin documento"},
	{Value: string(models.DocDNI), Label: "DNI"},
	{Value: string(models.DocCE), Label: "Carné de extranjería"},
	{Value: string(models.DocPassport), Label: "Pasaporte"},
	{Value: string(models.DocOther), Label: "Otro"},
}

func packageFields(caller orders.Caller, choices *orders.Choices) []forms.Field {
	fields := []forms.Field{{Name: "product", Label: "Contenido", Kind: forms.Text, Required: true, Wide: true, Hint: "Qué hay en el paquete, en una línea."}}
	if len(choices.Sizes) > 0 {
		fields = append(fields, SizeField(caller.Operator.Currency, choices.Sizes))
	}
	if caller.StoreID == nil {
		fields = append(fields, forms.Field{Name: "store_id", Label: "Tienda", Kind: forms.Choice, Options: forms.StoreOptions("Ninguna: pedido del operador", choices.Stores, "")})
	}
	if len(choices.Branches) > 1 {
		fields = append(fields, branchField(choices.Branches))
	}
	fields = append(fields, forms.Field{Name: "external_id", Label: "Número de la tienda", Kind: forms.Text, Hint: "El que el pedido tiene en el sistema de la tienda."})
	return append(fields, forms.Field{Name: "notes", Label: "Notas para el despacho", Kind: forms.Area, Wide: true})
}

// SizeField offers the sizes, the default one first chosen.
func SizeField(currency string, sizes []models.Size) forms.Field {
	f := forms.Field{Name: "size", Label: "Talla", Kind: forms.Choice}
	for _, size := range sizes {
		label := size.Name + " (" + size.Code + ")"
		if size.Surcharge > 0 {
			label += " + " + format.Amount(size.Surcharge, currency)
		}
		f.Options = append(f.Options, forms.Option{Value: size.Code, Label: label})
		if size.IsDefault {
			f.Value = size.Code
		}
	}
	return f
}

func branchField(branches []models.Branch) forms.Field {
	f := forms.Field{Name: "branch_id", Label: "Sucursal que recibe", Kind: forms.Choice}
	for _, branch := range branches {
		label := branch.Name
		if branch.Main {
			f.Value, label = branch.ID.String(), label+" (principal)"
		}
		f.Options = append(f.Options, forms.Option{Value: branch.ID.String(), Label: label})
	}
	return f
}

// columns are the columns of the template, and then the other accepted ones.
var columns = []Column{
	{Column: named("destinatario", "nombre", "cliente", "nombre del destinatario", "nombre y apellido"), Member: "recipient_name", Required: true, Help: "Nombre de quien recibe.", Example: "Rosa Díaz"},
	{Column: named("telefono", "celular", "movil", "telefono del destinatario", "nro de telefono"), Member: "recipient_phone", Required: true, Help: "Con o sin código de país.", Example: "987654321", take: takeDigits},
	{Column: named("direccion", "direccion de entrega", "domicilio"), Member: "delivery_address", Required: true, Help: "Como se la diría al motorizado.", Example: "Av. Larco 345, dpto. 201"},
	{Column: named("referencia", "referencias"), Member: "delivery_reference", Help: "Algo que ayude a llegar.", Example: "Frente al parque"},
	{Column: named(placeColumn, "distrito o zona", "zona", "destino", "ubicacion"), Member: "location_id", Required: true, Help: "Distrito o zona por su nombre. Si hay varios iguales: «Miraflores, Lima». En su lugar sirve la columna ubigeo.", take: takePlace},
	{Column: named("producto", "contenido", "paquete", "descripcion"), Member: "product", Required: true, Help: "Qué hay en el paquete.", Example: "Zapatillas"},
	{Column: named(sizeColumn, "tamano", "size"), Member: "size", Help: "Código de talla del operador. Vacío: la talla habitual.", take: takeSize},
	{Column: named("monto_a_cobrar", "monto", "monto por cobrar", "cobrar"), Member: "amount_to_collect", Help: "Lo que se cobra al entregar: 89.90 u 89,90. Vacío: nada.", Example: "89.90", take: takeAmount},
	{Column: named("tipo_documento", "tipo de documento", "tipo doc"), Member: "recipient_doc_type", Help: "DNI, CE, pasaporte u otro.", take: oneOf(docTypeSpellings, "debe ser DNI, CE, pasaporte u otro")},
	{Column: named("documento", "numero de documento", "nro documento"), Member: "recipient_doc_number", Help: "Número del documento.", take: takeDigits},
	{Column: named("notas", "observaciones", "comentarios", "instrucciones"), Member: "notes", Help: "Instrucciones para el despacho.", Example: "Ejemplo: reemplace esta fila"},
	{Column: named("enlace_mapa", "enlace del mapa", "mapa", "google maps", "link"), Member: "delivery_maps_url", Help: "Enlace de mapa que envió el cliente."},
	{Column: named("lat", "latitud"), Member: "delivery_lat", Help: "Punto exacto, en lugar del enlace.", take: takeCoordinate},
	{Column: named("lng", "longitud", "lon", "long"), Member: "delivery_lng", Help: "Junto con lat.", take: takeCoordinate},
	{Column: named(storeColumn, "nombre de la tienda"), Member: "store_id", Help: "Nombre de la tienda que envía.", operatorOnly: true, take: takeStore},
	{Column: named(codeColumn, "codigo", "numero", "nro", "nro de pedido", "numero de pedido", "pedido", "id"), Member: "external_id", Help: "Su propio número de pedido. Se guarda y se puede buscar; durante 24 horas no se crea dos veces.", take: takeDigits},

	{Column: named(ubigeoColumn, "codigo ubigeo"), Help: "Código INEI de seis cifras, en lugar del distrito.", NotInTemplate: true},
	{Column: named("tipo_de_cobro", "forma de cobro", "tipo de pago", "forma de pago"), Member: "payment_type", Help: "Contra entrega o solo entrega. Con un monto siempre es contra entrega.", NotInTemplate: true, take: oneOf(paymentSpellings, "debe ser contra entrega o solo entrega")},
	{Column: named("tipo_de_entrega", "entrega"), Member: "delivery_type", Help: "Domicilio o agencia.", NotInTemplate: true, take: oneOf(deliverySpellings, "debe ser domicilio o agencia")},
	{Column: named("sucursal"), Member: "branch_id", Help: "Sucursal del operador que recibe el paquete.", NotInTemplate: true, take: takeBranch},
}

// numberMembers are read as numbers.
var numberMembers = map[string]jsonbody.FormField{"amount_to_collect": jsonbody.FormNumber, "delivery_lat": jsonbody.FormNumber, "delivery_lng": jsonbody.FormNumber}

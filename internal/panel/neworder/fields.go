package neworder

import (
	"strings"
	"time"

	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/places"
	"despacho/models"
)

// field is a field of an order: how the form of a new order asks for it, which column of an
// uploaded file has it, and how the order's page and a download show it.
type field struct {
	// Field is its field of the form; Name is the member of a creation request, and Hint also says
	// what to write in the column.
	forms.Field
	group string
	// offer fills in what the form offers to the caller; it is false if the form has no such field.
	offer func(*forms.Field, orders.Caller, *places.Destinations) bool

	column Column
	// download is its column in a download, if it has one.
	download string
	// text is what an order has in it; without one its page has another place for it. fact is how its
	// page says it, if that is not the text.
	text, fact func(Shown) string
}

// Shown is an order with the names of what it refers to, in the time zone of its operator.
type Shown struct {
	*orders.View
	Place, Store, Branch string
	Zone                 *time.Location
}

var (
	docTypes = []forms.Option{
		{Value: string(models.DocDNI), Label: "DNI"},
		{Value: string(models.DocCE), Label: "Carné de extranjería"},
		{Value: string(models.DocPassport), Label: "Pasaporte"},
		{Value: string(models.DocOther), Label: "Otro documento"},
	}
	deliveryTypes = []forms.Option{
		{Value: string(models.DeliveryHome), Label: "A domicilio"},
		{Value: string(models.DeliveryAgency), Label: "En agencia"},
	}
	// PaymentTypes are the payment types with their names.
	PaymentTypes = []forms.Option{
		{Value: string(models.CashOnDelivery), Label: "Contra entrega"},
		{Value: string(models.DeliveryOnly), Label: "Solo entrega: no se cobra"},
	}
)

// fields are the fields of an order in the order of the form. One without a name is a column of a
// file alone.
var fields = []field{
	{
		group: recipientGroup, Field: forms.Field{Name: "recipient_name", Label: "Destinatario", Kind: forms.Text, Required: true,
			Focus: true},
		column: Column{
			Column: named(nameColumn, "nombre", "cliente", "nombre del destinatario", "nombre y apellido"),
			Help:   "Nombre de quien recibe.", Example: exampleMark + " Rosa Díaz",
		},
		download: "destinatario", text: func(o Shown) string { return o.RecipientName },
	},
	{
		group: recipientGroup, Field: forms.Field{
			Name: "recipient_phone", Label: "Teléfono", Kind: forms.Phone, Required: true,
			Hint: "Con código de país si no es de aquí. Ejemplo: 987 654 321.",
		},
		column: Column{
			Column:  named("telefono", "celular", "movil", "telefono del destinatario", "nro de telefono"),
			Example: "987654321", take: takeDigits,
		},
		download: "telefono", text: func(o Shown) string { return o.RecipientPhone },
	},
	{
		group: recipientGroup, Field: forms.Field{
			Name: "recipient_doc_type", Label: "Documento", Kind: forms.Choice,
			Options: append([]forms.Option{{Value: "", Label: "Sin documento"}}, docTypes...),
		},
		column: Column{
			Column: named("tipo_documento", "tipo de documento", "tipo doc"), Help: "DNI, CE, pasaporte u otro.",
			take: oneOf(docTypeSpellings, "debe ser DNI, CE, pasaporte u otro"),
		},
	},
	{
		group: recipientGroup, Field: forms.Field{
			Name: "recipient_doc_number", Label: "Número de documento", Kind: forms.Text,
			Hint: "Un DNI se verifica después de crear el pedido.",
		},
		column: Column{Column: named("documento", "numero de documento", "nro documento"), take: takeDigits},
		text: func(o Shown) string {
			return strings.TrimSpace(labelOf(docTypes, (*string)(o.RecipientDocType)) + " " + orEmpty(o.RecipientDocNumber))
		},
	},
	{
		group: deliveryGroup, Field: forms.Field{
			Name: "location_id", Label: "Distrito", Kind: forms.Destination, Required: true,
			Hint: "Distrito o zona: decide la tarifa. Escriba y elija de la lista.",
		},
		offer: func(f *forms.Field, _ orders.Caller, destinations *places.Destinations) bool {
			f.Suggestions = destinations.Offered()
			return true
		},
		column: Column{
			Column: named(placeColumn, "distrito o zona", "zona", "destino", "ubicacion"), take: takePlace,
			Help: "Distrito o zona por su nombre. Si hay varios iguales: «Miraflores, Lima». En su lugar sirve la columna ubigeo.",
		},
		download: "distrito", text: func(o Shown) string { return o.Place },
	},
	{
		column: Column{
			Column: named(ubigeoColumn, "codigo ubigeo"), NotInTemplate: true,
			Help: "Código INEI de seis cifras, en lugar del distrito.",
		},
	},
	{
		group: deliveryGroup, Field: forms.Field{Name: "delivery_type", Label: "Tipo de entrega", Kind: forms.Choice,
			Options: deliveryTypes},
		column: Column{
			Column: named("tipo_de_entrega", "entrega"), Help: "Domicilio o agencia.", NotInTemplate: true,
			take: oneOf(deliverySpellings, "debe ser domicilio o agencia"),
		},
		text: func(o Shown) string { return labelOf(deliveryTypes, (*string)(&o.DeliveryType)) },
	},
	{
		group: deliveryGroup, Field: forms.Field{
			Name: "delivery_address", Label: "Dirección", Kind: forms.Text, Required: true, Wide: true,
			Hint: "Como se la diría al motorizado.",
		},
		column:   Column{Column: named("direccion", "direccion de entrega", "domicilio"), Example: "Av. Larco 345, dpto. 201"},
		download: "direccion", text: func(o Shown) string { return o.DeliveryAddress },
	},
	{
		group: deliveryGroup, Field: forms.Field{
			Name: "delivery_reference", Label: "Referencia", Kind: forms.Text, Wide: true,
			Hint: "Ejemplo: frente al parque, portón verde.",
		},
		column: Column{Column: named("referencia", "referencias"), Help: "Algo que ayude a llegar.",
			Example: "Frente al parque"},
		download: "referencia", text: func(o Shown) string { return orEmpty(o.DeliveryReference) },
	},
	{
		group: deliveryGroup, Field: forms.Field{
			Name: "delivery_maps_url", Label: "Enlace del mapa", Kind: forms.Text, Wide: true,
			Hint: "El que envía el cliente, corto o largo: https://maps.app.goo.gl/…",
		},
		column: Column{Column: named("enlace_mapa", "enlace del mapa", "mapa", "google maps", "link")},
	},
	{
		group: deliveryGroup, Field: forms.Field{
			Name: "delivery_lat", Label: "Latitud", Kind: forms.Number,
			Hint: "Ejemplo: -12.1211. Con el punto exacto, el enlace sobra.",
		},
		column: Column{Column: named("lat", "latitud"), Help: "Punto exacto, en lugar del enlace.", take: takeCoordinate},
	},
	{
		group: deliveryGroup, Field: forms.Field{Name: "delivery_lng", Label: "Longitud", Kind: forms.Number,
			Hint: "Ejemplo: -77.0297."},
		column: Column{Column: named("lng", "longitud", "lon", "long"), Help: "Junto con lat.", take: takeCoordinate},
	},
	{
		group: packageGroup, Field: forms.Field{
			Name: "product", Label: "Producto", Kind: forms.Text, Required: true, Wide: true,
			Hint: "Qué hay en el paquete, en una línea.",
		},
		column:   Column{Column: named("producto", "contenido", "paquete", "descripcion"), Example: "Zapatillas"},
		download: "producto", text: func(o Shown) string { return o.Product },
	},
	{
		group: packageGroup, Field: forms.Field{Name: "size", Label: "Tamaño", Kind: forms.Choice},
		offer: func(f *forms.Field, caller orders.Caller, destinations *places.Destinations) bool {
			*f = SizeField(caller.Operator.Currency, destinations.Choices.Sizes)
			return len(f.Options) > 0
		},
		column: Column{
			Column: named(sizeColumn, "talla", "size"), Help: "Código de tamaño del operador. Vacío: el tamaño habitual.",
			take: takeSize,
		},
		download: "tamano", text: func(o Shown) string { return o.Size },
	},
	{
		group: packageGroup, Field: forms.Field{Name: "store_id", Label: "Tienda", Kind: forms.Choice},
		offer: func(f *forms.Field, caller orders.Caller, destinations *places.Destinations) bool {
			f.Options = forms.StoreOptions(NoStore, destinations.Choices.Stores, "")
			return caller.StoreID == nil
		},
		column: Column{
			Column: named(storeColumn, "nombre de la tienda"), Help: "Nombre de la tienda que envía.", operatorOnly: true,
			take: takeStore,
		},
		download: "tienda", text: func(o Shown) string { return o.Store },
	},
	{
		group: packageGroup, Field: forms.Field{Name: "branch_id", Label: "Sucursal que recibe", Kind: forms.Choice},
		offer: offerBranches,
		column: Column{
			Column: named("sucursal"), Help: "Sucursal del operador que recibe el paquete.", NotInTemplate: true,
			take: takeBranch,
		},
		text: func(o Shown) string { return o.Branch },
	},
	{
		group: packageGroup, Field: forms.Field{
			Name: "external_id", Label: "N.º de pedido de la tienda", Kind: forms.Text,
			Hint: "El que el pedido tiene en el sistema de la tienda.",
		},
		column: Column{
			Column: named(codeColumn, "codigo_externo", "codigo", "numero", "nro", "nro de pedido", "numero de pedido", "pedido", "id"),
			take:   takeDigits,
			Help:   "Su propio número de pedido. Se guarda y se puede buscar; durante 24 horas no se crea dos veces.",
		},
		download: codeColumn, text: func(o Shown) string { return orEmpty(o.ExternalID) },
	},
	{
		group: packageGroup, Field: forms.Field{Name: "notes", Label: "Notas para el despacho", Kind: forms.Area, Wide: true},
		column: Column{
			Column: named("notas", "observaciones", "comentarios", "instrucciones"), Help: "Instrucciones para el despacho.",
			Example: "Llamar antes",
		},
		download: "notas", text: func(o Shown) string { return orEmpty(o.Notes) },
	},
	{
		group: paymentGroup, Field: forms.Field{
			Name: "amount_to_collect", Label: "Monto por cobrar", Kind: forms.Money,
			Hint: "Lo que el motorizado cobra al entregar. Ejemplo: 89.90. Vacío: nada.",
		},
		column: Column{
			Column: named("monto_a_cobrar", "monto", "monto por cobrar", "cobrar"), Example: "89.90", take: takeAmount,
			Help: "Lo que se cobra al entregar: 89.90 u 89,90. Vacío: nada.",
		},
		download: "monto_a_cobrar", text: func(o Shown) string { return o.AmountToCollect.String() }, fact: agreedAmount,
	},
	{
		group: paymentGroup, Field: forms.Field{
			Name: "payment_type", Label: "Forma de cobro", Kind: forms.Choice, Hint: "Con un monto siempre es contra entrega.",
			Options: append([]forms.Option{{Value: "", Label: "Según el monto"}}, PaymentTypes...),
		},
		column: Column{
			Column: named("tipo_de_cobro", "forma de cobro", "tipo de pago", "forma de pago"), NotInTemplate: true,
			Help: "Contra entrega o solo entrega. Con un monto siempre es contra entrega.",
			take: oneOf(paymentSpellings, "debe ser contra entrega o solo entrega"),
		},
		text: func(o Shown) string { return labelOf(PaymentTypes, (*string)(&o.PaymentType)) },
	},
}

package panel

import (
	"cmp"
	"unicode"
	"unicode/utf8"

	"despacho/internal/identity"
	"despacho/internal/maplink"
	"despacho/models"
)

// actorWords name who did something, in the timeline and in cancellations. The operator is named by
// its name.
var actorWords = map[string]string{
	string(models.ByStore):     "La tienda",
	string(models.ByAuto):      "Automático",
	string(models.ByRider):     "El motorizado",
	string(models.ByRecipient): "El destinatario",
	models.BySystem:            "El sistema",
}

// actorName names an actor whose person is not known.
func actorName(v *Request, actor string) string {
	if actor == string(models.ByOperator) {
		return v.Operator().Name
	}
	return actorWords[actor]
}

// whoDid names who made an entry of the timeline: a person of the operator, or a party with the
// person or the key, as far as the user may know.
func whoDid(v *Request, entry models.TimelineView) string {
	name := cmp.Or(orEmpty(entry.UserName), orEmpty(entry.KeyName))
	switch {
	case entry.By == string(models.ByRider) && entry.RiderName != nil:
		return *entry.RiderName
	case name == "":
		return actorName(v, entry.By)
	case entry.By == string(models.ByOperator) && entry.UserName != nil:
		return name
	}
	return actorName(v, entry.By) + ": " + name
}

// pointWords name the source of coordinates, which tells how reliable they are.
var pointWords = map[string]string{
	models.PointGiven:              "enviado por la tienda",
	models.PointByOperator:         "completado por el operador",
	string(maplink.SourcePin):      "leído del marcador del enlace de mapa",
	string(maplink.SourceQuery):    "leído de la búsqueda del enlace de mapa",
	string(maplink.SourcePath):     "leído de la dirección del enlace de mapa",
	string(maplink.SourceViewport): "centro del mapa del enlace: puede ser aproximado",
}

var identityWords = map[string]string{
	string(identity.Found):              "El registro conoce el DNI",
	string(identity.NotFound):           "El registro no conoce el DNI",
	string(identity.Invalid):            "El número no es de un DNI",
	string(identity.Unavailable):        "El registro no respondió",
	string(identity.QuotaOrCredentials): "El registro no aceptó la consulta",
}

// identityResult is the result of the check of the recipient's DNI.
func identityResult(verified *bool, outcome *string, nameMatches *bool) cell {
	if verified == nil {
		return cell{Text: "Todavía sin verificar", Style: "quiet"}
	}
	words := cmp.Or(identityWords[orEmpty(outcome)], "Sin respuesta del registro")
	switch {
	case *verified:
		return cell{Text: "Verificado: el nombre coincide", Style: "good"}
	case nameMatches != nil && !*nameMatches:
		return cell{Text: words + ", pero con otro nombre", Style: "bad"}
	}
	return cell{Text: words, Style: "warn"}
}

// entryTexts describe the entries of the timeline.
var entryTexts = map[string]string{
	models.TimelineCreated:           "Pedido registrado",
	string(models.MoveReceive):       "Paquete recibido",
	string(models.MoveAssign):        "Asignado a un motorizado",
	string(models.MoveDeliver):       "Entregado",
	string(models.MoveFail):          "No se pudo entregar",
	string(models.MoveRetry):         "Se intenta otra vez",
	string(models.MoveReturn):        "Se devuelve a la tienda",
	string(models.MoveHandBack):      "Entregado a la tienda",
	string(models.MoveUndo):          "Se deshizo el último cambio",
	string(models.StatusCancelled):   "Cancelado",
	models.TimelineActRefused:        "No se aceptó lo que registró el motorizado",
	models.TimelinePointResolved:     "Punto encontrado en el enlace de mapa",
	models.TimelinePointUnresolved:   "El enlace de mapa no dio un punto",
	models.TimelinePointCompleted:    "Punto en el mapa completado",
	models.TimelinePointCorrected:    "Punto en el mapa corregido",
	models.TimelineDeliveryCorrected: "Entrega corregida",
}

// lowerFirst is a label within a sentence.
func lowerFirst(label string) string {
	first, size := utf8.DecodeRuneInString(label)
	return string(unicode.ToLower(first)) + label[size:]
}

package web

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"despacho/models"
)

// statusTexts are the texts of a status for a customer.
type statusTexts struct {
	// summary is what the status means; advice is what to expect or do.
	summary, advice string
	// entry is the text of the status change in the timeline.
	entry string
}

var statusWords = map[models.Status]statusTexts{
	models.StatusRegistered: {
		"La tienda preparó tu pedido; aún no llega al operador.",
		"Cuando el operador lo reciba, lo verás aquí.",
		"La tienda registró tu pedido",
	},
	models.StatusReceived: {
		"El operador ya tiene tu pedido.",
		"Pronto saldrá a reparto.",
		"El operador recibió el paquete",
	},
	models.StatusAssigned: {
		"Tu pedido está en camino.",
		"Mantente atento al teléfono.",
		"Salió a reparto",
	},
	models.StatusDelivered: {
		"Tu pedido fue entregado.",
		"¿No lo recibiste? Comunícate con la tienda donde compraste.",
		"Se entregó el paquete",
	},
	models.StatusCancelled: {
		"El envío se canceló y el paquete no llegará con este código.",
		"Comunícate con la tienda donde compraste: puede explicarte el motivo y hacer un nuevo envío.",
		"Se canceló el envío",
	},
}

// lateTexts are for a package that the store did not hand over in time.
var lateTexts = statusTexts{
	"El envío se canceló porque el paquete no llegó a tiempo al operador.",
	"Comunícate con la tienda donde compraste. Si entrega el paquete al operador, el envío continúa con este mismo código.",
	"Se canceló el envío",
}

func textsFor(status models.Status, revivable bool) statusTexts {
	if status == models.StatusCancelled && revivable {
		return lateTexts
	}
	return statusWords[status]
}

var months = [...]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
	"noviembre", "diciembre"}

// longDate formats a time in Spanish: 10 de marzo de 2026, 3:04 p. m.
func longDate(at time.Time) string {
	half := "a.\u00a0m."
	if at.Hour() >= 12 {
		half = "p.\u00a0m."
	}
	// The spaces in and before the abbreviation are non-breaking, as Spanish typography requires.
	return fmt.Sprintf("%d de %s de %d, %s\u00a0%s", at.Day(), months[at.Month()-1], at.Year(), at.Format("3:04"), half)
}

func inSeconds(wait time.Duration) string {
	if whole := int(math.Ceil(wait.Seconds())); whole != 1 {
		return strconv.Itoa(whole) + " segundos"
	}
	return "1 segundo"
}

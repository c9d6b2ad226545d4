package web

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"despacho/models"
)

// stateTexts are the texts of the state of a package for a customer: its title, what it means, and
// what to expect or do.
type stateTexts struct{ title, summary, advice string }

var statusWords = map[models.Status]stateTexts{
	models.StatusRegistered: {
		"Registrado", "La tienda preparó tu pedido; aún no llega al operador.", "Cuando el operador lo reciba, lo verás aquí.",
	},
	models.StatusReceived:  {"Recibido", "El operador ya tiene tu pedido.", "Pronto saldrá a reparto."},
	models.StatusAssigned:  {"En reparto", "Tu pedido está en camino.", "Mantente atento al teléfono."},
	models.StatusDelivered: {"Entregado", "Tu pedido fue entregado.", "¿No lo recibiste? Comunícate con la tienda donde compraste."},
	models.StatusCancelled: {
		"Cancelado", "El envío se canceló y el paquete no llegará con este código.",
		"Comunícate con la tienda donde compraste: puede explicarte el motivo y hacer un nuevo envío.",
	},
}

// lateTexts are for a package that the store did not hand over in time.
var lateTexts = stateTexts{
	"Cancelado", "El envío se canceló porque el paquete no llegó a tiempo al operador.",
	"Comunícate con la tienda donde compraste. Si entrega el paquete al operador, el envío continúa con este mismo código.",
}

// The advice after a failed attempt: while nobody has decided, and once the package goes back.
const (
	undecidedAdvice = "La tienda o el operador decidirá qué sigue y lo verás aquí. Si te enviaron un enlace, puedes elegir el día."
	returnAdvice    = "Comunícate con la tienda donde compraste: puede explicarte el motivo y hacer un nuevo envío."
)

// failureTexts say why an attempt failed, to the customer and in the timeline. The timeline says
// only that it failed where there is nothing to add.
var failureTexts = map[models.FailureReason]struct{ summary, entry string }{
	models.FailedAbsent:       {"Fuimos a entregar tu pedido y no había nadie.", "no había nadie"},
	models.FailedNoAnswer:     {"Fuimos a entregar tu pedido y nadie contestó.", "nadie contestó"},
	models.FailedWrongAddress: {"No encontramos la dirección de tu pedido.", "no se encontró la dirección"},
	models.FailedRefused:      {"Fuimos a entregar tu pedido y no lo recibieron.", "no lo recibieron"},
	models.FailedNoMoney:      {"Fuimos a entregar tu pedido y no se pudo completar el pago.", "no se pudo completar el pago"},
	models.FailedRescheduled:  {"Nos pidieron entregar tu pedido otro día.", "se pidió otro día"},
	models.FailedOutOfTime:    {"No alcanzamos a llegar con tu pedido.", "no alcanzó el tiempo"},
	models.FailedUnsafe:       {"No pudimos llegar hasta tu dirección.", "no se pudo llegar a la dirección"},
}

func textsFor(t Tracking) stateTexts {
	failed := failureTexts[t.Reason].summary
	if failed == "" {
		failed = "No pudimos entregar tu pedido."
	}
	switch {
	case t.Substatus.Undecided():
		return stateTexts{"No se pudo entregar", failed, undecidedAdvice}
	case t.Substatus == models.SubstatusRetryPlanned:
		return stateTexts{"Iremos otra vez", failed + " Volveremos " + nextAttempt(t.NextAttemptOn, t.Today) + ".",
			"Mantente atento al teléfono ese día."}
	case t.Substatus == models.SubstatusReturning:
		return stateTexts{"De vuelta a la tienda", failed + " El paquete vuelve a la tienda.", returnAdvice}
	case t.Substatus == models.SubstatusReturned:
		return stateTexts{"Devuelto a la tienda", "No se pudo entregar y el paquete está otra vez en la tienda.", returnAdvice}
	case t.Status == models.StatusCancelled && t.Revivable:
		return lateTexts
	}
	return statusWords[t.Status]
}

// nextAttempt says when the next attempt is made. A day that is over is not named: the package goes
// out as soon as it can.
func nextAttempt(on, today string) string {
	day, err := time.Parse(time.DateOnly, on)
	switch {
	case err != nil || on < today:
		return "pronto"
	case on == today:
		return "hoy"
	}
	return "el " + longDay(day)
}

var entryTexts = map[string]string{
	models.TimelineCreated:         "La tienda registró tu pedido",
	string(models.MoveReceive):     "El operador recibió el paquete",
	string(models.MoveAssign):      "Salió a reparto",
	string(models.MoveDeliver):     "Se entregó el paquete",
	string(models.StatusCancelled): "Se canceló el envío",
	string(models.MoveFail):        "No se pudo entregar",
	string(models.MoveRetry):       "Se intentará otra vez",
	string(models.MoveReturn):      "El paquete vuelve a la tienda",
	string(models.MoveHandBack):    "Se devolvió a la tienda",
}

// entryText is an event in the timeline. cameBack is a reception of what was with a rider.
func entryText(event Event, cameBack bool) string {
	text := entryTexts[event.Type]
	switch models.Move(event.Type) {
	case models.MoveReceive:
		if cameBack {
			return "El paquete volvió al operador"
		}
	case models.MoveFail:
		if why := failureTexts[event.Reason].entry; why != "" {
			return text + ": " + why
		}
	case models.MoveRetry:
		if day, err := time.Parse(time.DateOnly, event.On); err == nil {
			return text + " el " + longDay(day)
		}
	}
	return text
}

var months = [...]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
	"noviembre", "diciembre"}

var weekdays = [...]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"}

// longDay formats a day in Spanish: jueves 12 de marzo.
func longDay(day time.Time) string {
	return fmt.Sprintf("%s %d de %s", weekdays[day.Weekday()], day.Day(), months[day.Month()-1])
}

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

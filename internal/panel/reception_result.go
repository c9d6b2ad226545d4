package panel

import (
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/summarycharts"
	"despacho/models"
)

// tone is the colour and sound of a result, for somebody who scans packages without looking at the
// screen.
type tone string

const (
	toneGood tone = "good"
	toneWarn tone = "warn"
	toneBad  tone = "bad"
)

// receptionResult is the result of a scan.
type receptionResult struct {
	Outcome orders.ReceptionOutcome
	Tone    tone
	Title   string
	// Code is the order's guide code, or the scanned text if it is none.
	Code   string
	Detail string
	Order  *orders.View
	// Risk warns of a risk zone, OtherBranch that the package was expected at another branch, NoPoint
	// that the order has no coordinates.
	Risk, OtherBranch string
	NoPoint           bool
	// NextDay is set where somebody has to decide: the operator's next day. Back is the page to
	// come back to.
	NextDay, Back string
}

func (p *Pages) resultOf(v *Request, page *receptionPage, received *orders.Reception, typed string) (*receptionResult, error) {
	answer := page.describe(v, received, typed)
	order := received.Order
	if order == nil || order.Substatus == nil || order.Status != models.StatusReceived {
		return answer, nil
	}
	if order.Substatus.Undecided() {
		answer.NextDay, answer.Back = format.LongDay(p.nextDays(v.Operator())[0].Value), page.Here()
	}
	next := nextStep(v.Operator().TimeZone(), order)
	if *order.Substatus == models.SubstatusReturning && order.StoreID != nil {
		details, err := p.Orders.Details(v.Ctx(), v.Caller, []uuid.UUID{order.ID})
		if err != nil {
			return nil, err
		}
		next = "por devolver a " + details[0].StoreName
	}
	answer.Detail += " " + lastAttempt(order) + " · " + next + "."
	if *order.Substatus != models.SubstatusRetryPlanned {
		answer.Tone = toneWarn
	}
	return answer, nil
}

// lastAttempt says which attempt failed last, and why.
func lastAttempt(order *orders.View) string {
	if len(order.FailedAttempts) == 0 {
		return "Sin intentos"
	}
	last := order.FailedAttempts[len(order.FailedAttempts)-1]
	return "Intento " + strconv.Itoa(last.Number) + ": " + lowerFirst(last.Reason.Label())
}

func (p *receptionPage) describe(v *Request, received *orders.Reception, typed string) *receptionResult {
	answer := &receptionResult{Outcome: received.Outcome, Tone: toneBad, Code: truncate(typed, maxShownScan),
		Order: received.Order}
	if received.Order != nil {
		answer.Code = received.Order.GuideCode
	}
	switch received.Outcome {
	case orders.ReceptionDone:
		answer.Tone, answer.Title = toneGood, "Recibido"
		p.warn(answer, received)
	case orders.ReceptionRevived:
		answer.Tone, answer.Title = toneGood, "Recibido y reactivado"
		answer.Detail = "Estaba cancelado por falta de recepción: vuelve a estar en curso."
		p.warn(answer, received)
	case orders.ReceptionTakenBack:
		answer.Tone, answer.Title, answer.Detail = toneGood, "De vuelta", "Vuelve de "+received.Rider.Name+"."
		if p.Load != nil && received.Rider.Name != p.Load.Rider.Name {
			answer.Tone, answer.Detail = toneWarn, "No era de esta carga: vuelve de "+received.Rider.Name+"."
		}
	case orders.ReceptionRepeated:
		answer.Tone, answer.Title = toneWarn, "Ya estaba recibido"
		answer.Detail = "Se recibió" + onDay(v, received.Order.ReceivedAt) + "."
	case orders.ReceptionRefused:
		answer.Title, answer.Detail = "No se recibe", whyNotReceived(v, received.Order)
	default:
		problem := scanProblems[received.Outcome]
		answer.Title, answer.Detail = problem.Title, problem.Detail
	}
	return answer
}

// scanProblems are the texts about a scan that names no order.
var scanProblems = map[orders.ReceptionOutcome]struct{ Title, Detail string }{
	orders.ReceptionUnknown: {"Guía desconocida", "No es una guía de este operador."},
	orders.ReceptionMisread: {"Código mal leído", "El dígito de control no coincide: escanee de nuevo o revise lo que escribió."},
	orders.ReceptionNotACode: {"No es un código de guía",
		"Un código de guía tiene 11 letras y números. Escanee la etiqueta del envío."},
}

func (p *receptionPage) warn(answer *receptionResult, received *orders.Reception) {
	if received.RiskZone != nil {
		answer.Risk = "Zona de riesgo: " + *received.RiskZone
	}
	if received.ExpectedAt != received.Order.BranchID {
		answer.OtherBranch = "Se esperaba en " + p.BranchName(received.ExpectedAt) + "."
	}
	answer.NoPoint = received.Order.DeliveryLat == nil
}

// whyNotReceived explains the order's status before the scan.
func whyNotReceived(v *Request, order *orders.View) string {
	switch order.Status {
	case models.StatusAssigned:
		return "Está en reparto" + withRider(order) + sinceDay(v, order.AssignedAt) + "."
	case models.StatusDelivered:
		return "Ya se entregó" + onDay(v, order.DeliveredAt) + "."
	case models.StatusCancelled:
		return whoCancelled(order) + onDay(v, order.CancelledAt) + cancelReason(order) +
			". Una cancelación hecha por una persona es definitiva: aparte el paquete."
	}
	return "Su estado es " + order.StatusLabel + "."
}

func withRider(order *orders.View) string {
	if order.Rider == nil {
		return ""
	}
	return " con " + order.Rider.Name
}

func whoCancelled(order *orders.View) string {
	if order.Cancellation != nil && order.Cancellation.By == models.ByStore {
		return "Lo canceló la tienda"
	}
	return "Lo canceló el operador"
}

func cancelReason(order *orders.View) string {
	if order.Cancellation == nil || order.Cancellation.Reason == nil {
		return ""
	}
	return " («" + summarycharts.CancelReason(*order.Cancellation.Reason) + "»)"
}

func sinceDay(v *Request, at *time.Time) string {
	if at == nil {
		return ""
	}
	return " desde" + onDay(v, at)
}

func onDay(v *Request, at *time.Time) string {
	if at == nil {
		return ""
	}
	return " el " + at.In(v.Operator().TimeZone()).Format("02/01/2006 a las 15:04")
}

// notReceived is the result for an error of the use case: nil for an internal error.
func notReceived(err error, typed string) (status int, answer *receptionResult) {
	answer = &receptionResult{Tone: toneBad, Code: truncate(typed, maxShownScan)}
	switch f := apperror.From(err); f.Kind {
	case apperror.Unavailable:
		answer.Title, answer.Detail = "Sin confirmar", "No se sabe si quedó recibido: escanéelo otra vez en unos segundos."
		return http.StatusServiceUnavailable, answer
	case apperror.Invalid:
		answer.Title, answer.Detail = "No se recibió", f.Message
		if len(f.Fields) > 0 {
			answer.Detail = "La sucursal " + f.Fields[0].Message + ": elija otra y escanee de nuevo."
		}
		return http.StatusUnprocessableEntity, answer
	}
	return 0, nil
}

// maxShownScan is how much is shown of a text that was scanned.
const maxShownScan = 60

// truncate shortens a text to the given number of characters.
func truncate(typed string, longest int) string {
	if runes := []rune(typed); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return typed
}

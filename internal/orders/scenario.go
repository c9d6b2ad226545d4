package orders

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/identity"
	"despacho/models"
)

// Scenario is what happens to a test order. The last digits of recipient_phone choose it.
type Scenario struct {
	Digits string
	// English and Spanish say what happens, for the documentation.
	English, Spanish string

	steps []scenarioStep
	// photo is a delivery with a photo and half of the amount.
	photo bool
	// dniUnavailable is a registry that does not answer, linkUnresolved a map link without a point.
	dniUnavailable, linkUnresolved bool
	// atRisk is a destination in a risk zone, notCovered one that the operator does not cover.
	atRisk, notCovered bool
	// outage is a first request that fails.
	outage bool
}

// scenarioStep is a move of a test order, and how long after the one before it is made. by is who
// makes it, if not the operator; rider is the index of the rider of an assignment.
type scenarioStep struct {
	after  time.Duration
	move   models.Move
	by     models.Actor
	rider  int
	reason string
}

const (
	stepInterval = 5 * time.Second
	// testAutoCancel is when a test order is cancelled that is never received, testRevival how long
	// after that it is received all the same.
	testAutoCancel = time.Minute
	testRevival    = 10 * time.Second
)

var (
	received   = scenarioStep{after: stepInterval, move: models.MoveReceive}
	assigned   = scenarioStep{after: stepInterval, move: models.MoveAssign}
	reassigned = scenarioStep{after: stepInterval, move: models.MoveAssign, rider: 1}
	delivered  = scenarioStep{after: stepInterval, move: models.MoveDeliver}
	cancelled  = scenarioStep{after: stepInterval, move: models.MoveCancel, reason: "Cancelación de prueba"}
	expired    = scenarioStep{after: testAutoCancel, move: models.MoveCancel, by: models.ByAuto}
	revived    = scenarioStep{after: testRevival, move: models.MoveReceive}

	absent       = scenarioStep{after: stepInterval, move: models.MoveFail, reason: string(models.FailedAbsent)}
	refused      = scenarioStep{after: stepInterval, move: models.MoveFail, reason: string(models.FailedRefused)}
	retried      = scenarioStep{after: stepInterval, move: models.MoveRetry}
	rescheduled  = scenarioStep{after: stepInterval, move: models.MoveRetry, by: models.ByStore}
	unanswered   = scenarioStep{after: testAutoCancel, move: models.MoveRetry, by: models.ByAuto}
	broughtBack  = scenarioStep{after: stepInterval, move: models.MoveReceive}
	returning    = scenarioStep{after: stepInterval, move: models.MoveReturn}
	givenBack    = scenarioStep{after: stepInterval, move: models.MoveHandBack}
	undone       = scenarioStep{after: stepInterval, move: models.MoveUndo, reason: "Se marcó otro pedido"}
	secondDay    = []scenarioStep{broughtBack, assigned, delivered}
	toFirstVisit = []scenarioStep{received, assigned, absent}

	toDelivery = []scenarioStep{received, assigned, delivered}
)

// Scenarios are those of test mode. The first is also that of every phone whose last digits are not
// in the table.
var Scenarios = []Scenario{
	{Digits: "001", English: "Delivered", Spanish: "Entregado", steps: toDelivery},
	{
		Digits: "002", English: "Delivered with a photo; of an amount to collect, half is collected",
		Spanish: "Entregado con foto; de un monto por cobrar se cobra la mitad", steps: toDelivery, photo: true,
	},
	{Digits: "003", English: "Cancelled by the operator", Spanish: "Cancelado por el operador", steps: []scenarioStep{received, cancelled}},
	{
		Digits: "004", English: "Another rider half way: `order.assigned` twice", Spanish: "Otro motorizado a mitad de camino: dos `order.assigned`",
		steps: []scenarioStep{received, assigned, reassigned, delivered},
	},
	{Digits: "005", English: "Never received: auto-cancelled", Spanish: "Nunca llega: se cancela solo", steps: []scenarioStep{expired}},
	{
		Digits: "006", English: "Auto-cancelled, then revived by a late reception",
		Spanish: "Se cancela solo y revive porque llega tarde",
		steps:   []scenarioStep{expired, revived, assigned, delivered},
	},
	{
		Digits: "007", English: "The identity registry does not answer: a DNI stays unverified",
		Spanish: "El registro de identidad no responde: un DNI queda sin verificar", steps: toDelivery, dniUnavailable: true,
	},
	{
		Digits: "008", English: "A map link cannot be resolved: no GPS point",
		Spanish: "Un enlace de mapa no se puede resolver: sin punto GPS",
		steps:   toDelivery, linkUnresolved: true,
	},
	{Digits: "009", English: "Risk zone: 201 with `warning`", Spanish: "Zona de riesgo: 201 con `warning`", steps: toDelivery, atRisk: true},
	{Digits: "010", English: "Destination not covered: 422 `not_covered`", Spanish: "Destino sin cobertura: 422 `not_covered`", notCovered: true},
	{
		Digits: "011", English: "Outage: 503 `service_unavailable` once; the same request with the same `Idempotency-Key` succeeds",
		Spanish: "Caída: 503 `service_unavailable` una vez; la misma solicitud con la misma `Idempotency-Key` se cumple", steps: toDelivery, outage: true,
	},
	{
		Digits: "012", English: "Nobody at home: one failed attempt, another one planned, delivered",
		Spanish: "No hay nadie: un intento fallido, se planea otro, se entrega", steps: slices.Concat(toFirstVisit, []scenarioStep{retried}, secondDay),
	},
	{
		Digits: "013", English: "Refused at the door and returned to the store: `order.cancelled` with reason `returned`",
		Spanish: "No lo reciben y vuelve a la tienda: `order.cancelled` con motivo `returned`",
		steps:   []scenarioStep{received, assigned, refused, returning, broughtBack, givenBack},
	},
	{
		Digits: "014", English: "Nobody at home, and the store plans another attempt (`POST /v1/orders/{id}/decision` before that does it, too)",
		Spanish: "No hay nadie y la tienda planea otro intento (también con `POST /v1/orders/{id}/decision` antes de eso)",
		steps:   slices.Concat(toFirstVisit, []scenarioStep{rescheduled}, secondDay),
	},
	{
		Digits: "015", English: "Nobody at home, and nobody decides in time: the operator's rule holds",
		Spanish: "No hay nadie y nadie decide a tiempo: vale la regla del operador", steps: slices.Concat(toFirstVisit, []scenarioStep{unanswered}, secondDay),
	},
	{
		Digits: "016", English: "Delivered by mistake, taken back (`order.updated`), then delivered",
		Spanish: "Se entrega por error, se deshace (`order.updated`) y se entrega", steps: []scenarioStep{received, assigned, delivered, undone, delivered},
	},
}

// Moves is the scenario's sequence of statuses with the seconds before each.
func (s *Scenario) Moves() string {
	var moves []string
	for _, step := range s.steps {
		to := string(step.move)
		if step.move == models.MoveCancel {
			to = string(models.StatusCancelled)
		}
		moves = append(moves, fmt.Sprintf("`%s` %d s", to, int(step.after.Seconds())))
	}
	return strings.Join(moves, ", ")
}

// scenarioOf is the scenario of a test order, by its phone; that of every other does nothing.
func scenarioOf(order *models.Order) *Scenario {
	if !order.Test {
		return &Scenario{}
	}
	for i := range Scenarios {
		if strings.HasSuffix(order.RecipientPhone, Scenarios[i].Digits) {
			return &Scenarios[i]
		}
	}
	return &Scenarios[0]
}

// TestRiders are the riders of an operator's test orders. They are not people, and not active: no
// list offers them.
func TestRiders(operatorID uuid.UUID, createdAt time.Time) []models.Rider {
	var riders []models.Rider
	for i, name := range []string{"Motorizado de prueba", "Motorizada de prueba"} {
		riders = append(riders, models.Rider{
			ID: uuid.NewSHA1(operatorID, fmt.Appendf(nil, "test rider %d", i)), OperatorID: operatorID, Test: true,
			Name: name, Phone: fmt.Sprintf("+5199900000%d", i+1), CreatedAt: createdAt,
		})
	}
	return riders
}

// TestIdentity is what the registry answers about a test order's DNI: no provider is asked.
func TestIdentity(order *models.Order) (outcome identity.Outcome, verified bool) {
	if scenarioOf(order).dniUnavailable {
		return identity.Unavailable, false
	}
	return identity.Found, true
}

// TestLinkUnresolved reports whether a test order's map link leads to no point.
func TestLinkUnresolved(order *models.Order) bool { return scenarioOf(order).linkUnresolved }

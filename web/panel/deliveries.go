package panel

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/body"
	"despacho/models"
	"despacho/webhooks"
	"despacho/workflows"
)

// deliveryLog is what the part "deliveries" shows: events that were sent to webhooks and what came of them.
type deliveryLog struct {
	Rows  []deliveryRow
	Total int64
	// Back is the page that holds the log, where sending again leads back to.
	Back string
}

type deliveryRow struct {
	ID    uuid.UUID
	Event models.Event
	// Host is whom it was sent to; Webhook leads to that webhook's own page.
	Host, Webhook string
	// Order leads to the order's page; empty for an event about none.
	Order    string
	Status   cell
	At       moment
	Attempts []attemptRow
	// Repeatable says that the visitor may have it sent again.
	Repeatable bool
}

type attemptRow struct {
	At      moment
	Outcome cell
	// Took is empty while nobody has answered yet.
	Took            string
	Error, Response string
	ByHand          bool
}

// moment is a time for people and for machines.
type moment struct{ Text, Machine string }

func momentOf(v *Visit, at time.Time) moment {
	local := at.In(v.Operator().Location())
	return moment{local.Format("02/01/2006 15:04:05"), local.Format(time.RFC3339)}
}

// deliveryLog reads a page of the delivery log that the visitor may see; back is the page that shows it.
func (p *Pages) deliveryLog(v *Visit, filter db.DeliveryFilter, back string) (*deliveryLog, error) {
	page, err := p.Webhooks.Deliveries(v.Ctx(), v.Caller.Scope(), filter)
	if err != nil {
		return nil, err
	}
	hooks, err := p.Webhooks.HooksOf(v.Ctx(), page.Records)
	if err != nil {
		return nil, err
	}
	log := &deliveryLog{Rows: make([]deliveryRow, len(page.Records)), Total: page.Total, Back: back}
	for i, record := range page.Records {
		log.Rows[i] = deliveryRowOf(v, record, hooks[record.Delivery.WebhookID])
	}
	return log, nil
}

func deliveryRowOf(v *Visit, record webhooks.Record, hook models.Webhook) deliveryRow {
	delivery := record.Delivery
	row := deliveryRow{
		ID: delivery.ID, Event: delivery.Event, Host: workflows.HostOf(hook.URL), Webhook: "/panel/webhooks/" + hook.ID.String(),
		Status: deliveryStatus(delivery.Status), At: momentOf(v, delivery.CreatedAt),
		Attempts: make([]attemptRow, len(record.Attempts)), Repeatable: hook.Active && v.May(models.AnyoneWriting),
	}
	if delivery.OrderID != nil {
		row.Order = orderPath(*delivery.OrderID)
	}
	for i, attempt := range record.Attempts {
		row.Attempts[i] = attemptRowOf(v, attempt)
	}
	return row
}

func deliveryStatus(status models.DeliveryStatus) cell {
	switch status {
	case models.DeliveryDelivered:
		return cell{"Enviado", "good"}
	case models.DeliveryFailed:
		return cell{"Fallido", "bad"}
	}
	return cell{"Pendiente", "warn"}
}

func attemptRowOf(v *Visit, attempt models.DeliveryAttempt) attemptRow {
	row := attemptRow{
		At: momentOf(v, attempt.StartedAt), Outcome: attemptOutcome(attempt), Error: orEmpty(attempt.Error), Response: orEmpty(attempt.Response),
		ByHand: attempt.Cause == models.CauseRedelivery,
	}
	if attempt.DurationMS != nil {
		row.Took = strconv.FormatInt(*attempt.DurationMS, 10) + " ms"
	}
	return row
}

func attemptOutcome(attempt models.DeliveryAttempt) cell {
	switch {
	case attempt.StatusCode != nil && *attempt.StatusCode/100 == 2 && attempt.Error == nil:
		return cell{"HTTP " + strconv.Itoa(*attempt.StatusCode), "good"}
	case attempt.StatusCode != nil:
		return cell{"HTTP " + strconv.Itoa(*attempt.StatusCode), "bad"}
	case attempt.FinishedAt == nil:
		return cell{"En curso", "warn"}
	}
	return cell{"Sin respuesta", "bad"}
}

// redeliver sends an event again and tells what the receiver said, on the page that the visitor came from.
func (p *Pages) redeliver(v *Visit) error {
	id, ok := body.ParseUUID(v.Param("id"))
	if !ok {
		return webhooks.ErrDeliveryNotFound
	}
	back := v.PostForm("volver")
	record, err := p.Webhooks.Redeliver(v.Ctx(), v.Caller.Scope(), id)
	if err != nil {
		return p.refused(v, back, err)
	}
	return p.sendOn(v, back, redelivered(record))
}

func redelivered(record *webhooks.Record) notice {
	if len(record.Attempts) == 0 {
		return notice{Text: "El evento no se pudo reenviar.", Failed: true}
	}
	last := record.Attempts[len(record.Attempts)-1]
	outcome := attemptOutcome(last)
	if outcome.Chip == "good" {
		return notice{Text: "Evento reenviado: el receptor respondió " + outcome.Text + "."}
	}
	if last.StatusCode != nil {
		return notice{Text: "Evento reenviado, pero el receptor respondió " + outcome.Text + ".", Failed: true}
	}
	return notice{Text: "Evento reenviado, pero el receptor no respondió. " + orEmpty(last.Error), Failed: true}
}

package panel

import (
	"strconv"

	"despacho/internal/webhooks"
	"despacho/models"
)

// deliveryList is the data of the template "deliveries": webhook deliveries and their attempts.
type deliveryList struct {
	Entries []deliveryEntry
	// Return is the page to return to after a redelivery.
	Return string
}

// Failed counts the deliveries that were given up.
func (l *deliveryList) Failed() int {
	failed := 0
	for _, entry := range l.Entries {
		if entry.Status == models.WebhookDeliveryFailed {
			failed++
		}
	}
	return failed
}

type deliveryEntry struct {
	*models.WebhookDelivery
	Name  named
	State cell
	// GuideCode is set where the page is not the order's own; Host where it is not the webhook's
	// own, and the user may open the webhook.
	GuideCode, Host string
	// OperatorOnly means that the webhook is the operator's and the user a store's.
	OperatorOnly bool
	Attempts     []attemptEntry
	// Repeatable means that the user may send it again.
	Repeatable bool
}

type attemptEntry struct {
	*models.WebhookAttempt
	Cause string
	// Body is what was sent, nil if nothing was.
	Body *string
}

// eventNames are the events' names in Spanish.
var eventNames = map[models.Event]string{
	models.EventCreated:   "Pedido creado",
	models.EventAssigned:  "Motorizado asignado",
	models.EventDelivered: "Pedido entregado",
	models.EventCancelled: "Pedido cancelado",
	models.EventTest:      "Evento de prueba",

	models.EventAttemptFailed:    "Intento fallido",
	models.EventReturning:        "Devolución decidida",
	models.EventReturned:         "Pedido devuelto",
	models.EventUpdated:          "Pedido cambiado",
	models.EventSettlementIssued: "Liquidación emitida",
	models.EventSettlementPaid:   "Liquidación pagada",
	models.EventWebhookDisabled:  "Webhook desactivado",
}

var deliveryStates = map[models.WebhookDeliveryStatus]cell{
	models.WebhookDeliveryPending:   {Text: "Pendiente", Style: "warn"},
	models.WebhookDeliveryDelivered: {Text: "Enviado", Style: "good"},
	models.WebhookDeliveryFailed:    {Text: "Fallido", Style: "bad"},
}

func (p *Pages) entryOf(v *Request, record *webhooks.Record) deliveryEntry {
	delivery := &record.Delivery
	entry := deliveryEntry{
		WebhookDelivery: delivery, Name: named{eventNames[delivery.Event], string(delivery.Event)},
		State:    deliveryStates[delivery.Status],
		Attempts: make([]attemptEntry, len(record.Attempts)), OperatorOnly: record.Webhook == nil,
	}
	entry.Repeatable = record.Webhook != nil && record.Webhook.Active && v.May(models.WebhookWrite)
	for i := range record.Attempts {
		attempt := attemptEntry{WebhookAttempt: &record.Attempts[i], Cause: "Automático",
			Body: p.Webhooks.SentBody(delivery, &record.Attempts[i])}
		switch {
		case delivery.Event == models.EventTest && i == 0:
			attempt.Cause = "Prueba"
		case attempt.WebhookAttempt.Cause == models.CauseRedelivery:
			attempt.Cause = "Reenvío"
		}
		entry.Attempts[i] = attempt
	}
	return entry
}

// deliveriesOf reads the deliveries about an order; back is the page that shows them.
func (p *Pages) deliveriesOf(v *Request, filter webhooks.Filter, back string) (*deliveryList, error) {
	page, err := p.Webhooks.Deliveries(v.Ctx(), v.Caller.Scope(), filter)
	if err != nil {
		return nil, err
	}
	list := &deliveryList{Entries: make([]deliveryEntry, len(page.Records)), Return: back}
	for i := range page.Records {
		list.Entries[i] = p.entryOf(v, &page.Records[i])
		if hook := page.Records[i].Webhook; hook != nil && v.May(models.WebhookRead) {
			list.Entries[i].Host = webhooks.HostOf(hook.URL)
		}
	}
	return list, nil
}

// redeliver sends an event again and shows the receiver's response on the page that the user came
// from.
func (p *Pages) redeliver(v *Request) error {
	id, err := pathID(v, webhooks.ErrDeliveryNotFound)
	if err != nil {
		return err
	}
	values, err := posted(v.Context)
	if err != nil {
		return err
	}
	back := values.Get("volver")
	record, err := p.Webhooks.Redeliver(v.Ctx(), v.Caller.Scope(), id)
	if err != nil {
		return p.refused(v, back, err)
	}
	return p.redirectWithNotice(v.Context, v.Who.SessionID, back, redelivered(record))
}

func redelivered(record *webhooks.Record) notice {
	if len(record.Attempts) == 0 {
		return notice{Text: "El evento no se pudo reenviar.", Failed: true}
	}
	last := record.Attempts[len(record.Attempts)-1]
	switch {
	case last.StatusCode == nil:
		return notice{Text: "Evento reenviado, pero el receptor no respondió. " + orEmpty(last.Error), Failed: true}
	case last.Error != nil:
		return notice{Text: "Evento reenviado, pero el receptor respondió " + strconv.Itoa(*last.StatusCode) + ".", Failed: true}
	}
	return notice{Text: "Evento reenviado: el receptor respondió " + strconv.Itoa(*last.StatusCode) + "."}
}

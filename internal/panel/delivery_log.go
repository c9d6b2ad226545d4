package panel

import (
	"slices"

	"despacho/internal/panel/forms"
	"despacho/internal/webhooks"
	"despacho/models"
)

// deliveriesPerPage is small because each delivery is shown with its attempts.
const deliveriesPerPage = 25

// deliveryLog is a page of a webhook's deliveries.
type deliveryLog struct {
	deliveryList
	// Path is the URL path of the log.
	Path     string
	Query    logQuery
	Statuses []forms.Option
	Events   []forms.Option
	Pager    pager
}

// logQuery is the query of the URL.
type logQuery struct {
	Status models.WebhookDeliveryStatus
	Event  models.Event
	Page   int
}

func readLogQuery(v *Request) logQuery {
	query := logQuery{Status: models.WebhookDeliveryStatus(v.Query("estado")), Event: models.Event(v.Query("evento")),
		Page: pageNumber(v)}
	if _, known := deliveryStates[query.Status]; !known {
		query.Status = ""
	}
	if _, known := eventNames[query.Event]; !known {
		query.Event = ""
	}
	return query
}

// at is the URL of a log with the query.
func (q logQuery) at(path string) string {
	return withQuery(path, map[string]string{"estado": string(q.Status), "evento": string(q.Event),
		"pagina": pageParameter(q.Page)})
}

// Filtered reports whether a filter is set.
func (q logQuery) Filtered() bool { return q.Status != "" || q.Event != "" }

// readLog reads the requested page of a webhook's log.
func (p *Pages) readLog(v *Request, hook *models.Webhook, path string) (*deliveryLog, error) {
	query := readLogQuery(v)
	page, total, err := readPage(&query.Page, deliveriesPerPage, func() (*webhooks.Page, int64, error) {
		page, err := p.Webhooks.Deliveries(v.Ctx(), v.Caller.Scope(), webhooks.Filter{
			WebhookID: &hook.ID, Status: query.Status, Event: query.Event, Page: query.Page, Limit: deliveriesPerPage,
		})
		if err != nil {
			return nil, 0, err
		}
		return page, page.Total, nil
	})
	if err != nil {
		return nil, err
	}
	codes, err := p.Webhooks.GuideCodes(v.Ctx(), page)
	if err != nil {
		return nil, err
	}
	log := &deliveryLog{
		deliveryList: deliveryList{Entries: make([]deliveryEntry, len(page.Records)), Return: query.at(path)},
		Path:         path, Query: query, Statuses: statusOptions, Events: loggedEvents(hook),
	}
	log.Pager = pagerOf(query.Page, deliveriesPerPage, total,
		func(number int) string { query.Page = number; return query.at(path) })
	for i := range page.Records {
		log.Entries[i] = p.entryOf(v, &page.Records[i])
		if order := page.Records[i].Delivery.OrderID; order != nil {
			log.Entries[i].GuideCode = codes[*order]
		}
	}
	return log, nil
}

var statusOptions = []forms.Option{
	{Value: "", Label: "Todos"},
	{Value: string(models.WebhookDeliveryPending), Label: "Pendientes"},
	{Value: string(models.WebhookDeliveryDelivered), Label: "Enviados"},
	{Value: string(models.WebhookDeliveryFailed), Label: "Fallidos"},
}

// loggedEvents are the events that a webhook's log can contain: those it subscribed to, and tests.
func loggedEvents(hook *models.Webhook) []forms.Option {
	options := []forms.Option{{Value: "", Label: "Todos"}}
	for _, event := range append(hook.EventList(), models.EventTest) {
		options = append(options, forms.Option{Value: string(event), Label: eventNames[event]})
	}
	return options
}

// entry finds a delivery on the current page of the log.
func (log *deliveryLog) entry(id string) *deliveryEntry {
	at := slices.IndexFunc(log.Entries, func(entry deliveryEntry) bool { return entry.ID.String() == id })
	if at < 0 {
		return nil
	}
	return &log.Entries[at]
}

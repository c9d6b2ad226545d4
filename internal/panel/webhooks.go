package panel

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/panel/forms"
	"despacho/internal/webhooks"
	"despacho/models"
)

const webhooksPath = "/panel/webhooks"

// webhooksPage is the list of webhooks, with the registration form.
type webhooksPage struct {
	Rows []hookView
	// Stores means that rows show their store; a store's user sees only its own.
	Stores bool
	Form   *forms.Form
}

// hookView is a webhook in the list.
type hookView struct {
	*models.Webhook
	Path      string
	Names     []named
	StoreName string
	State     cell
	// LastEvent is when it last had an event to send.
	LastEvent *time.Time
}

func (p *Pages) viewOfHook(hook *models.Webhook, store string) hookView {
	view := hookView{Webhook: hook, Path: webhookPath(hook.ID), StoreName: store}
	for _, event := range hook.EventList() {
		view.Names = append(view.Names, named{eventNames[event], string(event)})
	}
	switch circuit := hook.Circuit(p.Clock.Now()); {
	case !hook.Active:
		view.State = cell{Text: "Desactivado", Style: "quiet"}
	case hook.PausedAt != nil:
		view.State = cell{Text: "En pausa", Style: "warn"}
	case circuit == models.CircuitOpen:
		view.State = cell{Text: "Circuito abierto", Style: "bad"}
	case circuit == models.CircuitHalfOpen:
		view.State = cell{Text: "Circuito en prueba", Style: "warn"}
	case hook.FailingSince != nil:
		view.State = cell{Text: "Fallando", Style: "bad"}
	default:
		view.State = cell{Text: "Activo", Style: "good"}
	}
	return view
}

func (p *Pages) listWebhooks(v *Request) error {
	stores, err := p.choosableStores(v)
	if err != nil {
		return err
	}
	return p.showWebhooks(v, http.StatusOK, stores, hookForm(v, stores))
}

func (p *Pages) showWebhooks(v *Request, status int, stores []models.Store, form *forms.Form) error {
	hooks, err := p.listedHooks(v)
	if err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(hooks))
	for i := range hooks {
		ids[i] = hooks[i].ID
	}
	last, err := webhooks.LastEvents(v.Ctx(), p.DB, ids)
	if err != nil {
		return err
	}
	page := webhooksPage{Rows: make([]hookView, len(hooks)), Stores: v.Caller.StoreID == nil, Form: form}
	names := storeNames(stores)
	for i := range hooks {
		page.Rows[i] = p.viewOfHook(&hooks[i], names.of(hooks[i].StoreID))
		if at, used := last[hooks[i].ID]; used {
			page.Rows[i].LastEvent = &at
		}
	}
	return p.show(v, status, "webhooks", "Webhooks", page)
}

// listedHooks are the webhooks that the user may see, with the parameter of the URL only those that
// fail.
func (p *Pages) listedHooks(v *Request) ([]models.Webhook, error) {
	if v.Query(failingParameter) != "" {
		return webhooks.Failing(v.Ctx(), p.DB, v.Caller.Scope(), p.Clock.Now())
	}
	return p.Webhooks.List(v.Ctx(), v.Caller.Scope())
}

// failingParameter narrows the list of webhooks to those that fail.
const failingParameter = "fallan"

// choosableStores are the stores that the user may choose; none for a store's user.
func (p *Pages) choosableStores(v *Request) ([]models.Store, error) {
	if v.Caller.StoreID != nil {
		return nil, nil
	}
	return p.Operators.Stores().List(v.Ctx(), v.Operator())
}

// sentFields are the fields of a webhook that say what is sent where: its URL, its events and
// whether it has retries.
func sentFields() []forms.Field {
	events := make([]forms.Option, len(models.SubscribableEvents))
	for i, event := range models.SubscribableEvents {
		events[i] = forms.Option{Value: string(event), Label: eventNames[event] + " · " + string(event)}
	}
	return []forms.Field{
		{Name: "url", Label: "URL", Kind: forms.URL, Required: true,
			Hint: "La dirección HTTPS de su servidor, a la que se llegue desde internet."},
		{
			Name: "events", Label: "Eventos", Kind: forms.Checks, Required: true, Options: events,
			// The events that a shop needs to close its sales.
			Values: []string{string(models.EventDelivered), string(models.EventCancelled)},
		},
		{
			Name: "retry", Label: "Reintentar si falla", Kind: forms.Flag,
			Hint: "Sin marcar, cada evento se envía una sola vez. Con reintentos no se pierde por una caída, y puede llegar más de una vez.",
		},
	}
}

func hookForm(v *Request, stores []models.Store) *forms.Form {
	fields := sentFields()
	if v.Caller.StoreID == nil {
		fields = append(fields, forms.Field{
			Name: "store_id", Label: "Tienda", Kind: forms.Choice, Options: forms.StoreOptions(wholeOperator, stores, ""),
			Hint: "Con una tienda, recibe solo los eventos de sus pedidos.",
		})
	}
	return &forms.Form{Action: webhooksPath, Submit: "Registrar webhook", Fields: fields}
}

func (p *Pages) registerWebhook(v *Request) error {
	stores, err := p.choosableStores(v)
	if err != nil {
		return err
	}
	form := hookForm(v, stores)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		hook, secret, err := p.Webhooks.Register(v.Ctx(), v.Caller.Scope(), in)
		if err != nil {
			return err
		}
		return p.done(v, webhookPath(hook.ID), "Webhook registrado. Este es su secreto.", shownOnce{ID: "secret", Value: secret})
	}, func(status int) error { return p.showWebhooks(v, status, stores, form) })
}

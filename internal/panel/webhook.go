package panel

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/panel/forms"
	"despacho/internal/webhooks"
	"despacho/models"
)

// webhookPage is a webhook with its actions and its log.
type webhookPage struct {
	Hook hookView
	// Stores means that the page shows the store; a store's user sees only its own.
	Stores bool
	// Overlap is until when deliveries are also signed with the latest of the previous secrets.
	Overlap *time.Time
	// TestDelivery is the test that was just sent.
	TestDelivery *deliveryEntry
	Log          *deliveryLog
	// Daily is how the deliveries of the last days went.
	Daily []webhooks.Day
	// Change is the form to change it without another secret; Changing means that it was refused.
	Change   *forms.Form
	Changing bool
	// Range is the form to resend the failed deliveries of a time range.
	Range *forms.Form
}

// rotationForm has the one field of a rotation.
var rotationForm = &forms.Form{Fields: []forms.Field{{Name: "revoke", Kind: forms.Flag}}}

func webhookID(v *Request) (uuid.UUID, error) { return pathID(v, webhooks.ErrNotFound) }

// findWebhook reads the webhook of the path, also an inactive one.
func (p *Pages) findWebhook(v *Request) (*models.Webhook, error) {
	id, err := webhookID(v)
	if err != nil {
		return nil, err
	}
	return p.Webhooks.Webhook(v.Ctx(), v.Caller.Scope(), id)
}

func webhookPath(id uuid.UUID) string { return webhooksPath + "/" + id.String() }

func (p *Pages) openWebhook(v *Request) error {
	hook, err := p.findWebhook(v)
	if err != nil {
		return err
	}
	return p.showWebhook(v, http.StatusOK, hook,
		func(page *webhookPage) { page.TestDelivery = page.Log.entry(v.Query("prueba")) })
}

func (p *Pages) showWebhook(v *Request, status int, hook *models.Webhook, change func(*webhookPage)) error {
	store, err := p.storeName(v, hook)
	if err != nil {
		return err
	}
	page := webhookPage{Hook: p.viewOfHook(hook, store), Stores: v.Caller.StoreID == nil, Change: changeForm(hook),
		Range: p.rangeForm(v, hook)}
	if page.Log, err = p.readLog(v, hook, page.Hook.Path); err != nil {
		return err
	}
	if page.Daily, err = p.Webhooks.Daily(v.Ctx(), hook, v.Operator().TimeZone()); err != nil {
		return err
	}
	if previous := webhooks.PreviousSecrets(hook, p.Clock.Now()); len(previous) > 0 {
		page.Overlap = &previous[0].Until
	}
	change(&page)
	if isFragment(v) {
		return p.showPart(v, "webhook", "log", page)
	}
	return p.show(v, status, "webhook", "Webhook", page)
}

// storeName is the webhook's store, for the operator's users.
func (p *Pages) storeName(v *Request, hook *models.Webhook) (string, error) {
	if hook.StoreID == nil || v.Caller.StoreID != nil {
		return wholeOperator, nil
	}
	store, err := p.DB.Store(v.Ctx(), *hook.StoreID)
	if err != nil {
		return "", err
	}
	return store.Name, nil
}

// testWebhook sends a test event; the next page shows the receiver's response.
func (p *Pages) testWebhook(v *Request) error {
	id, err := webhookID(v)
	if err != nil {
		return err
	}
	record, err := p.Webhooks.Test(v.Ctx(), v.Caller.Scope(), id)
	if errors.Is(err, webhooks.ErrNotFound) {
		return err
	}
	if err != nil {
		return p.refused(v, webhookPath(id), err)
	}
	result := notice{Text: "El evento de prueba llegó bien."}
	if record.Delivery.Status != models.WebhookDeliveryDelivered {
		result = notice{Text: "El evento de prueba no se entregó.", Failed: true}
	}
	return p.redirectWithNotice(v.Context, v.Who.SessionID, webhookPath(id)+"?prueba="+record.Delivery.ID.String(), result)
}

func (p *Pages) rotateSecret(v *Request) error {
	id, err := webhookID(v)
	if err != nil {
		return err
	}
	in, err := p.readForm(v, rotationForm)
	if err != nil {
		return err
	}
	rotation, err := p.Webhooks.Rotate(v.Ctx(), v.Caller.Scope(), id, in)
	if errors.Is(err, webhooks.ErrTooManySecrets) {
		return p.refused(v, webhookPath(id), err)
	}
	if err != nil {
		return err
	}
	hint := "Durante 24 horas los envíos llevan también la firma del secreto anterior, en X-Service-Signature-Previous y en " +
		"webhook-signature: cambie el secreto en su servidor antes de que venza ese plazo y no perderá ningún evento."
	if rotation.Revoked {
		hint = "Los secretos anteriores ya no firman: hasta que su servidor tenga este, rechazará los envíos."
	}
	return p.done(v, webhookPath(id), "Secreto nuevo.", shownOnce{ID: "secret", Value: rotation.Secret, Hint: hint})
}

func (p *Pages) deactivateWebhook(v *Request) error {
	id, err := webhookID(v)
	if err != nil {
		return err
	}
	if err := p.Webhooks.Deactivate(v.Ctx(), v.Caller.Scope(), id); err != nil {
		return err
	}
	return p.done(v, webhooksPath, "El webhook quedó desactivado: no se le envía nada más.")
}

// rangeForm suggests the time since the webhook started failing, or the last day.
func (p *Pages) rangeForm(v *Request, hook *models.Webhook) *forms.Form {
	now := p.Clock.Now()
	from := now.Add(-24 * time.Hour)
	if hook.FailingSince != nil {
		from = *hook.FailingSince
	}
	typed := func(at time.Time) string { return at.In(v.Operator().TimeZone()).Format(forms.MomentLayout) }
	return &forms.Form{Action: webhookPath(hook.ID) + "/reenviar", Submit: "Reenviar", Fields: []forms.Field{
		{Name: "from", Label: "Desde", Kind: forms.Moment, Required: true, Value: typed(from)},
		// The current minute is included.
		{Name: "to", Label: "Hasta", Kind: forms.Moment, Required: true, Value: typed(now.Add(time.Minute))},
		{Name: "all", Label: "También lo que ya se entregó", Kind: forms.Flag,
			Hint: "El receptor recibe otra vez los eventos que ya tenía, con el mismo webhook-id."},
	}}
}

func (p *Pages) redeliverRange(v *Request) error {
	hook, err := p.findWebhook(v)
	if err != nil {
		return err
	}
	form := p.rangeForm(v, hook)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		count, err := p.Webhooks.RedeliverRange(v.Ctx(), v.Caller.Scope(), hook.ID, in)
		if err != nil {
			return err
		}
		return p.done(v, webhookPath(hook.ID), rangeOutcome(count))
	}, func(status int) error {
		return p.showWebhook(v, status, hook, func(page *webhookPage) { page.Range = form })
	})
}

func rangeOutcome(count int) string {
	switch count {
	case 0:
		return "No hay entregas que reenviar en ese rango."
	case 1:
		return "Se reenvía 1 entrega. El registro muestra cómo le va."
	}
	return fmt.Sprintf("Se reenvían %d entregas. El registro muestra cómo les va.", count)
}

package panel

import (
	"strconv"

	"despacho/internal/jsonbody"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// changeForm has what can be changed of a webhook without another secret.
func changeForm(hook *models.Webhook) *forms.Form {
	fields := sentFields()
	fields[0].Value = hook.URL
	fields[1].Values = nil
	for _, event := range hook.EventList() {
		fields[1].Values = append(fields[1].Values, string(event))
	}
	fields[2].Value = strconv.FormatBool(hook.Retry)
	return editForm(webhookPath(hook.ID)+"/cambiar", fields)
}

func (p *Pages) changeWebhook(v *Request) error {
	hook, err := p.findWebhook(v)
	if err != nil {
		return err
	}
	form := changeForm(hook)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		_, err := p.Webhooks.Change(v.Ctx(), v.Caller.Scope(), hook.ID, in, func(current *models.Webhook) error {
			hook = current
			return requireSeen(form, changeForm(current))
		})
		if err != nil {
			return err
		}
		return p.done(v, webhookPath(hook.ID), "El webhook quedó cambiado. Su secreto es el mismo.")
	}, func(status int) error {
		return p.showWebhook(v, status, hook, func(page *webhookPage) { page.Change, page.Changing = form, true })
	})
}

func (p *Pages) pauseWebhook(v *Request) error {
	return p.setPaused(v, `{"paused":true}`, "El webhook quedó en pausa: sus eventos se guardan.")
}

func (p *Pages) resumeWebhook(v *Request) error {
	return p.setPaused(v, `{"paused":false}`, "El webhook se reanudó: se le envía lo que esperaba.")
}

func (p *Pages) setPaused(v *Request, body, outcome string) error {
	id, err := webhookID(v)
	if err != nil {
		return err
	}
	in, err := jsonbody.Parse([]byte(body))
	if err != nil {
		return err
	}
	if _, err := p.Webhooks.Change(v.Ctx(), v.Caller.Scope(), id, in, nil); err != nil {
		return err
	}
	return p.done(v, webhookPath(id), outcome)
}

package panel

import (
	"time"

	"despacho/internal/panel/forms"
	"despacho/internal/riders"
	"despacho/models"
)

// phoneCell is the state of a rider's phone.
func (p *Pages) phoneCell(v *Request, access riders.Access) cell {
	switch {
	case access.Phone != nil:
		note := "Visto: " + p.short(v, *access.Phone.LastSeenAt)
		if access.Link != nil {
			note += ". Hay un enlace para otro"
		}
		return cell{Text: "Enlazado", Style: "good", Note: note}
	case access.Link != nil:
		return cell{Text: "Enlace por usar", Note: "Vence: " + p.short(v, access.Link.LinkExpiresAt)}
	}
	return cell{Text: "Sin celular", Style: "quiet"}
}

// phoneActions are what can be done about a rider's phone.
func phoneActions(v *Request, rider *models.Rider, access riders.Access) []action {
	var actions []action
	path := riderPath(rider.ID)
	if rider.Active && v.May(models.DispatchWrite) {
		text := "Con él su celular muestra lo que lleva y registra sus entregas, y él elige un PIN. Sirve una vez, durante 24 horas."
		if access.Link != nil {
			text += " El enlace de antes deja de servir."
		}
		if access.Phone != nil {
			text += " El celular de ahora tiene acceso hasta que se use el enlace en otro."
		}
		actions = append(actions, action{Title: "Enlace para el celular", Text: text,
			Form: &forms.Form{Action: path + "/enlace", Submit: "Crear el enlace"}})
	}
	if (access.Phone != nil || access.Link != nil) && v.May(models.DispatchRevoke) {
		actions = append(actions, action{Title: "Quitar el acceso",
			Text: "Su celular deja de tener acceso al instante, y un enlace sin usar deja de servir. Lo que lleva sigue siendo suyo.",
			Form: &forms.Form{Action: path + "/quitar-acceso", Submit: "Sí, quitarlo", Danger: true}})
	}
	return actions
}

func (p *Pages) linkRiderPhone(v *Request) error {
	id, err := pathID(v, riders.ErrRiderNotFound)
	if err != nil {
		return err
	}
	link, err := p.Riders.Link(v.Ctx(), v.Operator(), id)
	if err != nil {
		return p.refused(v, riderPath(id), err)
	}
	return p.done(v, riderPath(id), "Enlace nuevo. El celular lee el código con su cámara, o abre el enlace.", p.phoneLink(v, link))
}

// phoneLink shows the link for a rider's phone, to be read from the screen or sent.
func (p *Pages) phoneLink(v *Request, link *riders.Link) shownOnce {
	address, until := link.URL(p.Config.BaseURL), p.short(v, link.ExpiresAt)
	return shownOnce{
		ID: "rider-link", Value: address, QR: address, Label: "Enlace para el celular de " + link.Rider.Name + ":",
		Hint: "Sirve una vez, hasta el " + until + ".",
		WhatsApp: whatsAppTo(link.Rider.Phone, "Hola, "+link.Rider.Name+". Con este enlace entra en su celular a los repartos "+
			"de "+v.Operator().Name+" y elige su PIN. Sirve una vez, hasta el "+until+": "+address),
	}
}

func (p *Pages) revokeRiderPhone(v *Request) error {
	id, err := pathID(v, riders.ErrRiderNotFound)
	if err != nil {
		return err
	}
	if err := p.Riders.Revoke(v.Ctx(), v.Operator(), id); err != nil {
		return err
	}
	return p.done(v, riderPath(id), "El celular ya no tiene acceso.")
}

// short is a time as the pages write it.
func (p *Pages) short(v *Request, at time.Time) string {
	return shortTime(at, p.Clock.Now(), v.Operator().TimeZone())
}

package panel

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// offerAfterFailure offers what an attempt that failed needs: its report, the decision, the end of
// a return; and what takes the latest move back.
func (p *Pages) offerAfterFailure(v *Request, details *orders.OrderPage, moves *orderMoves) {
	order, rules := details.Order, v.Operator().Rules
	if details.Can(models.MoveFail) && v.May(models.DispatchWrite) {
		moves.Fail = failForm(rules, order.ID, order.Version)
	}
	if details.Can(models.MoveHandBack) && v.May(models.CounterWrite) {
		moves.HandBack = handBackForm(order.ID)
	}
	if details.Undo != nil && v.May(models.DispatchWrite) {
		moves.Undo = undoForm(order.ID, order.Version)
		until := details.Undo.Until.In(v.Operator().TimeZone())
		moves.CanUndo = entryTexts[string(details.Undo.Move)] + ", hasta las " + until.Format("15:04")
	}
	moves.Undecided = order.Substatus != nil && order.Substatus.Undecided()
	if (details.Can(models.MoveRetry) || details.Can(models.MoveReturn)) && v.May(models.OrderWrite) {
		moves.Decide = p.decideForm(v, order.View, details.Can)
	}
}

// failForm reports an attempt that failed. The template adds the photo.
func failForm(rules models.Rules, id uuid.UUID, version int) *forms.Form {
	reason := forms.Field{Name: "reason", Label: "Motivo", Kind: forms.Choice, Required: true,
		Options: []forms.Option{{Value: "", Label: "Elija un motivo"}}}
	for _, word := range rules.Reasons() {
		label := word.Label()
		var needs []string
		if slices.Contains(rules.NoteReasons, word) {
			needs = append(needs, "nota")
		}
		if slices.Contains(rules.PhotoReasons, word) {
			needs = append(needs, "foto")
		}
		if len(needs) > 0 {
			label += " (con " + strings.Join(needs, " y ") + ")"
		}
		reason.Options = append(reason.Options, forms.Option{Value: string(word), Label: label})
	}
	form := &forms.Form{Action: orderPath(id) + "/no-entregado", Submit: "Registrar el intento", Fields: []forms.Field{
		reason,
		{Name: "note", Label: "Nota", Kind: forms.Area, Wide: true, Hint: "La ve la tienda."},
		{Name: "photo", Label: "Foto"},
		expectedVersion(version),
	}}
	return form.WithPrefix("fail-")
}

func (p *Pages) failOrder(v *Request) error {
	return p.moveWithPhoto(v, photoMove{
		form: func(rules models.Rules, id uuid.UUID) *forms.Form { return failForm(rules, id, 0) },
		done: "Intento registrado. Decida qué sigue.",
		move: func(v *Request, id uuid.UUID, in *jsonbody.Object, photo []byte) error {
			_, err := p.Orders.Fail(v.Ctx(), v.Caller, id, in, photo)
			return err
		},
	})
}

func handBackForm(id uuid.UUID) *forms.Form {
	form := &forms.Form{Action: orderPath(id) + "/devolver", Submit: "Sí, la tienda lo tiene", Fields: []forms.Field{
		{Name: "note", Label: "Nota", Kind: forms.Text, Wide: true, Hint: "Por ejemplo, quién lo recibió en la tienda."},
	}}
	return form.WithPrefix("back-")
}

func (p *Pages) handBackOrder(v *Request) error {
	return p.runAction(v, handBackForm, func(order *models.OrderView, in *jsonbody.Object) (string, error) {
		note := in.Lines("note", models.MaxCancelNote)
		if err := in.Err(); err != nil {
			return "", err
		}
		_, err := p.Orders.HandBack(v.Ctx(), v.Caller, order, orEmpty(note))
		return "Paquete entregado a la tienda.", err
	})
}

func undoForm(id uuid.UUID, version int) *forms.Form {
	form := &forms.Form{Action: orderPath(id) + "/deshacer", Submit: "Deshacer", Fields: []forms.Field{
		{Name: "reason", Label: "Motivo", Kind: forms.Text, Required: true, Wide: true, Hint: "Queda en la línea de tiempo."},
		expectedVersion(version),
	}}
	return form.WithPrefix("undo-")
}

func (p *Pages) undoOrder(v *Request) error {
	return p.runAction(v, func(id uuid.UUID) *forms.Form { return undoForm(id, 0) },
		func(order *models.OrderView, in *jsonbody.Object) (string, error) {
			_, err := p.Orders.Undo(v.Ctx(), v.Caller, order, in)
			return "El cambio se deshizo: el pedido está como antes.", err
		})
}

// daysToChoose is how many of the operator's days are offered for the next attempt.
const daysToChoose = 12

// nextDays are the days on which the next attempt can be made. Without one it is the operator's
// next day.
func (p *Pages) nextDays(operator *models.Operator) []forms.Option {
	today := p.Clock.Now().In(operator.TimeZone())
	option := func(day time.Time, label string) forms.Option {
		return forms.Option{Value: day.Format(time.DateOnly), Label: label}
	}
	var options []forms.Option
	for i, day := range operator.Rules.NextDays(today, daysToChoose) {
		label := format.LongDay(day.Format(time.DateOnly))
		if i == 0 {
			label = "El próximo día: " + label
		}
		options = append(options, option(day, label))
	}
	if operator.Rules.DeliversOn(today) {
		options = append(options, option(today, "Hoy mismo"))
	}
	return options
}

// correctedForRetry are the fields of a decision that correct the order.
func correctedForRetry(order *orders.View) []forms.Field {
	return []forms.Field{
		{Name: "recipient_phone", Label: "Teléfono", Kind: forms.Phone, Value: order.RecipientPhone},
		{Name: "delivery_address", Label: "Dirección", Kind: forms.Area, Wide: true, Value: order.DeliveryAddress},
		{Name: "delivery_reference", Label: "Referencia", Kind: forms.Area, Wide: true,
			Value: orEmpty(order.DeliveryReference)},
		{Name: pointField, Label: "Punto: enlace de mapa o coordenadas", Kind: forms.Text, Wide: true,
			Hint: "Vacío: queda el que hay."},
	}
}

// decideForm decides what comes after a failed attempt. Its last fields correct the order: what the
// person has changed there makes the decision one to change and to try again.
func (p *Pages) decideForm(v *Request, order *orders.View, can func(models.Move) bool) *forms.Form {
	decision := forms.Field{Name: "decision", Label: "Decisión", Kind: forms.Choice, Required: true,
		Value: orders.DecisionRetry}
	if can(models.MoveRetry) {
		decision.Options = append(decision.Options, forms.Option{Value: orders.DecisionRetry, Label: "Intentar otra vez"})
	}
	if can(models.MoveReturn) {
		decision.Options = append(decision.Options, forms.Option{Value: orders.DecisionReturn, Label: "Devolver a la tienda"})
	}
	days := p.nextDays(v.Operator())
	on := forms.Field{Name: "on", Label: "Qué día", Kind: forms.Choice, Options: days, Value: days[0].Value}
	if planned := orEmpty(order.NextAttemptOn); on.Offers(planned) {
		on.Value = planned
	}
	form := forms.Edit(orderPath(order.ID)+"/decidir", "Guardar la decisión", correctedForRetry(order))
	form.Fields = append([]forms.Field{
		decision, on,
		{Name: "note", Label: "Nota", Kind: forms.Text, Wide: true},
		expectedVersion(order.Version),
	}, form.Fields...)
	return form.WithPrefix("decide-")
}

// Corrects reports whether somebody has written a correction into the form of a decision.
func (m orderMoves) Corrects() bool {
	return slices.ContainsFunc(m.Decide.Fields[4:], func(field forms.Field) bool { return field.Error != "" })
}

func (p *Pages) decideOrder(v *Request) error {
	id, err := pathOrder(v)
	if err != nil {
		return err
	}
	may := func(models.Move) bool { return true }
	form := p.decideForm(v, &orders.View{Public: orders.Public{ID: id}}, may)
	in, err := p.readForm(v, form)
	if err == nil {
		in, err = p.withCorrections(v, id, form, in)
	}
	if err == nil && form.Question != "" {
		return p.showOrderAgain(v, id, form, nil, nil)
	}
	if err == nil {
		var decided *orders.View
		if decided, err = p.Orders.Decide(v.Ctx(), v.Caller, id, in); err == nil {
			return p.done(v, p.afterDecision(v, id), "Decidido: "+nextStep(v.Operator().TimeZone(), decided)+".")
		}
	}
	return p.answerAction(v, id, form, "", renamed(err, func(field string) string {
		if strings.HasPrefix(field, "delivery_lat") || strings.HasPrefix(field, "delivery_lng") {
			return pointField
		}
		return field
	}), nil)
}

// afterDecision is the page from which a decision was taken.
func (p *Pages) afterDecision(v *Request, id uuid.UUID) string {
	if back := v.PostForm("volver"); back != "" {
		return localPath(back)
	}
	return orderPath(id)
}

// withCorrections makes a decision to try again one to change, if the person has changed something.
func (p *Pages) withCorrections(
	v *Request, id uuid.UUID, form *forms.Form, in *jsonbody.Object,
) (*jsonbody.Object, error) {
	decision := in.Text("decision", len(orders.DecisionReturn))
	if decision == nil || *decision != orders.DecisionRetry {
		return in, nil
	}
	corrects := false
	for _, field := range correctedForRetry(&orders.View{}) {
		_, sent := v.Request.PostForm[field.Name]
		if !sent || field.Name == pointField || !form.Field(field.Name).Changed() {
			continue
		}
		corrects = true
	}
	point, err := p.pointOfDecision(v, id, form, in)
	if err != nil {
		return nil, err
	}
	if point != nil {
		corrects = true
		in = in.With("delivery_lat", point.Lat).With("delivery_lng", point.Lng)
	}
	if corrects {
		in = in.With("decision", orders.DecisionChange)
	}
	return in, nil
}

// pointOfDecision reads the point that a decision corrects, nil for none, or leaves a question in
// the form.
func (p *Pages) pointOfDecision(
	v *Request, id uuid.UUID, form *forms.Form, in *jsonbody.Object,
) (*orders.TypedPoint, error) {
	typed := in.Text(pointField, maxPoint)
	if err := in.Err(); err != nil || typed == nil {
		return nil, err
	}
	point, err := p.Orders.ReadPointOf(v.Ctx(), v.Caller, id, pointField, *typed)
	if err != nil || point.Doubt == nil || v.PostForm(forms.AskedName) == coordinates(point.Point) {
		return point, err
	}
	form.Question, form.Asked = pointQuestion(point), coordinates(point.Point)
	return nil, nil
}

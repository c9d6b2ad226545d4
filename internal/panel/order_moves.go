package panel

import (
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// orderMoves are the forms of the moves that the user may make; the others are nil.
type orderMoves struct {
	Receive, Assign, Deliver, Cancel *forms.Form
	// Fail is an attempt that failed, Decide what comes after it, HandBack the end of a return, and
	// Undo what takes the latest move back.
	Fail, Decide, HandBack, Undo *forms.Form
	// Reassign means that a rider has the package already, Undecided that somebody has to decide.
	Reassign, Undecided bool
	// CanUndo is what Undo takes back.
	CanUndo string
}

// offerMoves builds the form of each move that the order allows.
func (p *Pages) offerMoves(v *Request, details *orders.OrderPage) (moves orderMoves, err error) {
	order := details.Order
	p.offerAfterFailure(v, details, &moves)
	if details.Can(models.MoveReceive) && v.May(models.CounterWrite) {
		branches, err := p.Operators.Branches().List(v.Ctx(), v.Operator())
		if err != nil {
			return moves, err
		}
		moves.Receive = receiveForm(order.ID, branches, order.BranchID)
	}
	if details.Can(models.MoveAssign) && v.May(models.DispatchWrite) {
		riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
		if err != nil {
			return moves, err
		}
		moves.Assign, moves.Reassign = assignForm(order.ID, riders, order.Version), order.Rider != nil
	}
	if details.Can(models.MoveDeliver) && v.May(models.DispatchWrite) {
		moves.Deliver = deliverForm(v.Operator().Rules, order.ID, order.Version, order.AmountToCollect)
		if order.PaymentType == models.CashOnDelivery {
			requireAmount(moves.Deliver, order)
		}
	}
	if details.Can(models.MoveCancel) && v.May(models.OrderWrite) {
		moves.Cancel = cancelForm(order.ID, order.Version)
	}
	return moves, nil
}

func receiveForm(id uuid.UUID, branches []models.Branch, expected uuid.UUID) *forms.Form {
	at := forms.Field{Name: "branch_id", Label: "Sucursal", Kind: forms.Choice, Value: expected.String()}
	for _, branch := range branches {
		if branch.Active {
			at.Options = append(at.Options, forms.Option{Value: branch.ID.String(), Label: branch.Name})
		}
	}
	return &forms.Form{Action: orderPath(id) + "/recibir", Submit: "Confirmar recepción", Fields: []forms.Field{at}}
}

func assignForm(id uuid.UUID, riders []models.Rider, version int) *forms.Form {
	return &forms.Form{Action: orderPath(id) + "/asignar", Submit: "Confirmar asignación", Fields: []forms.Field{
		riderField("Elija un motorizado", riders), expectedVersion(version),
	}}
}

// expectedVersion is the version of the order that the form's page shows.
func expectedVersion(version int) forms.Field {
	return forms.Field{Name: orders.ExpectedVersion, Kind: forms.Hidden, Value: strconv.Itoa(version)}
}

// deliverForm has the fields of a delivery. The template adds the photo and the location.
func deliverForm(rules models.Rules, id uuid.UUID, version int, agreed money.Cents) *forms.Form {
	methods := methodOptions(rules)
	return &forms.Form{Action: orderPath(id) + "/entregar", Submit: "Confirmar entrega", Fields: []forms.Field{
		{Name: "actual_amount_collected", Label: "Monto cobrado", Kind: forms.Money},
		{Name: methodField, Label: "Forma de pago", Kind: forms.Choice, Options: methods, Value: methods[0].Value},
		{Name: referenceField, Label: "N.º de operación", Kind: forms.Text},
		{Name: otherPart + amountField, Label: "De eso, con otra forma", Kind: forms.Money, Hint: "Vacío: todo con la de arriba."},
		{Name: otherPart + methodField, Label: "La otra forma", Kind: forms.Choice, Options: methods,
			Value: methods[min(1, len(methods)-1)].Value},
		{Name: otherPart + referenceField, Label: "Su N.º de operación", Kind: forms.Text},
		{Name: "received_by", Label: "Quién lo recibió", Kind: forms.Text},
		{Name: "photo", Label: "Foto"},
		{Name: "lat", Prefix: "photo-", Label: "Latitud", Kind: forms.Number},
		{Name: "lng", Prefix: "photo-", Label: "Longitud", Kind: forms.Number},
		expectedVersion(version),
		{Name: agreedAmountField, Kind: forms.Hidden, Value: agreed.String()},
	}}
}

// agreedAmountField has the amount to collect that the form's page shows.
const agreedAmountField = "agreed_amount"

// requireAmount asks for the collected amount; the amount to collect is filled in, if it is known.
func requireAmount(form *forms.Form, order *orders.Detail) {
	amount := &form.Fields[0]
	amount.Required = true
	if order.AmountToCollect > 0 {
		amount.Value = order.AmountToCollect.String()
	}
}

func cancelForm(id uuid.UUID, version int) *forms.Form {
	return &forms.Form{Action: orderPath(id) + "/cancelar", Submit: "Sí, cancelar el pedido", Danger: true, Fields: []forms.Field{
		{Name: "reason", Label: "Motivo", Kind: forms.Text},
		{Name: "note", Label: "Nota", Kind: forms.Area},
		expectedVersion(version),
	}}
}

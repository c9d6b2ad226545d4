package panel

import (
	"github.com/google/uuid"

	"despacho/models"
	"despacho/orders"
)

// orderMoves are the forms of the moves that the user may make; the others are nil.
type orderMoves struct {
	Receive, Assign, Deliver, Cancel *form
	// Reassign means that a rider has the package already.
	Reassign bool
}

// offerMoves builds the form of each move that the order allows.
func (p *Pages) offerMoves(v *Request, details *orders.OrderPage) (moves orderMoves, err error) {
	if !v.May(models.AnyUserWrite) {
		return moves, nil
	}
	order := details.Order
	if details.Can(models.MoveReceive) {
		branches, err := p.Operators.Branches(v.Ctx(), v.Operator())
		if err != nil {
			return moves, err
		}
		moves.Receive = receiveForm(order.ID, branches, order.BranchID)
	}
	if details.Can(models.MoveAssign) {
		riders, err := p.Operators.Riders(v.Ctx(), v.Operator())
		if err != nil {
			return moves, err
		}
		moves.Assign, moves.Reassign = assignForm(order.ID, riders), order.Rider != nil
	}
	if details.Can(models.MoveDeliver) {
		moves.Deliver = deliverForm(order.ID)
		if order.PaymentType == models.CashOnDelivery {
			moves.Deliver.askAmount(order)
		}
	}
	if details.Can(models.MoveCancel) {
		moves.Cancel = cancelForm(order.ID)
	}
	return moves, nil
}

func receiveForm(id uuid.UUID, branches []models.Branch, expected uuid.UUID) *form {
	at := field{Name: "branch_id", Label: "Sucursal", Kind: choiceField, Value: expected.String()}
	for _, branch := range branches {
		if branch.Active {
			at.Options = append(at.Options, option{branch.ID.String(), branch.Name})
		}
	}
	return &form{Action: orderPath(id) + "/recibir", Submit: "Confirmar recepción", Fields: []field{at}}
}

func assignForm(id uuid.UUID, riders []models.Rider) *form {
	to := field{Name: "rider_id", Label: "Motorizado", Kind: choiceField, Required: true, Options: []option{{"", "Elija un motorizado"}}}
	for _, rider := range riders {
		if rider.Active {
			to.Options = append(to.Options, option{rider.ID.String(), rider.Name})
		}
	}
	return &form{Action: orderPath(id) + "/asignar", Submit: "Confirmar asignación", Fields: []field{to}}
}

// deliverForm has the fields of a delivery. The template adds the photo and the location.
func deliverForm(id uuid.UUID) *form {
	return &form{Action: orderPath(id) + "/entregar", Submit: "Confirmar entrega", Fields: []field{
		{Name: "actual_amount_collected", Label: "Monto cobrado", Kind: moneyField},
		{Name: "photo", Label: "Foto"},
		{Name: "lat", Label: "Latitud"},
		{Name: "lng", Label: "Longitud"},
	}}
}

// askAmount prefills the amount to collect, if it is known.
func (f *form) askAmount(order *orders.Detail) {
	amount := &f.Fields[0]
	amount.Required = true
	if order.AmountToCollect > 0 {
		amount.Value = order.AmountToCollect.String()
	}
}

func cancelForm(id uuid.UUID) *form {
	return &form{Action: orderPath(id) + "/cancelar", Submit: "Sí, cancelar el pedido", Fields: []field{
		{Name: "reason", Label: "Motivo", Kind: textField},
		{Name: "note", Label: "Nota", Kind: areaField},
	}}
}

func pointForm(id uuid.UUID, lat, lng *float64) *form {
	at := []field{
		{Name: "lat", Label: "Latitud", Kind: numberField, Required: true},
		{Name: "lng", Label: "Longitud", Kind: numberField, Required: true},
	}
	if lat != nil && lng != nil {
		at[0].Value, at[1].Value = degrees(*lat), degrees(*lng)
	}
	return &form{Action: orderPath(id) + "/punto", Submit: "Guardar punto", Fields: at}
}

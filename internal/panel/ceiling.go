package panel

import (
	"github.com/google/uuid"

	"despacho/internal/panel/format"
)

// ceilingWarning warns whoever has assigned packages to a rider that the rider carries, or will
// carry when they are delivered, more money than the operator wants; empty if not.
func (p *Pages) ceilingWarning(v *Request, rider uuid.UUID) (string, error) {
	ceiling := v.Operator().Rules.Ceiling
	if ceiling == nil {
		return "", nil
	}
	carried, err := p.Cash.Carried(v.Ctx(), v.Operator(), rider)
	if err != nil {
		return "", err
	}
	toCollect, err := p.Orders.ToCollect(v.Ctx(), v.Caller, rider)
	if err != nil || carried+toCollect <= *ceiling {
		return "", err
	}
	return "Con lo que lleva y lo que va a cobrar pasa el tope de " + format.Amount(*ceiling, v.Operator().Currency) +
		": pídale que rinda antes de salir.", nil
}

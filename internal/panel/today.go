package panel

import (
	"net/http"
	"slices"
	"time"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/models"
)

// todayPage is what waits for somebody now, and what was done today.
type todayPage struct {
	// Waiting are the figures that somebody has to act on, Done those of the day.
	Waiting, Done []todayFigure
	// Setup is what an operator without orders still has to set up.
	Setup []setupStep
}

// todayFigure is a figure with the list that it counts.
type todayFigure struct {
	Label, Value, Detail, Path string
	// Attention means that it should be nothing, Amount that the value is money.
	Attention, Amount bool
}

// setupStep is something that an operator needs before the first order.
type setupStep struct {
	Label, Path string
	Done        bool
}

func (p *Pages) showToday(v *Request) error {
	today, err := p.Orders.Today(v.Ctx(), v.Caller)
	if err != nil {
		return err
	}
	page := &todayPage{}
	page.describe(v, today, p.Clock.Now())
	if v.May(models.CashRead) {
		carried, err := p.Cash.Outstanding(v.Ctx(), v.Operator())
		if err != nil {
			return err
		}
		page.Waiting = append(page.Waiting, todayFigure{Label: "Por rendir", Value: format.Amount(carried, v.Operator().Currency),
			Detail: "por los motorizados", Path: cashPath, Amount: true})
	}
	if today.IsQuiet() && v.May(models.SettingsWrite) {
		if page.Setup, err = p.setupSteps(v); err != nil {
			return err
		}
	}
	return p.show(v, http.StatusOK, "today", "Hoy", page)
}

func (page *todayPage) describe(v *Request, today *orders.Today, now time.Time) {
	lists := TodayListsOf(today)
	if v.May(models.CounterRead) {
		lists.Returning = returnsPath
	}
	oldest := ""
	if today.OldestToAssign != nil {
		oldest = "el primero espera desde hace " + format.Duration(max(now.Sub(*today.OldestToAssign), 0))
	}
	figure := func(label string, count int64, detail, path string, attention bool) todayFigure {
		return todayFigure{Label: label, Value: format.Number(count), Detail: detail, Path: path, Attention: attention && count > 0}
	}
	page.Waiting = []todayFigure{
		figure("Por recibir", today.ToReceive, "", lists.ToReceive, false),
		figure("Por asignar", today.ToAssign, oldest, lists.ToAssign, false),
		figure("Falta decidir", today.Undecided, "tras un intento fallido", lists.Undecided, true),
		figure("Se intentan hoy", today.DueToday, "otra vez", lists.DueToday, false),
		figure("En reparto desde ayer", today.OutSinceYesterday, "o antes", lists.OutSinceYesterday, true),
		figure("Por devolver", today.Returning, "a su tienda", lists.Returning, false),
		figure("Se cancelan solos", today.Expiring, "en menos de 2 horas", lists.Expiring, true),
		figure("Cobrado distinto", today.AmountDiffers, "de lo acordado, en 7 días", lists.AmountDiffers, true),
	}
	if v.May(models.WebhookRead) {
		failing := figure("Webhooks que fallan", int64(today.FailingWebhooks), "", lists.FailingWebhooks, true)
		page.Waiting = append(page.Waiting, failing)
	}
	if v.May(models.OperatorRead) {
		notLoaded := figure("Sin confirmar", today.NotLoaded, "por su motorizado", lists.NotLoaded, false)
		page.Waiting = slices.Insert(page.Waiting, 4, notLoaded)
	}
	page.Done = []todayFigure{
		figure("Entregados hoy", today.Delivered, "", lists.Delivered, false),
		{Label: "Cobrado hoy", Value: format.Amount(today.Collected, v.Operator().Currency), Path: lists.Delivered, Amount: true},
	}
}

// setupSteps are what an operator needs for its first order; none once it has all of it.
func (p *Pages) setupSteps(v *Request) ([]setupStep, error) {
	operator := v.Operator()
	branches, err := p.Operators.Branches().List(v.Ctx(), operator)
	if err != nil {
		return nil, err
	}
	coverage, err := p.Operators.Coverage().List(v.Ctx(), operator)
	if err != nil {
		return nil, err
	}
	stores, err := p.Operators.Stores().List(v.Ctx(), operator)
	if err != nil {
		return nil, err
	}
	riders, err := p.Operators.Riders().List(v.Ctx(), operator)
	if err != nil {
		return nil, err
	}
	steps := []setupStep{
		{"Una sucursal principal, donde se reciben los paquetes", "/panel/sucursales",
			slices.ContainsFunc(branches, func(b models.Branch) bool { return b.Main && b.Active })},
		{"Los distritos adonde llega, con su tarifa", "/panel/cobertura", len(coverage) > 0},
		{"Una tienda que envía", "/panel/tiendas", len(stores) > 0},
		{"Un motorizado", "/panel/motorizados", len(riders) > 0},
	}
	if !slices.ContainsFunc(steps, func(step setupStep) bool { return !step.Done }) {
		return nil, nil
	}
	if v.May(models.NewOrderWrite) {
		steps = append(steps, setupStep{Label: "El primer pedido", Path: newOrderPath})
	}
	return steps, nil
}

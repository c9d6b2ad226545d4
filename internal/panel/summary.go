package panel

import (
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/summarycharts"
	"despacho/models"
)

const summaryPath = "/panel/resumen"

// usualPeriods are numbers of days up to today; the second is the default.
var usualPeriods = []int{7, 30, 90}

const usualPeriod = 30

// summaryPage is the summary of a period's orders.
type summaryPage struct {
	Periods []tab
	Query   summaryQuery
	Shown   days
	Stores  []forms.Option
	// Span is the period as text; Shortened means that the requested period was longer.
	Span      string
	Shortened bool
	Figures   []figure
	// Money is of the days themselves.
	Money []moneyFigure
	Plots []summarycharts.Card
}

// figure is a number with its label.
type figure struct{ Label, Value, Detail string }

// Long reports whether the value needs a smaller font on a phone.
func (f figure) Long() bool { return utf8.RuneCountInString(f.Value) > 9 }

// summaryQuery is the query of the URL. Chosen days take precedence over a usual period.
type summaryQuery struct {
	// Usual is the usual period, 0 where the days were chosen.
	Usual int
	// Days are both set.
	Days  days
	Store string
}

func (p *Pages) readSummaryQuery(v *Request) summaryQuery {
	now := p.Clock.Now().In(v.Operator().TimeZone())
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	query := summaryQuery{Usual: usualPeriod, Days: readDays(v), Store: v.Query("tienda")}
	for _, length := range usualPeriods {
		if v.Query("periodo") == strconv.Itoa(length) {
			query.Usual = length
		}
	}
	length := query.Usual
	if query.Days.Any() {
		query.Usual, length = 0, usualPeriod
	}
	if query.Days.To == nil {
		query.Days.To = &today
	}
	if query.Days.From == nil {
		from := query.Days.To.AddDate(0, 0, 1-length)
		query.Days.From = &from
	}
	query.Days = query.Days.inOrder() // a first day after today
	return query
}

func (p *Pages) showSummary(v *Request) error {
	query := p.readSummaryQuery(v)
	summary, err := p.Orders.Summary(v.Ctx(), v.Caller, *query.Days.From, *query.Days.To, optionalID(query.Store))
	if err != nil {
		return err
	}
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return err
	}
	page := summaryPage{
		Query: query, Shown: days{&summary.From, &summary.To}, Shortened: query.Days.From.Before(summary.From),
		Span:    spanOf(summary.From, summary.To),
		Figures: figuresOf(v, summary), Plots: summarycharts.Of(summary, v.Caller.StoreID == nil, index.PathName),
	}
	if v.May(models.SettlementRead) {
		if page.Money, err = p.moneyFigures(v, summary, optionalID(query.Store)); err != nil {
			return err
		}
	}
	if v.May(models.SettlementRead) {
		if page.Money, err = p.moneyFigures(v, summary, optionalID(query.Store)); err != nil {
			return err
		}
	}
	for _, length := range usualPeriods {
		path := withQuery(summaryPath, map[string]string{"periodo": strconv.Itoa(length), "tienda": query.Store})
		page.Periods = append(page.Periods, tab{Label: strconv.Itoa(length) + " días", Path: path,
			Current: length == query.Usual})
	}
	if v.Caller.StoreID == nil {
		stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
		if err != nil {
			return err
		}
		page.Stores = forms.Options("Todas las tiendas", stores, storeLabel)
	}
	return p.show(v, http.StatusOK, "summary", "Resumen", page)
}

// moneyFigures are the figures of what was collected and earned on the days of a summary, whenever
// the orders were created.
func (p *Pages) moneyFigures(v *Request, s *orders.Summary, store *uuid.UUID) ([]moneyFigure, error) {
	if v.Caller.StoreID != nil {
		store = v.Caller.StoreID
	}
	from, to := s.From.Format(time.DateOnly), s.To.Format(time.DateOnly)
	collected, err := p.Cash.CollectedBetween(v.Ctx(), v.Operator(), store, from, to)
	if err != nil {
		return nil, err
	}
	income, err := p.Cash.Income(v.Ctx(), v.Operator(), store, from, to)
	if err != nil {
		return nil, err
	}
	labels := [2]string{"Cobrado en esos días", "Ganado en esos días"}
	if v.Caller.StoreID != nil {
		labels[1] = "Envíos y cargos de esos días"
	}
	figures := []moneyFigure{{Label: labels[0]}, {Label: labels[1]}}
	for _, of := range collected {
		figures[0].add(of.Method.Label(), of.Amount)
	}
	for _, of := range income {
		figures[1].add(of.Concept.Label(), of.Amount)
	}
	return figures, nil
}

// moneyFigure is a sum with its parts.
type moneyFigure struct {
	Label string
	Sum   money.Cents
	Parts []moneyPart
}

type moneyPart struct {
	Label  string
	Amount money.Cents
}

func (f *moneyFigure) add(label string, amount money.Cents) {
	f.Sum, f.Parts = f.Sum+amount, append(f.Parts, moneyPart{label, amount})
}

func spanOf(from, to time.Time) string {
	if from.Equal(to) {
		return "el " + to.Format("02/01/2006")
	}
	if from.Year() != to.Year() {
		return "del " + from.Format("02/01/2006") + " al " + to.Format("02/01/2006")
	}
	return "del " + from.Format("02/01") + " al " + to.Format("02/01/2006")
}

func figuresOf(v *Request, s *orders.Summary) []figure {
	rate := "—"
	if part, known := s.DeliveryRate(); known {
		rate = format.Percent(part)
	}
	first := "—"
	if part, known := s.AtFirstRate(); known {
		first = format.Percent(part)
	}
	return []figure{
		{"Creados", format.Number(s.Created()), ""},
		{"Entregados", format.Number(s.Counts[models.StatusDelivered]), ""},
		{"Cancelados", format.Number(s.Counts[models.StatusCancelled]), ""},
		{"En curso ahora", format.Number(s.Open()), ""},
		{"Tasa de entrega", rate, "de los terminados"},
		{"Al primer intento", first, "de los entregados"},
	}
}

package panel

import (
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"despacho/models"
	"despacho/orders"
	"despacho/web/panel/format"
	"despacho/web/panel/forms"
	"despacho/web/panel/summarycharts"
)

const summaryPath = "/panel/resumen"

// usualPeriods are numbers of days up to today; the second is the default.
var usualPeriods = []int{7, 30, 90}

const usualPeriod = 30

// summaryPage is the summary of a period's orders.
type summaryPage struct {
	Periods []tab
	Query   summaryQuery
	Stores  []forms.Option
	// Span is the period as text; Shortened means that the requested period was longer.
	Span      string
	Shortened bool
	Figures   []figure
	Plots     []summarycharts.Card
}

// figure is a number with its label.
type figure struct{ Label, Value, Detail string }

// Long reports whether the value needs a smaller font on a phone.
func (f figure) Long() bool { return utf8.RuneCountInString(f.Value) > 9 }

// summaryQuery is the query of the URL. Chosen days take precedence over a usual period.
type summaryQuery struct {
	// Days is the usual period, 0 where the days were chosen.
	Days     int
	From, To time.Time
	Store    string
}

func (p *Pages) readSummaryQuery(v *Request) summaryQuery {
	now := p.Clock.Now().In(v.Operator().TimeZone())
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	query := summaryQuery{Days: usualPeriod, To: today, Store: v.Query("tienda")}
	for _, days := range usualPeriods {
		if v.Query("periodo") == strconv.Itoa(days) {
			query.Days = days
		}
	}
	query.From = today.AddDate(0, 0, 1-query.Days)
	from, to := optionalDay(v.Query("desde")), optionalDay(v.Query("hasta"))
	if to != nil {
		query.Days, query.To, query.From = 0, *to, to.AddDate(0, 0, 1-usualPeriod)
	}
	if from != nil {
		query.Days, query.From = 0, *from
	}
	return query
}

// path is the page's URL for a usual period of the same store.
func (q summaryQuery) path(days int) string {
	values := url.Values{"periodo": {strconv.Itoa(days)}}
	if q.Store != "" {
		values.Set("tienda", q.Store)
	}
	return summaryPath + "?" + values.Encode()
}

// Day is a date for its input field.
func (summaryQuery) Day(day time.Time) string { return day.Format(time.DateOnly) }

func (p *Pages) showSummary(v *Request) error {
	query := p.readSummaryQuery(v)
	summary, err := p.Orders.Summary(v.Ctx(), v.Caller, query.From, query.To, optionalID(query.Store))
	if err != nil {
		return err
	}
	page := summaryPage{
		Query: query, Shortened: query.From.Before(summary.From) && !query.From.After(query.To), Span: spanOf(summary.From, summary.To),
		Figures: figuresOf(v, summary), Plots: summarycharts.Of(summary, v.Caller.StoreID == nil),
	}
	page.Query.From, page.Query.To = summary.From, summary.To
	for _, days := range usualPeriods {
		page.Periods = append(page.Periods, tab{Label: strconv.Itoa(days) + " días", Path: query.path(days), Current: days == query.Days})
	}
	if v.Caller.StoreID == nil {
		stores, err := p.Operators.Stores(v.Ctx(), v.Operator())
		if err != nil {
			return err
		}
		page.Stores = []forms.Option{{Value: "", Label: "Todas las tiendas"}}
		for _, store := range stores {
			page.Stores = append(page.Stores, forms.Option{Value: store.ID.String(), Label: store.Name})
		}
	}
	return p.show(v, http.StatusOK, "summary", "Resumen", page)
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
	return []figure{
		{"Creados", format.Number(s.Created()), ""},
		{"Entregados", format.Number(s.Counts[models.StatusDelivered]), ""},
		{"Cancelados", format.Number(s.Counts[models.StatusCancelled]), ""},
		{"En curso ahora", format.Number(s.Open()), ""},
		{"Tasa de entrega", rate, "de los terminados"},
		{"Cobrado", format.Amount(s.Collected, v.Operator().Currency), "al entregar"},
	}
}

// Package summarycharts makes the charts of the panel's summary of orders.
package summarycharts

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/chart"
	"despacho/internal/panel/format"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Card is a chart with its title, legend and table.
type Card struct {
	Title string
	// Note is a one-sentence reading of the chart.
	Note   string
	Legend []LegendLine
	// Drawing is empty where there is nothing to draw; Empty is the text shown then.
	Drawing template.HTML
	Empty   string
	Columns []string
	Rows    [][]string
	// Wide takes the whole width of the page.
	Wide bool
}

// LegendLine is a part of the chart with its value.
type LegendLine struct {
	chart.Part
	Value string
}

// Of makes the charts of a summary; withRiders adds the deliveries and the failed attempts of each
// rider. place is the name of a location.
func Of(s *orders.Summary, withRiders bool, place func(uuid.UUID) string) []Card {
	byDay := ordersByDay(s)
	if s.Created() == 0 {
		return []Card{byDay} // the other charts would be empty
	}
	cards := []Card{
		byDay,
		deliveryTimes("De la recepción a la entrega", s.SinceReception),
		deliveryTimes("De la creación a la entrega", s.SinceCreation),
		cancelledByCause(s),
		cancelReasons(s),
		failuresByReason(s),
		failuresByPlace(s, place),
	}
	if withRiders {
		cards = append(cards, riderDeliveries(s), riderFailures(s))
	}
	return cards
}

// maxDays is the most days with a column of their own; a longer period is shown by weeks.
const maxDays = 92

func ordersByDay(s *orders.Summary) Card {
	card := Card{Title: "Pedidos por día y estado",
		Note:  "Cada columna es un día de creación; los colores dicen cómo están ahora.",
		Empty: "No se crearon pedidos en este período.", Wide: true, Columns: []string{"Día"}}
	byWeek := len(s.Days) > maxDays
	if byWeek {
		card.Title, card.Note = "Pedidos por semana y estado",
			"Cada columna es una semana de creación; los colores dicen cómo están ahora."
		card.Columns[0] = "Semana del"
	}
	drawing := chart.Columns{Title: card.Title}
	for _, status := range models.Statuses {
		part := chart.Part{Label: status.Label(), Class: "fill-" + string(status)}
		drawing.Parts = append(drawing.Parts, part)
		card.Legend = append(card.Legend, LegendLine{part, format.Number(s.Counts[status])})
		card.Columns = append(card.Columns, status.Label())
	}
	card.Columns = append(card.Columns, "Total")
	for i, day := range s.Days {
		if byWeek && i > 0 && day.Day.Weekday() != time.Monday {
			addTo(&drawing.Data[len(drawing.Data)-1], day)
			continue
		}
		column := chart.Column{Label: day.Day.Format("02/01/2006"), Tick: day.Day.Format("02/01"),
			Values: make([]int64, len(models.Statuses))}
		addTo(&column, day)
		drawing.Data = append(drawing.Data, column)
	}
	for _, column := range drawing.Data {
		card.Rows = append(card.Rows, rowOf(column))
	}
	if s.Created() > 0 {
		card.Drawing = drawing.SVG()
	}
	return card
}

// addTo adds a day to a column.
func addTo(column *chart.Column, day orders.DaySummary) {
	for i, status := range models.Statuses {
		column.Values[i] += day.Counts[status]
	}
}

func rowOf(column chart.Column) []string {
	row, total := []string{column.Label}, int64(0)
	for _, value := range column.Values {
		row = append(row, format.Number(value))
		total += value
	}
	return append(row, format.Number(total))
}

// maxBuckets is the most time intervals whose labels fit.
const maxBuckets = 12

func deliveryTimes(title string, durations orders.Durations) Card {
	card := Card{Title: title, Empty: "No hay entregas en este período.", Columns: []string{"Tiempo", "Entregas"}}
	buckets := durations.Buckets(maxBuckets)
	if len(buckets) == 0 {
		return card
	}
	median, p90 := format.Duration(durations.Median()), format.Duration(durations.P90())
	card.Note = "La mitad se entregó en " + median + " o menos (mediana); nueve de cada diez, en " + p90 + " o menos (p90)."
	width := float64(buckets[0].Until)
	drawing := chart.Columns{
		Title: title + ": mediana " + median + ", p90 " + p90, Continuous: true,
		Parts: []chart.Part{{Label: "Entregas", Class: "fill-delivered"}},
		Marks: []chart.Mark{{At: float64(durations.Median()) / width, Label: "mediana " + median},
			{At: float64(durations.P90()) / width, Label: "p90 " + p90}},
	}
	for i, bucket := range buckets {
		label := "De " + format.Duration(bucket.From) + " a " + format.Duration(bucket.Until)
		if i == len(buckets)-1 {
			label = "Desde " + format.Duration(bucket.From)
		}
		tick := format.Duration(bucket.From)
		if i == 0 {
			tick = "0"
		}
		drawing.Data = append(drawing.Data, chart.Column{Label: label, Tick: tick, Values: []int64{bucket.Count}})
		card.Rows = append(card.Rows, []string{label, format.Number(bucket.Count)})
	}
	card.Drawing = drawing.SVG()
	return card
}

func cancelledByCause(s *orders.Summary) Card {
	card := barsCard("Cancelados por causa", "Causa", "No hay pedidos cancelados en este período.")
	bars := []chart.Bar{
		{Label: "Automático: no llegó a tiempo", Value: s.CancelledBy[models.ByAuto]},
		{Label: "La tienda", Value: s.CancelledBy[models.ByStore]},
		{Label: "El operador", Value: s.CancelledBy[models.ByOperator]},
	}
	return card.with(bars, s.Counts[models.StatusCancelled], "fill-cancelled")
}

// CancelReason is the reason of a cancellation in words: that of a return is the service's own.
func CancelReason(reason string) string {
	if reason == string(models.SubstatusReturned) {
		return "Devuelto a la tienda"
	}
	return reason
}

func cancelReasons(s *orders.Summary) Card {
	card := barsCard("Motivos más frecuentes", "Motivo", "Nadie escribió un motivo en este período.")
	card.Note = "Lo que escribieron quienes cancelaron."
	var bars []chart.Bar
	for _, reason := range s.Reasons {
		bars = append(bars, chart.Bar{Label: CancelReason(reason.Reason), Value: reason.Count})
	}
	return card.with(bars, s.Counts[models.StatusCancelled], "fill-cancelled")
}

// maxRiders is the most riders or districts with a bar of their own; the table has all of them.
const maxRiders = 12

func riderDeliveries(s *orders.Summary) Card {
	card := barsCard("Entregas por motorizado", "Motorizado", "No hay entregas en este período.")
	card.Wide = true
	var bars []chart.Bar
	for _, rider := range s.Riders {
		bars = append(bars, chart.Bar{Label: rider.Name, Value: rider.Count})
	}
	return card.few(bars, "Otro motorizado", "motorizados", s.Counts[models.StatusDelivered], "fill-delivered")
}

const noFailures = "No hay intentos fallidos en este período."

func failuresByReason(s *orders.Summary) Card {
	card := barsCard("Intentos fallidos por motivo", "Motivo", noFailures)
	var bars []chart.Bar
	for _, reason := range models.FailureReasons {
		if count := s.Failures[reason]; count > 0 {
			bars = append(bars, chart.Bar{Label: reason.Label(), Value: count})
		}
	}
	return card.counted("Intentos").with(descending(bars), s.Failed(), "fill-assigned")
}

func failuresByPlace(s *orders.Summary, place func(uuid.UUID) string) Card {
	card := barsCard("Intentos fallidos por distrito", "Distrito", noFailures)
	var bars []chart.Bar
	for id, count := range s.FailuresAt {
		bars = append(bars, chart.Bar{Label: place(id), Value: count})
	}
	return card.counted("Intentos").few(descending(bars), "Otro distrito", "distritos", s.Failed(), "fill-assigned")
}

func riderFailures(s *orders.Summary) Card {
	card := barsCard("Intentos fallidos por motorizado", "Motorizado", noFailures)
	card.Wide = true
	var bars []chart.Bar
	for _, rider := range s.FailedRiders {
		bars = append(bars, chart.Bar{Label: rider.Name, Value: rider.Count})
	}
	return card.counted("Intentos").few(bars, "Otro motorizado", "motorizados", s.Failed(), "fill-assigned")
}

// descending sorts bars, the longest first and equal ones by name.
func descending(bars []chart.Bar) []chart.Bar {
	slices.SortFunc(bars, func(a, b chart.Bar) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), textnorm.Compare(a.Label, b.Label))
	})
	return bars
}

// counted says what is counted, if it is not orders.
func (c Card) counted(what string) Card {
	c.Columns[1] = what
	return c
}

// few draws the first bars alone and sums up the others, of which the table has all.
func (c Card) few(bars []chart.Bar, other, others string, whole int64, class string) Card {
	drawn := slices.Clone(bars[:min(len(bars), maxRiders)])
	var rest int64
	for _, bar := range bars[len(drawn):] {
		rest += bar.Value
	}
	if rest > 0 {
		number := len(bars) - len(drawn)
		drawn = append(drawn, chart.Bar{Label: format.Plural(number, other, "Otros "+strconv.Itoa(number)+" "+others), Value: rest})
	}
	c = c.with(drawn, whole, class)
	c.Rows = nil
	for _, bar := range bars {
		c.Rows = append(c.Rows, []string{bar.Label, format.Number(bar.Value)})
	}
	return c
}

func barsCard(title, column, empty string) Card {
	return Card{Title: title, Empty: empty, Columns: []string{column, "Pedidos"}}
}

// with draws the bars, each with its share of the whole, unless all of them are zero.
func (c Card) with(bars []chart.Bar, whole int64, class string) Card {
	var sum int64
	for i := range bars {
		sum += bars[i].Value
	}
	if sum == 0 {
		return c
	}
	for i := range bars {
		bars[i].Class, bars[i].Detail = class, format.Percent(float64(bars[i].Value)/float64(whole))
		c.Rows = append(c.Rows, []string{bars[i].Label, format.Number(bars[i].Value)})
	}
	c.Drawing = chart.Bars{Title: c.Title, Data: bars}.SVG()
	return c
}

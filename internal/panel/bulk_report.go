package panel

import (
	"github.com/google/uuid"

	"despacho/internal/orders"
)

// bulkReport is the result of a bulk move: the count of each outcome, and each order.
type bulkReport struct {
	Title string
	// SettledTitle is above the orders that are as requested.
	SettledTitle string
	Counts       []bulkCount
	// Open need attention; Settled do not.
	Open, Settled []bulkLine
	// Warning is about all of them; empty if there is none.
	Warning string
	// again are those that can be retried.
	again []uuid.UUID
}

type bulkCount struct {
	Number int
	Result cell
}

type bulkLine struct {
	orders.BulkResult
	Result cell
}

// Brief reports whether there are few enough to show all of them.
func (r *bulkReport) Brief() bool { return len(r.Settled) <= 12 }

// bulkWords are the texts of the outcomes, in the order of the summary.
type bulkWords []struct {
	outcome orders.BulkOutcome
	cell    cell
}

var assignmentResults = bulkWords{
	{orders.BulkAssigned, cell{Text: "Asignado", Style: "good"}},
	{orders.BulkUnchanged, cell{Text: "Ya lo tenía", Style: "quiet"}},
	{orders.BulkUnconfirmed, cell{Text: "Sin confirmar", Style: "warn"}},
	{orders.BulkRefused, cell{Text: "Rechazado", Style: "bad"}},
}

var receptionResults = bulkWords{
	{orders.BulkReceived, cell{Text: "Recibido", Style: "good"}},
	{orders.BulkUnchanged, cell{Text: "Ya estaba recibido", Style: "quiet"}},
	{orders.BulkUnconfirmed, cell{Text: "Sin confirmar", Style: "warn"}},
	{orders.BulkRefused, cell{Text: "Rechazado", Style: "bad"}},
}

var returnResults = bulkWords{
	{orders.BulkHandedBack, cell{Text: "Entregado", Style: "good"}},
	{orders.BulkUnchanged, cell{Text: "La tienda ya lo tenía", Style: "quiet"}},
	{orders.BulkUnconfirmed, cell{Text: "Sin confirmar", Style: "warn"}},
	{orders.BulkRefused, cell{Text: "Rechazado", Style: "bad"}},
}

var deliveryResults = bulkWords{
	{orders.BulkDelivered, cell{Text: "Entregado", Style: "good"}},
	{orders.BulkUnchanged, cell{Text: "Ya estaba entregado", Style: "quiet"}},
	{orders.BulkUnconfirmed, cell{Text: "Sin confirmar", Style: "warn"}},
	{orders.BulkRefused, cell{Text: "Rechazado", Style: "bad"}},
}

var failureResults = bulkWords{
	{orders.BulkFailed, cell{Text: "Intento registrado", Style: "good"}},
	{orders.BulkUnconfirmed, cell{Text: "Sin confirmar", Style: "warn"}},
	{orders.BulkRefused, cell{Text: "Rechazado", Style: "bad"}},
}

var cancellationResults = bulkWords{
	{orders.BulkCancelled, cell{Text: "Cancelado", Style: "good"}},
	{orders.BulkUnchanged, cell{Text: "Ya estaba cancelado", Style: "quiet"}},
	{orders.BulkUnconfirmed, cell{Text: "Sin confirmar", Style: "warn"}},
	{orders.BulkRefused, cell{Text: "Rechazado", Style: "bad"}},
}

// report reports the results of a bulk move.
func (words bulkWords) report(title, settledTitle string, results []orders.BulkResult) *bulkReport {
	report := &bulkReport{Title: title, SettledTitle: settledTitle}
	for _, word := range words {
		number := 0
		for _, result := range results {
			if result.Outcome == word.outcome {
				report.add(bulkLine{result, word.cell})
				number++
			}
		}
		if number > 0 {
			report.Counts = append(report.Counts, bulkCount{number, word.cell})
		}
	}
	return report
}

func (r *bulkReport) add(line bulkLine) {
	switch line.Outcome {
	case orders.BulkUnconfirmed:
		r.again = append(r.again, line.ID)
		r.Open = append(r.Open, line)
	case orders.BulkRefused:
		r.Open = append(r.Open, line)
	default:
		r.Settled = append(r.Settled, line)
	}
}

package panel

import (
	"github.com/google/uuid"

	"despacho/models"
	"despacho/orders"
)

// assignmentReport is the result of an assignment: the count of each outcome, and each order.
type assignmentReport struct {
	Rider  string
	Counts []assignmentCount
	// Open need attention; Settled do not.
	Open, Settled []assignmentLine
	// again are those that can be retried.
	again []uuid.UUID
}

type assignmentCount struct {
	Number int
	Result cell
}

type assignmentLine struct {
	orders.Assignment
	Result cell
}

// Brief reports whether there are few enough to show all of them.
func (r *assignmentReport) Brief() bool { return len(r.Settled) <= 12 }

// assignmentResults are the texts of the outcomes, in the order of the summary.
var assignmentResults = []struct {
	outcome orders.AssignmentOutcome
	cell    cell
}{
	{orders.AssignmentDone, cell{Text: "Asignado", Style: "good"}},
	{orders.AssignmentUnchanged, cell{Text: "Ya lo tenía", Style: "quiet"}},
	{orders.AssignmentUnconfirmed, cell{Text: "Sin confirmar", Style: "warn"}},
	{orders.AssignmentRefused, cell{Text: "Rechazado", Style: "bad"}},
}

func reportOf(assignments []orders.Assignment, riderID uuid.UUID, riders []models.Rider) *assignmentReport {
	report := &assignmentReport{}
	for _, rider := range riders {
		if rider.ID == riderID {
			report.Rider = rider.Name
		}
	}
	for _, result := range assignmentResults {
		number := 0
		for _, assignment := range assignments {
			if assignment.Outcome == result.outcome {
				report.add(assignmentLine{assignment, result.cell})
				number++
			}
		}
		if number > 0 {
			report.Counts = append(report.Counts, assignmentCount{number, result.cell})
		}
	}
	return report
}

func (r *assignmentReport) add(line assignmentLine) {
	switch line.Outcome {
	case orders.AssignmentUnconfirmed:
		r.again = append(r.again, line.ID)
		r.Open = append(r.Open, line)
	case orders.AssignmentRefused:
		r.Open = append(r.Open, line)
	default:
		r.Settled = append(r.Settled, line)
	}
}

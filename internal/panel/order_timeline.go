package panel

import (
	"cmp"
	"strings"
	"time"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/models"
)

// timelineRow is an entry of the timeline in words.
type timelineRow struct {
	Status      models.Status
	Text        string
	Who, Detail string
	Changes     []changeRow
	// At is when it happened, and Recorded when the service heard of it, if that was later.
	At       time.Time
	Recorded *time.Time
	// ClockOff says that the clock of the phone was wrong, Photo is the address of a photo.
	ClockOff, Photo string
}

// story is what the entries until now say: who has the package, and what the latest move was.
type story struct {
	// carrier is the rider, carrierBefore the one before the latest move.
	carrier, carrierBefore string
	latest                 models.TimelineView
}

func (p *Pages) timelineOf(v *Request, details *orders.OrderPage) []timelineRow {
	rows := make([]timelineRow, len(details.Timeline))
	var until story
	for i, entry := range details.Timeline {
		row := timelineRow{
			Status: entry.Status, Text: until.words(entry), Who: whoDid(v, entry), Detail: until.detail(entry),
			Changes: p.changeRows(details.Order.View, details.Corrections[entry.ID]), At: entry.At,
		}
		if entry.OccurredAt != nil && entry.At.Sub(*entry.OccurredAt) >= recordedLater {
			row.At, row.Recorded = *entry.OccurredAt, &entry.At
		}
		if entry.ClockOff != nil {
			off := time.Duration(max(*entry.ClockOff, -*entry.ClockOff)) * time.Second
			row.ClockOff = "el reloj del teléfono está mal por " + format.Duration(off)
		}
		if entry.Photo != nil {
			row.Photo = p.Orders.PhotoURL(*entry.Photo)
		}
		rows[i] = row
		if entry.Seq != nil {
			until.add(entry)
		}
	}
	return rows
}

// recordedLater is how much later than it happened something has to be recorded for both times to
// be shown.
const recordedLater = time.Minute

func (s *story) add(entry models.TimelineView) {
	before := s.carrier
	switch models.Move(entry.Type) {
	case models.MoveAssign:
		s.carrier = orEmpty(entry.RiderName)
	case models.MoveReceive:
		s.carrier = ""
	case models.MoveUndo:
		s.carrier = s.carrierBefore
	}
	s.carrierBefore, s.latest = before, entry
}

// words describe an entry that comes next.
func (s *story) words(entry models.TimelineView) string {
	rider, detail := orEmpty(entry.RiderName), orEmpty(entry.Detail)
	switch models.Move(entry.Type) {
	case models.MoveReceive:
		switch {
		case s.latest.Status == models.StatusCancelled:
			return "Paquete recibido: el pedido cancelado vuelve a estar en marcha"
		case s.latest.Status == models.StatusAssigned && rider != "":
			return "De vuelta en la sucursal: lo traía " + rider
		case s.latest.Status == models.StatusAssigned:
			return "De vuelta en la sucursal"
		}
	case models.MoveAssign:
		return assignmentWords(s.carrier, rider)
	case models.MoveDeliver:
		if by := cmp.Or(rider, s.carrier); by != "" {
			return "Entregado por " + by
		}
	case models.MoveFail:
		if detail == "" { // it was erased
			break
		}
		return "No se pudo entregar: " + lowerFirst(models.FailureReason(detail).Label())
	case models.MoveRetry:
		if day := format.LongDay(firstLine(detail)); day != "" {
			return "Se intenta otra vez el " + day
		}
	case models.MoveUndo:
		return "Se deshizo: " + lowerFirst(cmp.Or(entryTexts[s.latest.Type], s.latest.Type))
	case models.Move(models.TimelineCorrected):
		return correctionWords(detail)
	}
	return cmp.Or(entryTexts[entry.Type], entry.Type)
}

// detail is what an entry says below its words.
func (s *story) detail(entry models.TimelineView) string {
	detail, rider := orEmpty(entry.Detail), orEmpty(entry.RiderName)
	switch entry.Type {
	case models.TimelinePointResolved:
		return pointWords[detail]
	case models.TimelineCorrected:
		return ""
	case string(models.MoveFail):
		if rider != "" && entry.By != string(models.ByRider) {
			return "Lo llevaba " + rider
		}
		return ""
	case string(models.MoveRetry):
		_, note, _ := strings.Cut(detail, "\n")
		return note
	}
	return detail
}

// assignmentWords describe an assignment; before is the rider who had the order, if there was one.
// A store is not told who they are.
func assignmentWords(before, rider string) string {
	switch {
	case rider == "":
		return entryTexts[string(models.MoveAssign)]
	case before == "" || before == rider:
		return "Asignado a " + rider
	}
	return "Pasó de " + before + " a " + rider
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

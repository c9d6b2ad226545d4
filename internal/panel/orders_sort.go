package panel

import (
	"strings"

	"despacho/internal/orders"
	"despacho/models"
)

// sortColumns are the columns of the list that it can be sorted by, by their name in the URL.
var sortColumns = map[string]orders.SortColumn{
	sortRecipient: orders.SortByRecipient, sortPlace: orders.SortByLocation, sortAmount: orders.SortByAmount,
	sortDate: orders.SortByCreation,
}

const (
	sortRecipient = "destinatario"
	sortPlace     = "distrito"
	sortAmount    = "monto"
	sortDate      = "fecha"
)

// orderSort is the requested sort. The date is that of the column: in the list of delivered orders
// that of the delivery.
func (q orderQuery) orderSort() orders.Sort {
	name := strings.TrimPrefix(q.Sort, "-")
	if name == "" {
		return orders.Sort{}
	}
	sort := orders.Sort{Column: sortColumns[name], Ascending: name == q.Sort}
	if name == sortDate && q.Status == models.StatusDelivered {
		sort.Column = orders.SortByDelivery
	}
	return sort
}

// columnHead is the head of a column. Path is the list sorted by it, empty if the list is too long;
// Sorted is the value of aria-sort.
type columnHead struct {
	Label, Path, Sorted string
	// Class is the class of its cells.
	Class string
	End   bool
}

// orderColumnHeads are the heads of the columns that the list can be sorted by.
type orderColumnHeads struct{ Recipient, Place, Amount, Date columnHead }

// Links are the heads that lead somewhere, for where there is no room for a table.
func (h orderColumnHeads) Links() []columnHead {
	var links []columnHead
	for _, head := range []columnHead{h.Date, h.Recipient, h.Place, h.Amount} {
		if head.Path != "" {
			links = append(links, head)
		}
	}
	return links
}

func columnHeads(query orderQuery, counted *orders.CountedPage) orderColumnHeads {
	amount, date := "Por cobrar", "Creado"
	if query.Status == models.StatusDelivered {
		amount, date = "Cobrado", "Entregado"
	}
	// Amounts and dates begin with the largest and the latest.
	heads := orderColumnHeads{
		Recipient: headOf(query, counted, sortRecipient, "Destinatario", false),
		Place:     headOf(query, counted, sortPlace, "Distrito", false),
		Amount:    headOf(query, counted, sortAmount, amount, true), Date: headOf(query, counted, sortDate, date, true),
	}
	heads.Recipient.Class, heads.Place.Class, heads.Amount.Class, heads.Date.Class = "who", "place", "amount", "created"
	heads.Amount.End = true
	return heads
}

// headOf is the head of a column. Its link sorts by it, or the other way round if the list is
// sorted by it already.
func headOf(query orderQuery, counted *orders.CountedPage, name, label string, descendingFirst bool) columnHead {
	head, wanted := columnHead{Label: label}, query
	wanted.Sort = name
	column := wanted.orderSort()
	if !column.Indexed() && !counted.SortableByAll {
		return head
	}
	descending := descendingFirst
	if counted.Sort.Column == column.Column {
		head.Sorted = "descending"
		if counted.Sort.Ascending {
			head.Sorted = "ascending"
		}
		descending = counted.Sort.Ascending
	}
	if descending {
		wanted.Sort = "-" + name
	}
	wanted.Page = 1
	head.Path = wanted.at(ordersPath)
	return head
}

package panel

import (
	"context"
	"io"
	"slices"
	"strconv"
	"time"

	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/format"
	"despacho/internal/panel/neworder"
	"despacho/internal/panel/summarycharts"
)

const (
	ordersFilePath     = "/panel/pedidos.csv"
	assignmentFilePath = "/panel/asignacion.csv"
)

// DownloadTime is how long a file may take, on a slow connection too.
const DownloadTime = 15 * time.Minute

// streamFile sends a file while it is made: it is never in memory as a whole.
func (p *Pages) streamFile(v *Request, name string, write func(context.Context, *csvfile.Writer) error) error {
	v.Header("Content-Disposition", `attachment; filename="`+name+`"`)
	v.Header("Content-Type", "text/csv; charset=utf-8")
	v.Header("Cache-Control", "no-store")
	// The request's own time ends with its handler.
	ctx := context.WithoutCancel(v.Ctx())
	p.Stream(v.Context, func(w io.Writer) error {
		ctx, end := context.WithTimeout(ctx, DownloadTime)
		defer end()
		file := csvfile.NewWriter(&recheckingWriter{Writer: w, recheck: func() error { return v.Recheck(ctx) }}, csvfile.Semicolon)
		if err := write(ctx, file); err != nil {
			return err
		}
		return file.Flush()
	})
	return nil
}

// recheckEvery is how much of a file is sent to a user between two checks that the user may have
// it.
const recheckEvery = 256 << 10

// recheckingWriter sends a file, which may take long, for as long as its user may have it.
type recheckingWriter struct {
	io.Writer
	recheck func() error
	sent    int
}

// Write sends a part of the file.
func (w *recheckingWriter) Write(p []byte) (int, error) {
	if w.sent >= recheckEvery {
		if err := w.recheck(); err != nil {
			return 0, err
		}
		w.sent = 0
	}
	n, err := w.Writer.Write(p)
	w.sent += n
	return n, err
}

// orderColumns are the columns of a file of orders.
var orderColumns = slices.Concat([]neworder.DownloadColumn{
	{Name: "guia", Text: func(o neworder.Shown) string { return o.GuideCode }},
	{Name: "estado", Text: func(o neworder.Shown) string { return o.StatusLabel }},
	{Name: "creado", Text: func(o neworder.Shown) string { return fileTime(o, &o.CreatedAt) }},
	{Name: "recibido", Text: func(o neworder.Shown) string { return fileTime(o, o.ReceivedAt) }},
	{Name: "asignado", Text: func(o neworder.Shown) string { return fileTime(o, o.AssignedAt) }},
	{Name: "entregado", Text: func(o neworder.Shown) string { return fileTime(o, o.DeliveredAt) }},
	{Name: "cancelado", Text: func(o neworder.Shown) string { return fileTime(o, o.CancelledAt) }},
}, neworder.DownloadColumns(), []neworder.DownloadColumn{
	{Name: "motorizado", Text: func(o neworder.Shown) string { return ordersPage{}.RiderName(o.View) }},
	{Name: "motivo_de_cancelacion", Text: func(o neworder.Shown) string {
		if o.Cancellation == nil {
			return ""
		}
		return summarycharts.CancelReason(orEmpty(o.Cancellation.Reason))
	}},
	{Name: "moneda", Text: func(o neworder.Shown) string { return o.Currency }},
	{Name: "cobrado", Text: func(o neworder.Shown) string {
		if o.ActualAmountCollected == nil {
			return ""
		}
		return o.ActualAmountCollected.String()
	}},
	{Name: "tarifa", Text: func(o neworder.Shown) string { return o.ShippingCost.String() }},
})

// fileTime is a time as spreadsheet programs read it, in the operator's time zone.
func fileTime(order neworder.Shown, at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.In(order.Zone).Format("2006-01-02 15:04:05")
}

// downloadOrders sends every order of a list, with the filters of its page and the totals in the
// last row.
func (p *Pages) downloadOrders(v *Request) error {
	query := p.readOrderQuery(v).ordersQuery()
	if v.Query(allParameter) == "" {
		query.IDs = selectedIDs(v.QueryArray("id"))
	}
	return p.sendOrdersFile(v, query)
}

// downloadAssignment sends the orders that can be assigned.
func (p *Pages) downloadAssignment(v *Request) error {
	return p.sendOrdersFile(v, readAssignmentQuery(v).ordersQuery())
}

func (p *Pages) sendOrdersFile(v *Request, query orders.Query) error {
	names := storeNaming{}
	if v.Caller.StoreID != nil {
		store, err := p.DB.Store(v.Ctx(), *v.Caller.StoreID)
		if err != nil {
			return err
		}
		names[store.ID] = store.Name
	} else {
		stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
		if err != nil {
			return err
		}
		names = storeNames(stores)
	}
	if err := p.Orders.CheckSearch(v.Caller, query); err != nil {
		return err
	}
	name := "pedidos-" + p.Clock.Now().In(v.Operator().TimeZone()).Format("2006-01-02-1504") + ".csv"
	return p.streamFile(v, name, func(ctx context.Context, file *csvfile.Writer) error {
		return p.writeOrders(ctx, v, file, query, names)
	})
}

func (p *Pages) writeOrders(ctx context.Context, v *Request, file *csvfile.Writer, query orders.Query, names storeNaming) error {
	cells := make([]string, len(orderColumns))
	for i, column := range orderColumns {
		cells[i] = column.Name
	}
	if err := file.Write(cells...); err != nil {
		return err
	}
	var count int64
	zone := v.Operator().TimeZone()
	totals := map[string]money.Cents{}
	err := p.Orders.Each(ctx, v.Caller, query, func(order *orders.View) error {
		count++
		totals["monto_a_cobrar"] += order.AmountToCollect
		totals["tarifa"] += order.ShippingCost
		if order.ActualAmountCollected != nil {
			totals["cobrado"] += *order.ActualAmountCollected
		}
		shown := neworder.Shown{View: order, Zone: zone, Place: order.Location.Name}
		if order.StoreID != nil {
			shown.Store = names[*order.StoreID]
		}
		for i, column := range orderColumns {
			cells[i] = column.Text(shown)
		}
		return file.Write(cells...)
	})
	if err != nil {
		return err
	}
	for i, column := range orderColumns {
		cells[i] = ""
		if total, summed := totals[column.Name]; summed {
			cells[i] = total.String()
		}
	}
	cells[0], cells[1] = "TOTAL", strconv.FormatInt(count, 10)+format.Plural(count, " pedido", " pedidos")
	return file.Write(cells...)
}

// FilePath is the address of the list's file.
func (q orderQuery) FilePath() string {
	q.Page, q.Sort = 1, "" // a file is newest first
	return q.at(ordersFilePath)
}

// FilePath is the address of the list's file.
func (q assignmentQuery) FilePath() string {
	return q.filters().at(assignmentFilePath) // a file has every page and every group
}

package panel

import (
	"context"
	"io"
	"strconv"
	"time"

	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/format"
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
		file := csvfile.NewWriter(w, csvfile.Semicolon)
		if err := write(ctx, file); err != nil {
			return err
		}
		return file.Flush()
	})
	return nil
}

// orderColumns are the columns of a file of orders.
var orderColumns = []struct {
	name string
	cell func(v *Request, names storeNaming, order *orders.View) string
}{
	{"guia", func(_ *Request, _ storeNaming, o *orders.View) string { return o.GuideCode }},
	{"estado", func(_ *Request, _ storeNaming, o *orders.View) string { return o.StatusLabel }},
	{"creado", func(v *Request, _ storeNaming, o *orders.View) string { return fileTime(v, &o.CreatedAt) }},
	{"recibido", func(v *Request, _ storeNaming, o *orders.View) string { return fileTime(v, o.ReceivedAt) }},
	{"asignado", func(v *Request, _ storeNaming, o *orders.View) string { return fileTime(v, o.AssignedAt) }},
	{"entregado", func(v *Request, _ storeNaming, o *orders.View) string { return fileTime(v, o.DeliveredAt) }},
	{"cancelado", func(v *Request, _ storeNaming, o *orders.View) string { return fileTime(v, o.CancelledAt) }},
	{"tienda", func(_ *Request, names storeNaming, o *orders.View) string {
		if o.StoreID == nil {
			return ""
		}
		return names[*o.StoreID]
	}},
	{"destinatario", func(_ *Request, _ storeNaming, o *orders.View) string { return o.RecipientName }},
	{"telefono", func(_ *Request, _ storeNaming, o *orders.View) string { return o.RecipientPhone }},
	{"distrito", func(_ *Request, _ storeNaming, o *orders.View) string { return o.Location.Name }},
	{"direccion", func(_ *Request, _ storeNaming, o *orders.View) string { return o.DeliveryAddress }},
	{"referencia", func(_ *Request, _ storeNaming, o *orders.View) string { return orEmpty(o.DeliveryReference) }},
	{"producto", func(_ *Request, _ storeNaming, o *orders.View) string { return o.Product }},
	{"talla", func(_ *Request, _ storeNaming, o *orders.View) string { return o.Size }},
	{"motorizado", func(_ *Request, _ storeNaming, o *orders.View) string { return ordersPage{}.RiderName(o) }},
	{"motivo_de_cancelacion", func(_ *Request, _ storeNaming, o *orders.View) string {
		if o.Cancellation == nil {
			return ""
		}
		return orEmpty(o.Cancellation.Reason)
	}},
	{"moneda", func(_ *Request, _ storeNaming, o *orders.View) string { return o.Currency }},
	{"monto_acordado", func(_ *Request, _ storeNaming, o *orders.View) string { return o.AmountToCollect.String() }},
	{"cobrado", func(_ *Request, _ storeNaming, o *orders.View) string { return collectedCell(o) }},
	{"tarifa", func(_ *Request, _ storeNaming, o *orders.View) string { return o.ShippingCost.String() }},
	{"codigo_externo", func(_ *Request, _ storeNaming, o *orders.View) string { return orEmpty(o.ExternalID) }},
}

func collectedCell(order *orders.View) string {
	if order.ActualAmountCollected == nil {
		return ""
	}
	return order.ActualAmountCollected.String()
}

// fileTime is a time as spreadsheet programs read it, in the operator's time zone.
func fileTime(v *Request, at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.In(v.Operator().TimeZone()).Format("2006-01-02 15:04:05")
}

// downloadOrders sends every order of a list, with the filters of its page and the totals in the
// last row.
func (p *Pages) downloadOrders(v *Request) error {
	return p.sendOrdersFile(v, readOrderQuery(v).ordersQuery())
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
		stores, err := p.Operators.Stores(v.Ctx(), v.Operator())
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
		cells[i] = column.name
	}
	if err := file.Write(cells...); err != nil {
		return err
	}
	var count int64
	totals := map[string]money.Cents{}
	err := p.Orders.Each(ctx, v.Caller, query, func(order *orders.View) error {
		count++
		totals["monto_acordado"] += order.AmountToCollect
		totals["tarifa"] += order.ShippingCost
		if order.ActualAmountCollected != nil {
			totals["cobrado"] += *order.ActualAmountCollected
		}
		for i, column := range orderColumns {
			cells[i] = column.cell(v, names, order)
		}
		return file.Write(cells...)
	})
	if err != nil {
		return err
	}
	for i, column := range orderColumns {
		cells[i] = ""
		if total, summed := totals[column.name]; summed {
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
	q.Page, q.All = 1, false // a file has every page, and nothing to tick
	return q.at(assignmentFilePath)
}

package panel

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"despacho/internal/apperror"
	"despacho/orders"
)

// createdAtOnce bounds the load of one file.
const createdAtOnce = 8

// createUpload creates the orders of a preview and shows each result. A script sends a few rows at
// a time and gets the results of those.
func (p *Pages) createUpload(v *Request) error {
	back, err := p.readReturned(v)
	if err != nil {
		return err
	}
	defer p.extendTimeout(v)()
	back.create(v.Ctx(), back.rows, p.Clock.Now().Add(p.createTime()))
	page, err := back.page()
	if err != nil {
		return err
	}
	page.Done = true
	if isFragment(v) {
		return p.showPart(v, "upload_rows", "rows", page)
	}
	return p.show(v, http.StatusOK, "upload_rows", "Resultado de la carga", page)
}

// createTime leaves time for the last orders and the page; the remaining rows are reported and can
// be sent again.
func (p *Pages) createTime() time.Duration { return p.Config.Timeouts.Bulk * 5 / 8 }

// create creates the orders of the rows that have none, several in parallel, and starts none after
// the deadline.
func (r *rowReader) create(ctx context.Context, rows []*orderRow, deadline time.Time) {
	todo := make(chan *orderRow)
	var workers sync.WaitGroup
	for range createdAtOnce {
		workers.Go(func() {
			for row := range todo {
				r.createRow(ctx, row)
			}
		})
	}
	for _, row := range rows {
		if row.State() != "ready" {
			continue
		}
		if r.pages.Clock.Now().After(deadline) {
			row.Pending = true
			continue
		}
		todo <- row
	}
	close(todo)
	workers.Wait()
}

func (r *rowReader) createRow(ctx context.Context, row *orderRow) {
	created, err := r.pages.createOnce(ctx, r.visit.Caller, row.in, row.key)
	switch {
	case err == nil:
		row.Created = created
	case errors.Is(err, orders.ErrKeyReused):
		row.addError(codeColumn, "ya se usó con otros datos")
	case apperror.From(err).Kind == apperror.Internal, errors.Is(err, orders.ErrKeyInProgress):
		r.pages.Log.WarnContext(ctx, "row of an upload not created", "row", row.Number, "error", err)
		row.Pending = true
	default:
		if err := r.explain(row, err); err != nil {
			row.Pending = true
		}
	}
}

// summarizeUpload returns to a script the links for the created orders.
func (p *Pages) summarizeUpload(v *Request) error {
	back, err := p.readReturned(v)
	if err != nil {
		return err
	}
	page, err := back.page()
	if err != nil {
		return err
	}
	return p.showPart(v, "upload_rows", "after", page)
}

// uploadResult is the uploaded file with the guide codes added.
func (p *Pages) uploadResult(v *Request) error {
	back, err := p.readReturned(v)
	if err != nil {
		return err
	}
	rows := inFileOrder(append(back.rows, back.rest...))
	columns := back.used(rows)
	header := []string{"fila", "estado", "guia", "tarifa", "problema"}
	table := [][]string{append(header, columns...)}
	for _, row := range rows {
		table = append(table, append(resultCells(row), row.cellsOf(columns)...))
	}
	return sendCSV(v, "resultado-pedidos.csv", table, back.delimiter)
}

func resultCells(row *orderRow) []string {
	cells := []string{strconv.Itoa(row.Number), "no creado", "", "", row.problem()}
	if row.Created != nil {
		cells[1], cells[2], cells[3] = "creado", row.Created.Order.GuideCode, row.Created.Order.ShippingCost.String()
	}
	return cells
}

package panel

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"despacho/internal/panel/neworder"
)

// createUpload creates the orders of a preview and shows each result. A script sends a few rows at
// a time and gets the results of those.
func (p *Pages) createUpload(v *Request) error {
	back, err := p.readReturned(v)
	if err != nil {
		return err
	}
	defer p.extendTimeout(v)()
	back.Create(v.Ctx(), back.rows, p.Clock.Now().Add(p.createTime()))
	page, err := back.page(v)
	if err != nil {
		return err
	}
	page.Done = true
	if isFragment(v) {
		return p.showPart(v, "upload_rows", "rows", page)
	}
	return p.show(v, http.StatusOK, "upload_rows", "Resultado de la carga", page)
}

// correctUpload shows a preview again, with what was corrected in its rows with errors.
func (p *Pages) correctUpload(v *Request) error {
	back, err := p.readReturned(v)
	if err != nil {
		return err
	}
	page, err := back.page(v)
	if err != nil {
		return err
	}
	return p.show(v, http.StatusOK, "upload_rows", "Revisar la carga", page)
}

// createTime leaves time for the last orders and the page; the remaining rows are reported and can
// be sent again.
func (p *Pages) createTime() time.Duration { return p.Config.Timeouts.Bulk * 5 / 8 }

// summarizeUpload returns to a script the links for the created orders.
func (p *Pages) summarizeUpload(v *Request) error {
	back, err := p.readReturned(v)
	if err != nil {
		return err
	}
	page, err := back.page(v)
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
	rows := neworder.InFileOrder(append(back.rows, back.rest...))
	columns := back.Used(rows)
	header := []string{"fila", "estado", "guia", "tarifa", "problema"}
	table := [][]string{append(header, columns...)}
	for _, row := range rows {
		table = append(table, append(resultCells(row), row.CellsOf(columns)...))
	}
	return sendCSV(v, "resultado-pedidos.csv", table, back.delimiter)
}

// uploadErrors is a file of the rows with errors alone. Corrected, it can be uploaded on any day:
// it has none of the rows that are orders already.
func (p *Pages) uploadErrors(v *Request) error {
	back, err := p.readReturned(v)
	if err != nil {
		return err
	}
	page, err := back.page(v)
	if err != nil {
		return err
	}
	rows := neworder.InFileOrder(page.Invalid)
	columns := back.ToCorrect(rows)
	table := [][]string{append(slices.Clone(columns), "problema")}
	for _, row := range rows {
		cells := append(row.CellsOf(columns), row.Problem())
		if row.Overflows {
			// What was in the surplus cells is unknown. A cell without a heading keeps the row an
			// error until somebody has completed it.
			cells = append(cells, "Complete la fila y borre esta celda")
		}
		table = append(table, cells)
	}
	return sendCSV(v, "filas-con-errores.csv", table, back.delimiter)
}

func resultCells(row *neworder.Row) []string {
	cells := []string{strconv.Itoa(row.Number), "no creado", "", "", row.Problem()}
	if row.Created != nil {
		cells[1], cells[2], cells[3] = "creado", row.Created.Order.GuideCode, row.Created.Order.ShippingCost.String()
	}
	return cells
}

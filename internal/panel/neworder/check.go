package neworder

import (
	"context"
	"fmt"
	"slices"

	"despacho/internal/apperror"
	"despacho/internal/orders"
	"despacho/internal/panel/csvfile"
)

// refuseRepeated reports order numbers that a store uses twice: they are errors of all rows but the
// first. Two stores may have the same number.
func refuseRepeated(rows []*Row) {
	type storesNumber struct{ store, code string }
	first := map[storesNumber]int{}
	for _, row := range InFileOrder(slices.Clone(rows)) {
		number := storesNumber{row.store, row.Cells[codeColumn]}
		if number.code == "" {
			continue
		}
		if before, taken := first[number]; taken {
			row.addError(codeColumn, fmt.Sprintf("se repite: ya está en la fila %d", before))
		} else {
			first[number] = row.Number
		}
	}
}

// check finds for every row its quote, its existing order or its errors.
func (r *Reader) check(ctx context.Context, rows []*Row) error {
	refuseRepeated(rows)
	var keys []string
	for _, row := range rows {
		if row.Overflows {
			row.addError("", csvfile.OverflowMessage)
		}
		quote, err := r.Orders.Check(ctx, r.caller, row.in)
		if err := r.explain(row, err); err != nil {
			return err
		}
		if len(row.Errors) > 0 {
			continue
		}
		row.Quote = quote
		row.key = row.keyOn(r.day)
		keys = append(keys, row.key)
		if row.Cells[codeColumn] == "" {
			keys = append(keys, row.keyOn(r.dayBefore))
		}
	}
	previous, err := r.Orders.PreviousCreations(ctx, r.caller, keys)
	if err != nil {
		return err
	}
	for _, row := range rows {
		before, known := previous[row.key]
		switch {
		case !known:
		case !before.SameBody(row.in):
			row.addError(codeColumn, "ya se usó con otros datos en el pedido "+before.Order.GuideCode)
		default:
			row.Created = before.Created
		}
		if len(row.Errors) == 0 && row.Created == nil {
			r.noteDayBefore(row, previous)
		}
	}
	return nil
}

// noteDayBefore says that an equal row became an order the day before: this one is another order,
// which somebody who uploads the same file again may not want.
func (r *Reader) noteDayBefore(row *Row, previous map[string]orders.PreviousCreation) {
	if before, known := previous[row.keyOn(r.dayBefore)]; known {
		row.Notes = append(row.Notes, "Ayer se creó uno igual: "+before.Order.GuideCode+".")
	}
}

// explain records a rejection in terms of the file's columns. Internal errors are returned.
func (r *Reader) explain(row *Row, err error) error {
	if err == nil {
		return nil
	}
	problem := apperror.From(ForForm(err))
	if problem.Kind == apperror.Internal {
		return err
	}
	for _, wrong := range problem.Fields {
		row.addError(r.columnOf(row, wrong.Field), wrong.Message)
	}
	if len(problem.Fields) == 0 {
		row.Errors = append(row.Errors, CellError{Message: problem.Message})
	}
	return nil
}

// columnOf returns the column that an order's field was read from.
func (r *Reader) columnOf(row *Row, member string) string {
	for _, column := range r.columns {
		if column.Member != member {
			continue
		}
		if column.Name == placeColumn && row.Cells[placeColumn] == "" && row.Cells[ubigeoColumn] != "" {
			return ubigeoColumn
		}
		return column.Name
	}
	return ""
}

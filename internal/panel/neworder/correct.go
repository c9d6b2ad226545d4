package neworder

import (
	"net/url"
	"strconv"
	"strings"

	"despacho/internal/panel/forms"
)

// Correction is a row with errors as a form.
type Correction struct {
	*Row
	// Wrong are the fields of the cells with errors, Others those of the others.
	Wrong, Others []forms.Field
	// Complaints are the errors of the whole row.
	Complaints []string
	// Completed is the name of the field that says that nothing is missing in a row that overflows.
	Completed string
}

// Correction makes the form of a row, with the columns and those that have errors.
func (r *Reader) Correction(row *Row, names []string) Correction {
	correction := Correction{Row: row}
	if row.Overflows {
		correction.Completed = completedField(row.Number)
	}
	complaints := map[string]string{}
	for _, wrong := range row.Errors {
		if wrong.Column == "" {
			correction.Complaints = append(correction.Complaints, wrong.Message)
			continue
		}
		complaints[wrong.Column] = strings.TrimSpace(complaints[wrong.Column] + " " + wrong.Message)
	}
	shown := map[string]bool{}
	for _, name := range names {
		shown[name] = true
	}
	for _, column := range r.columns {
		complaint, wrong := complaints[column.Name]
		field := forms.Field{
			Name: cellField(row.Number, column.Name), Label: column.Label, Kind: column.kind,
			Value: row.Cells[column.Name], Error: complaint,
		}
		if strings.Contains(field.Value, "\n") {
			field.Kind = forms.Area
		}
		if column.Name == placeColumn {
			field.Suggestions = row.Suggestions
		}
		switch {
		case wrong:
			correction.Wrong = append(correction.Wrong, field)
		case shown[column.Name]:
			correction.Others = append(correction.Others, field)
		}
	}
	return correction
}

func cellField(row int, column string) string { return "celda-" + strconv.Itoa(row) + "-" + column }
func completedField(row int) string           { return "completa-" + strconv.Itoa(row) }

// Correct takes over the cells of a row that were written into its form.
func (r *FileRow) Correct(form url.Values) {
	for _, column := range columns {
		written, has := forms.Chosen(form[cellField(r.Number, column.Name)])
		written = strings.TrimSpace(written)
		// A field of one line has no line breaks, and one of several has those of the web.
		if !has || withoutBreaks.Replace(written) == withoutBreaks.Replace(r.Cells[column.Name]) {
			continue
		}
		r.corrected = true
		if r.Cells == nil {
			r.Cells = map[string]string{}
		}
		r.Cells[column.Name] = strings.ReplaceAll(written, "\r\n", "\n")
		if written == "" {
			delete(r.Cells, column.Name)
		}
	}
	if form.Get(completedField(r.Number)) != "" {
		r.Overflows, r.corrected = false, true
	}
	if r.corrected {
		r.Occurrence, r.Existed = 0, false
	}
}

var withoutBreaks = strings.NewReplacer("\r", "", "\n", "")

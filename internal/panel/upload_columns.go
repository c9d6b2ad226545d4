package panel

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
)

const uploadColumnsPath = "/panel/carga/columnas"

// uploadColumnsPage asks what the columns of somebody's own file are.
type uploadColumnsPage struct {
	Headings []headingField
	// Missing are the required columns that the file lacks so far.
	Missing string
	// Table is the file as JSON, which is read once the columns are known. Without one the answer is
	// for the next file.
	Table string
}

// headingField is a heading of the file with the choice of its column.
type headingField struct {
	Name, Heading string
	Choice        forms.Field
}

// uploadOwner owns the columns: a store, or the operator for the files of its people.
func uploadOwner(v *Request) uuid.UUID {
	if v.Caller.StoreID != nil {
		return *v.Caller.StoreID
	}
	return v.Operator().ID
}

// Headings are stored. A file without any has a row of data in their place, with somebody's phone.
const (
	maxHeading       = 60
	maxHeadingDigits = 5
	// maxHeadings is how many headings an owner's files have together.
	maxHeadings = 200
)

// askable reports whether headings are names of columns, as far as one can see.
func askable(headings []string) bool {
	for _, heading := range headings {
		digits := strings.Count(strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return '0'
			}
			return r
		}, heading), "0")
		if len(heading) > maxHeading || digits > maxHeadingDigits || strings.Contains(heading, "@") {
			return false
		}
	}
	return len(headings) > 0 && len(headings) <= maxHeadings
}

func (p *Pages) askForColumns(v *Request, table *csvfile.Table, headings, missing []string) error {
	packed, err := json.Marshal(table)
	if err != nil {
		return err
	}
	return p.showColumns(v, uploadColumnsPage{
		Headings: headingFields(v, headings, nil), Missing: strings.Join(missing, ", "), Table: string(packed),
	})
}

func (p *Pages) showColumns(v *Request, page uploadColumnsPage) error {
	return p.show(v, http.StatusOK, "upload_columns", "Columnas del archivo", page)
}

func headingFields(v *Request, headings []string, chosen map[string]string) []headingField {
	options := []forms.Option{{Value: "", Label: "No se usa"}}
	for _, column := range neworder.ColumnsFor(v.Caller) {
		options = append(options, forms.Option{Value: column.Name, Label: column.Label})
	}
	fields := make([]headingField, len(headings))
	for i, heading := range headings {
		number := strconv.Itoa(i)
		fields[i] = headingField{Name: "titulo-" + number, Heading: heading, Choice: forms.Field{
			Name: "columna-" + number, Label: "¿Qué es la columna «" + heading + "»?", Kind: forms.Choice, Options: options,
			Value: chosen[csvfile.Heading(heading)],
		}}
	}
	return fields
}

// showUploadColumns shows what is stored, and the headings of a file that are not known.
func (p *Pages) showUploadColumns(v *Request) error {
	chosen, err := p.DB.UploadColumns(v.Ctx(), uploadOwner(v))
	if err != nil {
		return err
	}
	headings := v.QueryArray("titulo")
	if len(headings) > 0 && !askable(headings) {
		headings = nil
	}
	for _, heading := range slices.Sorted(maps.Keys(chosen)) {
		if !slices.ContainsFunc(headings, func(shown string) bool { return csvfile.Heading(shown) == heading }) {
			headings = append(headings, heading)
		}
	}
	return p.showColumns(v, uploadColumnsPage{Headings: headingFields(v, headings, chosen)})
}

// saveUploadColumns stores what the columns are, and reads the file that they were asked for.
func (p *Pages) saveUploadColumns(v *Request) error {
	if err := v.Request.ParseMultipartForm(MaxFileRequest); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return formError(err, errUnreadable.Because(err))
	}
	chosen, err := p.DB.UploadColumns(v.Ctx(), uploadOwner(v))
	if err != nil {
		return err
	}
	if chosen == nil {
		chosen = map[string]string{}
	}
	readChoices(v, chosen)
	if len(chosen) > maxHeadings {
		return errTooManyHeadings
	}
	if err := p.DB.SaveUploadColumns(v.Ctx(), v.Operator().ID, uploadOwner(v), chosen); err != nil {
		return err
	}
	packed := v.PostForm("tabla")
	if packed == "" {
		return p.done(v, uploadPath, "Columnas guardadas: valen desde el próximo archivo.")
	}
	var table csvfile.Table
	if err := json.Unmarshal([]byte(packed), &table); err != nil || !table.Valid(maxUploadRows) {
		return errUnreadable.Because(err)
	}
	return p.previewTable(v, &table)
}

var errTooManyHeadings = apperror.New(apperror.Unprocessable, "invalid_form", "Son demasiadas columnas. Quite las que no se usan.")

// readChoices takes over what was chosen; a heading that is not used is not stored.
func readChoices(v *Request, chosen map[string]string) {
	names := neworder.ColumnsFor(v.Caller)
	for i := range maxHeadings {
		number := strconv.Itoa(i)
		written := v.PostForm("titulo-" + number)
		heading := csvfile.Heading(written)
		if heading == "" || !askable([]string{written}) {
			continue
		}
		choice := v.PostForm("columna-" + number)
		if slices.ContainsFunc(names, func(column neworder.Column) bool { return column.Name == choice }) {
			chosen[heading] = choice
		} else {
			delete(chosen, heading)
		}
	}
}

// previewTable shows the preview of a file, or why there is none.
func (p *Pages) previewTable(v *Request, table *csvfile.Table) error {
	err := p.showPreview(v, table)
	if err == nil {
		return nil
	}
	problem := apperror.From(err)
	if problem.Kind == apperror.Internal {
		return err
	}
	return p.showUpload(v, http.StatusUnprocessableEntity, problem.Message)
}

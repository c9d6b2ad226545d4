package panel

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/money"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/neworder"
)

// uploadRows are a file's rows, before and after they become orders.
type uploadRows struct {
	Remarks []string
	// ColumnsPath is where it is said what the columns are, if some are not those of the template.
	ColumnsPath string
	// Valid are the rows that are or can become orders, Invalid those with errors.
	Valid, Invalid []*neworder.Row
	// ToCorrect are the first of the invalid rows as forms, Others the ones after them.
	ToCorrect []neworder.Correction
	Others    []*neworder.Row
	// Done means that the rows were processed.
	Done     bool
	Currency string
	Hidden   hiddenFields
}

// maxShownCell is how much is shown of a cell in a row with errors. Each error shows the recipient
// again: a cell as long as the file would make a page of many times its size.
const maxShownCell = 100

// maxCorrected is how many rows can be corrected at once: more are faster corrected in their file,
// and a form has at most a thousand fields.
const maxCorrected = 40

// hiddenFields are what the page sends back when the user confirms.
type hiddenFields struct {
	// Rows are to be created, Rest are only reported, both as JSON.
	Rows, Rest string
	SeenAt     string
	Delimiter  string
}

// previewTTL is well below the lifetime of idempotency keys, so that a page left open cannot
// create the rows again.
const previewTTL = 12 * time.Hour

var (
	errPreviewOver = apperror.New(apperror.Unprocessable, "invalid_form", "La revisión venció. Vuelva a subir el archivo.")
	errUnreadable  = apperror.New(apperror.Invalid, "invalid_form", "El formulario no se pudo leer. Vuelva a subir el archivo.")
)

// rowReader makes the reader of a file whose preview was made at a time.
func (p *Pages) rowReader(v *Request, previewedAt time.Time) (*neworder.Reader, error) {
	destinations, err := p.destinations(v)
	if err != nil {
		return nil, err
	}
	return neworder.NewReader(p.creator(), v.Caller, destinations, previewedAt), nil
}

func (p *Pages) showPreview(v *Request, table *csvfile.Table) error {
	chosen, err := p.DB.UploadColumns(v.Ctx(), uploadOwner(v))
	if err != nil {
		return err
	}
	columns, missing := neworder.Match(v.Caller, table, chosen)
	if len(missing) > 0 && len(table.Rows) > 0 && askable(columns.Unknown) {
		return p.askForColumns(v, table, columns.Unknown, missing)
	}
	if err := neworder.CheckTable(table, missing); err != nil {
		return err
	}
	reader, err := p.rowReader(v, p.Clock.Now())
	if err != nil {
		return err
	}
	rows, err := reader.Rows(v.Ctx(), table, columns)
	if err != nil {
		return err
	}
	page, err := pageOf(v, reader, rows, table.Delimiter)
	if err != nil {
		return err
	}
	page.Remarks = reader.Remarks(columns)
	if headings := slices.Concat(columns.Unknown, columns.Chosen); len(headings) > 0 && askable(headings) {
		page.ColumnsPath = uploadColumnsPath + "?" + url.Values{"titulo": headings}.Encode()
	}
	return p.show(v, http.StatusOK, "upload_rows", "Revisar la carga", page)
}

// pageOf sorts the rows and encodes them for the form.
func pageOf(v *Request, r *neworder.Reader, rows []*neworder.Row, delimiter rune) (*uploadRows, error) {
	page := &uploadRows{
		Currency: v.Operator().Currency,
		Hidden:   hiddenFields{SeenAt: r.PreviewedAt.UTC().Format(time.RFC3339), Delimiter: string(delimiter)},
	}
	for _, row := range rows {
		if len(row.Errors) > 0 {
			page.Invalid = append(page.Invalid, row)
		} else {
			page.Valid = append(page.Valid, row)
		}
	}
	page.Others = page.Invalid[min(maxCorrected, len(page.Invalid)):]
	columns := r.ToCorrect(page.Invalid)
	for _, row := range page.Invalid[:len(page.Invalid)-len(page.Others)] {
		page.ToCorrect = append(page.ToCorrect, r.Correction(row, columns))
	}
	var err, restErr error
	page.Hidden.Rows, err = pack(page.Valid)
	page.Hidden.Rest, restErr = pack(page.Invalid)
	return page, errors.Join(err, restErr)
}

func pack(rows []*neworder.Row) (string, error) {
	plain := make([]neworder.FileRow, len(rows))
	for i, row := range rows {
		plain[i] = row.FileRow
	}
	packed, err := json.Marshal(plain)
	return string(packed), err
}

// returned is what a preview sent back, read like a new file.
type returned struct {
	*neworder.Reader
	// rows are to be created, rest are only reported.
	rows, rest []*neworder.Row
	delimiter  rune
}

func (r *returned) page(v *Request) (*uploadRows, error) {
	return pageOf(v, r.Reader, append(slices.Clone(r.rows), r.rest...), r.delimiter)
}

func (p *Pages) readReturned(v *Request) (*returned, error) {
	if err := v.Request.ParseMultipartForm(MaxFileRequest); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, formError(err, errUnreadable.Because(err))
	}
	now := p.Clock.Now()
	seenAt, err := time.Parse(time.RFC3339, v.PostForm("visto"))
	if err != nil || now.Sub(seenAt) > min(previewTTL, p.Config.IdempotencyTTL/2) || seenAt.After(now.Add(time.Minute)) {
		return nil, errPreviewOver
	}
	back := &returned{delimiter: csvfile.Semicolon}
	if v.PostForm("separador") == string(csvfile.Comma) {
		back.delimiter = csvfile.Comma
	}
	if back.Reader, err = p.rowReader(v, seenAt); err != nil {
		return nil, err
	}
	valid, err := unpack(v.PostForm("filas"))
	if err != nil {
		return nil, err
	}
	rest, err := unpack(v.PostForm("resto"))
	if err != nil {
		return nil, err
	}
	for i := range rest {
		rest[i].Correct(v.Request.PostForm)
	}
	// They are read together: a row of the rest may repeat the number of one to be created.
	rows, err := back.Returned(v.Ctx(), slices.Concat(valid, rest))
	if err != nil {
		return nil, err
	}
	back.rows, back.rest = rows[:len(valid):len(valid)], rows[len(valid):]
	return back, nil
}

func unpack(packed string) ([]neworder.FileRow, error) {
	if packed == "" {
		return nil, nil
	}
	var rows []neworder.FileRow
	if err := json.Unmarshal([]byte(packed), &rows); err != nil || len(rows) > maxUploadRows {
		return nil, errUnreadable.Because(err)
	}
	return rows, nil
}

// Count is how many rows are in a state.
func (u *uploadRows) Count(state string) int {
	count := 0
	for _, row := range u.Valid {
		if row.State() == state {
			count++
		}
	}
	if state == "wrong" {
		count += len(u.Invalid)
	}
	return count
}

// ToCollect is the total to collect for the new orders.
func (u *uploadRows) ToCollect() money.Cents {
	return u.sum(func(row *neworder.Row) money.Cents { return row.Quote.AmountToCollect })
}

// Cost is the total cost of the new orders.
func (u *uploadRows) Cost() money.Cents {
	return u.sum(func(row *neworder.Row) money.Cents { return row.Quote.ShippingCost })
}

func (u *uploadRows) sum(of func(*neworder.Row) money.Cents) money.Cents {
	var total money.Cents
	for _, row := range u.Valid {
		if row.State() == "ready" {
			total += of(row)
		}
	}
	return total
}

// labelsAtOnce keeps the URL of a page of labels below the length that proxies accept.
const labelsAtOnce = 100

type labelLink struct{ Path, Text string }

// Labels are the links to the labels of all created orders.
func (u *uploadRows) Labels() []labelLink {
	var ids []uuid.UUID
	for _, row := range u.Valid {
		if row.Created != nil {
			ids = append(ids, row.Created.Order.ID)
		}
	}
	var links []labelLink
	printed := 0
	for some := range slices.Chunk(ids, labelsAtOnce) {
		text := "Imprimir las etiquetas"
		if len(ids) > labelsAtOnce {
			text = "Etiquetas " + strconv.Itoa(printed+1) + " a " + strconv.Itoa(printed+len(some))
			if len(some) == 1 {
				text = "Etiqueta " + strconv.Itoa(printed+1)
			}
		}
		links = append(links, labelLink{labelsPath(some, formatA6), text})
		printed += len(some)
	}
	return links
}

// Orders is how many of the rows are orders now.
func (u *uploadRows) Orders() int { return u.Count("created") + u.Count("existed") }

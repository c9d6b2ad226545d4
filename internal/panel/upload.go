package panel

import (
	"net/http"

	"despacho/internal/apperror"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/neworder"
)

const (
	uploadPath = "/panel/carga"
	// maxUploadRows is more than a person checks in a preview.
	maxUploadRows = 1000
)

// uploadPage is the upload form.
type uploadPage struct {
	Columns []neworder.Column
	MaxRows int
	Failure string
}

func (p *Pages) newUpload(v *Request) error { return p.showUpload(v, http.StatusOK, "") }

func (p *Pages) showUpload(v *Request, status int, failure string) error {
	return p.show(v, status, "upload", "Carga de pedidos",
		uploadPage{Columns: neworder.ColumnsFor(v.Caller), MaxRows: maxUploadRows, Failure: failure})
}

// uploadAgain redirects a reload of a page that only exists as a response to a form.
func (p *Pages) uploadAgain(v *Request) error {
	v.Redirect(http.StatusSeeOther, uploadPath)
	return nil
}

// uploadTemplate is an empty file with an example row that the operator could deliver.
func (p *Pages) uploadTemplate(v *Request) error {
	destinations, err := p.destinations(v)
	if err != nil {
		return err
	}
	delimiter := rune(csvfile.Semicolon)
	if v.Query("separador") == "coma" {
		delimiter = csvfile.Comma
	}
	return sendCSV(v, "plantilla-pedidos.csv", neworder.Template(v.Caller, destinations), delimiter)
}

// previewUpload shows the result of a file without creating anything.
func (p *Pages) previewUpload(v *Request) error {
	table, err := readUpload(v)
	if err == nil {
		return p.previewTable(v, table)
	}
	problem := apperror.From(err)
	if problem.Kind == apperror.Internal {
		return err
	}
	return p.showUpload(v, http.StatusUnprocessableEntity, problem.Message)
}

func readUpload(v *Request) (*csvfile.Table, error) {
	content, err := readFile(v)
	if err != nil {
		return nil, err
	}
	return csvfile.ReadUploaded(content, maxUploadRows)
}

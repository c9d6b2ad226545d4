package panel

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"despacho/internal/apperror"
	"despacho/web/panel/csvfile"
)

const (
	// maxFile is larger than a file with every place of the catalog.
	maxFile = 2 << 20
	// maxFileRequest is larger than maxFile, so that the sender of a file that is too large gets a
	// message and not a closed connection.
	maxFileRequest = 16 << 20
)

func fileError(message string) error { return apperror.New(apperror.Invalid, "invalid_form", message) }

// readFile reads the only file of a form.
func readFile(v *Request) ([]byte, error) {
	v.Request.Body = http.MaxBytesReader(v.Writer, v.Request.Body, maxFileRequest)
	file, about, err := v.Request.FormFile("archivo")
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), err == nil && about.Size > maxFile:
		return nil, fileError("El archivo pesa más de 2 MiB. Divídalo en varios.")
	case err != nil:
		return nil, fileError("Elija un archivo CSV.")
	}
	defer file.Close()
	defer func() { _ = v.Request.MultipartForm.RemoveAll() }()
	return io.ReadAll(file)
}

// readCSV reads a file as a table. Its errors are for the user.
func readCSV(content []byte, maxRows int) (*csvfile.Table, error) {
	table, err := csvfile.Read(content, maxRows)
	var misplaced *csvfile.QuoteError
	switch {
	case errors.Is(err, csvfile.ErrEmpty):
		return nil, fileError("El archivo está vacío.")
	case errors.Is(err, csvfile.ErrWorkbook):
		return nil, fileError("El archivo es un libro de Excel. Guárdelo con «Guardar como» en formato CSV y súbalo de nuevo.")
	case errors.Is(err, csvfile.ErrNotText):
		return nil, fileError("El archivo no es un CSV.")
	case errors.Is(err, csvfile.ErrTooLong):
		return nil, fileError("El archivo tiene más de " + strconv.Itoa(maxRows) + " filas. Divídalo en varios.")
	case errors.As(err, &misplaced):
		return nil, fileError("Hay comillas sin cerrar en la línea " + strconv.Itoa(misplaced.Line) + " del archivo, o después de ella.")
	}
	return table, err
}

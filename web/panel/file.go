package panel

import (
	"errors"
	"io"
	"net/http"

	"despacho/web/panel/csvfile"
)

const (
	// maxFile is larger than a file with every place of the catalog.
	maxFile = 2 << 20
	// maxFileRequest is larger than maxFile, so that the sender of a file that is too large gets a
	// message and not a closed connection.
	maxFileRequest = 16 << 20
)

// readFile reads the only file of a form.
func readFile(v *Request) ([]byte, error) {
	v.Request.Body = http.MaxBytesReader(v.Writer, v.Request.Body, maxFileRequest)
	file, about, err := v.Request.FormFile("archivo")
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), err == nil && about.Size > maxFile:
		return nil, csvfile.Invalid("El archivo pesa más de 2 MiB. Divídalo en varios.")
	case err != nil:
		return nil, csvfile.Invalid("Elija un archivo CSV.")
	}
	defer file.Close()
	defer func() { _ = v.Request.MultipartForm.RemoveAll() }()
	return io.ReadAll(file)
}

// sendFile sends a CSV file to be saved.
func sendFile(v *Request, name string, content []byte) {
	v.Header("Content-Disposition", `attachment; filename="`+name+`"`)
	v.Header("Cache-Control", "no-store")
	v.Data(http.StatusOK, "text/csv; charset=utf-8", content)
}

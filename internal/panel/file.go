package panel

import (
	"io"
	"net/http"

	"despacho/internal/panel/csvfile"
)

const (
	// maxFile is larger than a file with every place of the catalog.
	maxFile = 2 << 20
	// MaxFileRequest is the largest request of FileRoutes. It is larger than maxFile, so that the
	// sender of a file that is too large gets a message and not a closed connection.
	MaxFileRequest = 8 << 20
)

// FileRoutes are the routes, all POST, whose requests contain a file or the rows of one.
var FileRoutes = []string{
	"/panel/carga", "/panel/carga/columnas", "/panel/carga/revisar", "/panel/carga/crear", "/panel/carga/resumen",
	"/panel/carga/resultado.csv", "/panel/carga/errores.csv",
	"/panel/cobertura/carga", "/panel/cobertura/carga/aplicar",
}

// ErrFileTooLarge is the error for a file over maxFile.
var ErrFileTooLarge = csvfile.Invalid("El archivo pesa más de 2 MiB. Divídalo en varios.")

// readFile reads the only file of a form.
func readFile(v *Request) ([]byte, error) {
	file, about, err := v.Request.FormFile("archivo")
	switch {
	case err != nil:
		return nil, formError(err, csvfile.Invalid("Elija un archivo."))
	case about.Size > maxFile:
		return nil, ErrFileTooLarge
	}
	defer file.Close()
	return io.ReadAll(file)
}

// sendCSV sends a CSV file to be saved.
func sendCSV(v *Request, name string, rows [][]string, delimiter rune) error {
	content, err := csvfile.Write(rows, delimiter)
	if err != nil {
		return err
	}
	v.Header("Content-Disposition", `attachment; filename="`+name+`"`)
	v.Header("Cache-Control", "no-store")
	v.Data(http.StatusOK, "text/csv; charset=utf-8", content)
	return nil
}

package csvfile

import (
	"errors"
	"strconv"

	"despacho/internal/apperror"
)

// Invalid is an error about an uploaded file, with a message for the user.
func Invalid(message string) error { return apperror.New(apperror.Invalid, "invalid_form", message) }

// OverflowMessage is the message for the user about a row that overflows: cells of it are missing
// or in the wrong columns.
const OverflowMessage = "tiene más celdas que columnas: ponga entre comillas los textos que llevan el separador"

// ReadUploaded is Read for a file that a user uploaded: its errors have messages for the user.
func ReadUploaded(content []byte, maxRows int) (*Table, error) {
	table, err := Read(content, maxRows)
	var misplaced *QuoteError
	switch {
	case errors.Is(err, ErrEmpty):
		return nil, Invalid("El archivo está vacío.")
	case errors.Is(err, ErrOldWorkbook):
		return nil, Invalid("El archivo es un libro de Excel antiguo (.xls) o tiene contraseña. Guárdelo con «Guardar como» en formato " +
			"«Libro de Excel (.xlsx)», sin contraseña, y súbalo de nuevo.")
	case errors.Is(err, ErrTooLarge):
		return nil, Invalid("El libro de Excel es demasiado grande. Deje en él solo la hoja que se carga, sin imágenes ni formatos en " +
			"celdas vacías, o guárdelo en formato CSV.")
	case errors.Is(err, ErrWorkbook):
		return nil, Invalid("El libro de Excel no se puede leer. Guárdelo otra vez, o en formato CSV, y súbalo de nuevo.")
	case errors.Is(err, ErrNotText):
		return nil, Invalid("El archivo no es un libro de Excel ni un CSV.")
	case errors.Is(err, ErrTooLong):
		return nil, Invalid("El archivo tiene más de " + strconv.Itoa(maxRows) + " filas. Divídalo en varios.")
	case errors.Is(err, ErrTooWide):
		return nil, Invalid("El archivo tiene más de " + strconv.Itoa(maxColumns) + " columnas. Quite las que no se usan.")
	case errors.As(err, &misplaced):
		return nil, Invalid("Hay comillas sin cerrar en la línea " + strconv.Itoa(misplaced.Line) +
			" del archivo, o después de ella.")
	}
	return table, err
}

package photos

import (
	"errors"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
)

const (
	photoField = "photo"
	// maxForm leaves room for the fields besides the photo.
	maxForm = MaxBytes + 64<<10
	// inMemory is how much of a form is kept in memory; the rest is on disk.
	inMemory = 1 << 20
)

// formFields are the delivery's fields that are not text.
var formFields = map[string]jsonbody.FormField{"actual_amount_collected": jsonbody.FormNumber, "lat": jsonbody.FormNumber, "lng": jsonbody.FormNumber}

// IsForm reports whether a request is a multipart form.
func IsForm(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == "multipart/form-data"
}

// ReadForm reads a delivery's fields and its photo, nil if there is none.
func ReadForm(w http.ResponseWriter, r *http.Request) (*jsonbody.Object, []byte, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseMultipartForm(inMemory); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, nil, ErrTooLarge
		}
		var writing *fs.PathError // of the temporary file
		if errors.As(err, &writing) {
			return nil, nil, ErrNotStored.Because(err)
		}
		return nil, nil, apperror.New(apperror.Invalid, "invalid_form", "El formulario no se pudo leer.").Because(err)
	}
	form := r.MultipartForm
	defer form.RemoveAll()
	picture, err := readPhoto(form.File[photoField])
	if err != nil {
		return nil, nil, err
	}
	in, err := jsonbody.FromForm(form.Value, formFields)
	return in, picture, err
}

func readPhoto(files []*multipart.FileHeader) ([]byte, error) {
	// Browsers send an unnamed empty part for a file field that was left empty.
	if len(files) == 0 || files[0].Filename == "" && files[0].Size == 0 {
		return nil, nil
	}
	if files[0].Size > MaxBytes {
		return nil, ErrTooLarge
	}
	file, err := files[0].Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

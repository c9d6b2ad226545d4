package photos

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
)

const (
	// PhotoField is the field of the photo in the form of a delivery.
	PhotoField = "photo"
	// MaxForm is the largest form: it leaves room for the fields besides the photo.
	MaxForm = MaxBytes + 64<<10
	// maxFields is how many fields a form may have besides the photo.
	maxFields = 100
)

// formFields are the delivery's fields that are not text.
var formFields = map[string]jsonbody.FormField{
	"actual_amount_collected": jsonbody.FormNumber, "lat": jsonbody.FormNumber, "lng": jsonbody.FormNumber,
	"expected_version": jsonbody.FormNumber,
}

// IsForm reports whether a request is a multipart form.
func IsForm(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == "multipart/form-data"
}

// ReadForm reads a delivery's fields and its photo, nil if there is none. Nothing is written to
// disk. The body must be limited to MaxForm.
func ReadForm(r *http.Request) (*jsonbody.Object, []byte, error) {
	values, photo, err := ReadParts(r, PhotoField)
	if err != nil {
		return nil, nil, err
	}
	in, err := jsonbody.FromForm(values, formFields)
	return in, photo, err
}

// ReadParts reads the fields of a form, and the photo in one of them, as they were sent. With an
// error it returns what it has read before.
func ReadParts(r *http.Request, photoField string) (values url.Values, photo []byte, err error) {
	values = url.Values{}
	parts, err := r.MultipartReader()
	for count := 0; err == nil; count++ {
		var part *multipart.Part
		if part, err = parts.NextPart(); err != nil {
			break
		}
		if count > maxFields {
			return values, nil, errInvalidForm
		}
		var content []byte
		if content, err = io.ReadAll(part); err != nil {
			break
		}
		switch name := part.FormName(); {
		case !isFile(part):
			values[name] = append(values[name], string(content))
		case name == photoField && photo == nil && !(part.FileName() == "" && len(content) == 0):
			// Browsers send an unnamed empty part for a file field that was left empty.
			photo = content
		}
	}
	if err != io.EOF { // one that is wrapped is the end of a body that is no form
		var received *apperror.Error // why the body could not be received
		if errors.As(err, &received) {
			return values, nil, received
		}
		return values, nil, errInvalidForm.Because(err)
	}
	if len(photo) > MaxBytes {
		return values, nil, ErrTooLarge
	}
	return values, photo, nil
}

var errInvalidForm = apperror.New(apperror.Invalid, "invalid_form", "El formulario no se pudo leer.")

// isFile tells files from fields as net/http does.
func isFile(part *multipart.Part) bool {
	return part.FileName() != "" || part.Header.Get("Content-Type") != ""
}

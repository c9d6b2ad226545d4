package panel

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// fieldKind decides how a field is rendered and read.
type fieldKind string

const (
	textField     fieldKind = "text"
	phoneField    fieldKind = "tel"
	emailField    fieldKind = "email"
	addressField  fieldKind = "url"
	passwordField fieldKind = "password"
	// secretField is a new password, which the browser must not fill in.
	secretField fieldKind = "new-password"
	moneyField  fieldKind = "money"
	numberField fieldKind = "number"
	// flagField is one check box, checksField several under one name.
	flagField   fieldKind = "flag"
	checksField fieldKind = "checks"
	choiceField fieldKind = "choice"
	// areaField is free text, linesField a list with one element on each line.
	areaField  fieldKind = "area"
	linesField fieldKind = "lines"
	// momentField is a date and time in the operator's time zone.
	momentField fieldKind = "moment"
	// placeField is a location of the catalog, by name.
	placeField fieldKind = "place"
	// destinationField is a place that the operator covers.
	destinationField fieldKind = "destination"
)

// formKinds are the types of the fields that are not text.
var formKinds = map[fieldKind]jsonbody.FormField{
	moneyField: jsonbody.FormNumber, numberField: jsonbody.FormNumber,
	flagField: jsonbody.FormFlag, checksField: jsonbody.FormList, linesField: jsonbody.FormLines,
	choiceField: jsonbody.FormReference, placeField: jsonbody.FormReference,
}

// field is a form field with its value and its error.
type field struct {
	Name, Label, Hint string
	Kind              fieldKind
	Required          bool
	Focus             bool
	// Wide takes the whole width of the form.
	Wide    bool
	Options []option
	Value   string
	// Values are the selected ones of a checksField.
	Values []string
	// Suggestions are possible places.
	Suggestions []string
	Error       string
}

type option struct{ Value, Label string }

// Ticked reports whether a value is selected.
func (f field) Ticked(value string) bool { return slices.Contains(f.Values, value) }

// On reports whether a flag is set.
func (f field) On() bool { return f.Value == "true" }

// form is a form with its values and errors.
type form struct {
	Action string
	Submit string
	Fields []field
	// Failure is an error about the whole form.
	Failure string
}

// maxForm is the largest form without files.
const maxForm = 256 << 10

// read reads the posted values, so that the form can be shown again, and returns them for the use
// case.
func (f *form) read(p *Pages, v *Request) (*jsonbody.Object, error) {
	values, err := posted(v.Context)
	if err != nil {
		return nil, err
	}
	return f.take(p, v, values)
}

// posted returns the values of a form without files.
func posted(c *gin.Context) (url.Values, error) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	if err := c.Request.ParseForm(); err != nil {
		return nil, apperror.New(apperror.Invalid, "invalid_form", "El formulario no se pudo leer.").Because(err)
	}
	return c.Request.PostForm, nil
}

func (f *form) take(p *Pages, v *Request, values map[string][]string) (*jsonbody.Object, error) {
	answers, kinds := map[string][]string{}, map[string]jsonbody.FormField{}
	unknownPlaces := map[string]string{}
	for i := range f.Fields {
		field := &f.Fields[i]
		given, came := values[field.Name]
		if !came {
			given = nil
		}
		field.Values, field.Value = given, ""
		if len(given) > 0 {
			field.Value = given[0]
		}
		answers[field.Name], kinds[field.Name] = given, formKinds[field.Kind]
		switch field.Kind {
		case flagField:
			field.Value = strconv.FormatBool(field.Value != "")
		case momentField:
			answers[field.Name] = []string{instant(field.Value, v.Operator().TimeZone())}
		case placeField, destinationField:
			find := p.findPlace
			if field.Kind == destinationField {
				find = p.findDestination
			}
			id, complaint, err := find(v, field)
			if err != nil {
				return nil, err
			}
			answers[field.Name] = []string{id}
			if complaint != "" {
				unknownPlaces[field.Name] = complaint
			}
		}
	}
	in, err := jsonbody.FromForm(answers, kinds)
	if err != nil {
		return nil, err
	}
	for name, complaint := range unknownPlaces {
		in.AddError(name, complaint)
	}
	return in, nil
}

// typedMoment is the format of a momentField.
const typedMoment = "2006-01-02T15:04"

// instant converts a momentField to the format of the use cases. An invalid one is left for them to
// reject.
func instant(typed string, zone *time.Location) string {
	at, err := time.ParseInLocation(typedMoment, typed, zone)
	if err != nil {
		return typed
	}
	return at.Format(time.RFC3339)
}

// addError adds an error to the form. It is false for an internal error.
func (f *form) addError(err error) bool {
	problem := apperror.From(err)
	if problem.Kind == apperror.Internal {
		return false
	}
	for _, wrong := range problem.Fields {
		at := slices.IndexFunc(f.Fields, func(field field) bool { return field.Name == wrong.Field })
		if at < 0 {
			f.Failure = problem.Message
			continue
		}
		if f.Fields[at].Error == "" {
			f.Fields[at].Error = sentence(wrong.Message)
		}
	}
	if len(problem.Fields) == 0 {
		f.Failure = problem.Message
	}
	f.focusOnError()
	return true
}

// focusOnError focuses the first field with an error.
func (f *form) focusOnError() {
	first := slices.IndexFunc(f.Fields, func(field field) bool { return field.Error != "" })
	if first < 0 {
		return
	}
	for i := range f.Fields {
		f.Fields[i].Focus = i == first
	}
}

// sentence turns an error message into a sentence.
func sentence(complaint string) string {
	first, size := utf8.DecodeRuneInString(complaint)
	return string(unicode.ToUpper(first)) + complaint[size:] + "."
}

func moneyValue(cents *money.Cents) string {
	if cents == nil {
		return ""
	}
	return cents.String()
}

func idValue(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// activeField is whether the edited resource is still in use.
func activeField(active bool, hint string) field {
	return field{Name: "active", Label: "Activo", Kind: flagField, Value: strconv.FormatBool(active), Hint: hint}
}

// storeOptions are the operator's active stores, and the selected one.
func storeOptions(none string, stores []models.Store, chosen string) []option {
	options := []option{{"", none}}
	for _, store := range stores {
		if store.Active || store.ID.String() == chosen {
			options = append(options, option{store.ID.String(), store.Name})
		}
	}
	return options
}

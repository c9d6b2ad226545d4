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

// fieldKind decides how a field is drawn and how it is read.
type fieldKind string

const (
	textField     fieldKind = "text"
	phoneField    fieldKind = "tel"
	emailField    fieldKind = "email"
	addressField  fieldKind = "url"
	passwordField fieldKind = "password"
	// secretField is a password that somebody chooses, not one that the browser remembers.
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
	// momentField is a day and a time on the operator's clock.
	momentField fieldKind = "moment"
	// placeField is a location of the catalog, written out.
	placeField fieldKind = "place"
	// destinationField is a place that the operator delivers to.
	destinationField fieldKind = "destination"
)

// formKinds says what the fields hold that are not text.
var formKinds = map[fieldKind]jsonbody.FormField{
	moneyField: jsonbody.FormNumber, numberField: jsonbody.FormNumber,
	flagField: jsonbody.FormFlag, checksField: jsonbody.FormList, linesField: jsonbody.FormLines,
	choiceField: jsonbody.FormReference, placeField: jsonbody.FormReference,
}

// field is one question of a form, with its answer so far and what is wrong with it.
type field struct {
	Name, Label, Hint string
	Kind              fieldKind
	Required          bool
	Focus             bool
	// Wide takes the whole width of the form.
	Wide    bool
	Options []option
	Value   string
	// Values are the ticked ones of a checksField.
	Values []string
	// Suggestions are places that may be meant.
	Suggestions []string
	Error       string
}

type option struct{ Value, Label string }

// Ticked reports whether a check box is.
func (f field) Ticked(value string) bool { return slices.Contains(f.Values, value) }

// On reports whether a flag is set.
func (f field) On() bool { return f.Value == "true" }

// form is what a page asks for.
type form struct {
	Action string
	Submit string
	Fields []field
	// Failure is what is wrong with all of it.
	Failure string
}

// maxForm is the most a form without files may weigh.
const maxForm = 256 << 10

// read takes what was typed into the form, so that it can be shown again, and gives it to the use
// cases.
func (f *form) read(p *Pages, v *Request) (*jsonbody.Object, error) {
	values, err := posted(v.Context)
	if err != nil {
		return nil, err
	}
	return f.take(p, v, values)
}

// posted is what a form without files sent.
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

// typedMoment is how a momentField writes its moment.
const typedMoment = "2006-01-02T15:04"

// instant is a typed moment as the use cases read one. What is no moment is left for them to
// complain about.
func instant(typed string, zone *time.Location) string {
	at, err := time.ParseInLocation(typedMoment, typed, zone)
	if err != nil {
		return typed
	}
	return at.Format(time.RFC3339)
}

// complain shows a refusal in the form. It is false for what is our own fault.
func (f *form) complain(err error) bool {
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

// focusOnError has the page open where the first complaint is, however long the page.
func (f *form) focusOnError() {
	first := slices.IndexFunc(f.Fields, func(field field) bool { return field.Error != "" })
	if first < 0 {
		return
	}
	for i := range f.Fields {
		f.Fields[i].Focus = i == first
	}
}

// sentence makes a complaint stand alone.
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

// activeField asks whether what is edited is still in use.
func activeField(active bool, hint string) field {
	return field{Name: "active", Label: "Activo", Kind: flagField, Value: strconv.FormatBool(active), Hint: hint}
}

// storeOptions offers an operator's active stores, and the one that is chosen already.
func storeOptions(none string, stores []models.Store, chosen string) []option {
	options := []option{{"", none}}
	for _, store := range stores {
		if store.Active || store.ID.String() == chosen {
			options = append(options, option{store.ID.String(), store.Name})
		}
	}
	return options
}

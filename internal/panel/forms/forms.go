// Package forms has the panel's forms: their fields, how the posted values become the request of a
// use case, and where its errors are shown.
package forms

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/numeral"
	"despacho/models"
)

// Kind decides how a field is rendered and read.
type Kind string

// The kinds of fields.
const (
	Text     Kind = "text"
	Phone    Kind = "tel"
	Email    Kind = "email"
	URL      Kind = "url"
	Password Kind = "password"
	// NewPassword is a new password, which the browser must not fill in.
	NewPassword Kind = "new-password"
	// Code is a one-time code of digits, RecoveryCode one of those that replace it.
	Code         Kind = "code"
	RecoveryCode Kind = "recovery-code"
	Money        Kind = "money"
	Number       Kind = "number"
	// Hidden is a number that the page itself sends.
	Hidden Kind = "hidden"
	// Flag is one check box, Checks several under one name.
	Flag   Kind = "flag"
	Checks Kind = "checks"
	Choice Kind = "choice"
	// Area is free text, Lines a list with one element on each line.
	Area  Kind = "area"
	Lines Kind = "lines"
	// Moment is a date and time in the operator's time zone.
	Moment Kind = "moment"
	// Date is a day.
	Date Kind = "date"
	// Place is a location of the catalog, by name.
	Place Kind = "place"
	// Destination is a place that the operator covers.
	Destination Kind = "destination"
)

// formKinds are the types of the fields that are not text.
var formKinds = map[Kind]jsonbody.FormField{
	Money: jsonbody.FormNumber, Number: jsonbody.FormNumber, Hidden: jsonbody.FormNumber,
	Flag: jsonbody.FormFlag, Checks: jsonbody.FormList, Lines: jsonbody.FormLines,
	Choice: jsonbody.FormReference, Place: jsonbody.FormReference,
}

// Field is a form field with its value and its error.
type Field struct {
	Name, Label, Hint string
	Kind              Kind
	Required          bool
	Focus             bool
	// Wide takes the whole width of the form.
	Wide bool
	// Prefix is put before the name of the field's element on a page with several forms that have
	// such a field.
	Prefix  string
	Options []Option
	Value   string
	// Values are the selected ones of Checks.
	Values []string
	// Suggestions are possible places.
	Suggestions []string
	Error       string

	// seen is the fingerprint of the value that the person saw, and untouched means that it was sent
	// back as it was: it is no part of what is read.
	seen      string
	untouched bool
}

// ID names the field's element.
func (f Field) ID() string { return f.Prefix + f.Name }

// Option is a possible value with its label.
type Option struct{ Value, Label string }

// Selected reports whether a value of Checks is selected.
func (f Field) Selected(value string) bool { return slices.Contains(f.Values, value) }

// Offers reports whether a value can be chosen.
func (f Field) Offers(value string) bool {
	return slices.ContainsFunc(f.Options, func(option Option) bool { return option.Value == value })
}

// On reports whether a flag is set.
func (f Field) On() bool { return f.Value == "true" }

// WithPrefix names the elements of a form whose page has other forms with the same fields.
func (f *Form) WithPrefix(prefix string) *Form {
	for i := range f.Fields {
		f.Fields[i].Prefix = prefix
	}
	return f
}

// Form is a form with its values and errors.
type Form struct {
	Action string
	Submit string
	Fields []Field
	// Danger marks the button of something that cannot be undone.
	Danger bool
	// Failure is an error about the whole form.
	Failure string
	// Question is asked before the form is accepted; sending it again confirms. Asked is what the
	// question is about: the form sends it back under AskedName, and another is another question.
	Question, Asked string
	// Look is the page that shows what the question is about, if there is one.
	Look string
	// Seen has the fingerprints of the values with which the form was opened, if it edits something.
	Seen string
}

// AskedName is the name of the field in which a form sends its Asked.
const AskedName = "asked"

// PlaceFinder finds the id of the place that was typed into a field. A complaint is for the user.
type PlaceFinder func(*Field) (id, complaint string, err error)

// Read takes the posted values over, so that the form can be shown again, and returns them for the
// use case; of a form that edits something only those that the person has changed. Times are in the
// zone.
func (f *Form) Read(values map[string][]string, zone *time.Location, find PlaceFinder) (*jsonbody.Object, error) {
	answers, kinds := map[string][]string{}, map[string]jsonbody.FormField{}
	complaints := map[string]string{}
	seen := map[string]string{}
	if f.Seen != "" {
		seen = readSeen(values[SeenName])
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		given := values[field.Name]
		field.Values, field.Value = given, ""
		if len(given) > 0 {
			field.Value = given[0]
		}
		if field.Kind == Flag {
			field.Value = strconv.FormatBool(field.Value != "")
		}
		field.seen = seen[field.Name]
		if field.untouched = (len(given) <= 1 || field.Kind == Checks) && field.seen != "" && field.fingerprint() == field.seen; field.untouched {
			continue
		}
		answers[field.Name], kinds[field.Name] = given, formKinds[field.Kind]
		switch field.Kind {
		case Money:
			amount, clear := numeral.Amount(field.Value)
			if !clear {
				complaints[field.Name] = numeral.UnclearMessage
			}
			if len(given) == 1 {
				answers[field.Name] = []string{amount}
			}
		case Number:
			if len(given) == 1 {
				answers[field.Name] = []string{numeral.Decimal(field.Value)}
			}
		case Moment:
			answers[field.Name] = []string{instant(field.Value, zone)}
		case Place, Destination:
			field.Value, _ = Chosen(given)
			id, complaint, err := find(field)
			if err != nil {
				return nil, err
			}
			answers[field.Name] = []string{id}
			if complaint != "" {
				complaints[field.Name] = complaint
			}
		}
	}
	in, err := jsonbody.FromForm(answers, kinds)
	if err != nil {
		return nil, err
	}
	for name, complaint := range complaints {
		in.AddError(name, complaint)
	}
	return in, nil
}

// Chosen is the value of a field with suggestions: the one that is chosen comes after what was
// typed.
func Chosen(given []string) (value string, has bool) {
	for _, one := range given {
		if one != "" {
			value = one
		}
	}
	return value, len(given) > 0
}

// MomentLayout is the format of a Moment.
const MomentLayout = "2006-01-02T15:04"

// instant converts a Moment to the format of the use cases. An invalid one is left for them to
// reject.
func instant(typed string, zone *time.Location) string {
	at, err := time.ParseInLocation(MomentLayout, typed, zone)
	if err != nil {
		return typed
	}
	return at.Format(time.RFC3339)
}

// Field is the field with the name; it must be there.
func (f *Form) Field(name string) *Field {
	return &f.Fields[slices.IndexFunc(f.Fields, func(field Field) bool { return field.Name == name })]
}

// AddError adds an error to the form. It is false for an internal error.
func (f *Form) AddError(err error) bool {
	problem := apperror.From(err)
	if problem.Kind == apperror.Internal {
		return false
	}
	for _, wrong := range problem.Fields {
		at := slices.IndexFunc(f.Fields, func(field Field) bool { return field.Name == wrong.Field })
		if at < 0 {
			f.Failure = problem.Message
			continue
		}
		if f.Fields[at].Error == "" {
			f.Fields[at].Error = Sentence(wrong.Message)
		}
	}
	if len(problem.Fields) == 0 {
		f.Failure = problem.Message
	}
	f.focusOnError()
	return true
}

// focusOnError focuses the first field with an error.
func (f *Form) focusOnError() {
	first := slices.IndexFunc(f.Fields, func(field Field) bool { return field.Error != "" })
	if first < 0 {
		return
	}
	for i := range f.Fields {
		f.Fields[i].Focus = i == first
	}
}

// Wrong reports whether the form is shown again because of an error or a question.
func (f *Form) Wrong() bool {
	return f.Failure != "" || f.Question != "" ||
		slices.ContainsFunc(f.Fields, func(field Field) bool { return field.Error != "" })
}

// shortForm is up to how many fields a form shows its only error beside the field alone.
const shortForm = 4

// Errors are the fields with errors, for a list above the form. A short form with one error needs
// none.
func (f *Form) Errors() []Field {
	var wrong []Field
	for _, field := range f.Fields {
		if field.Error != "" {
			wrong = append(wrong, field)
		}
	}
	if len(wrong) == 1 && len(f.Fields) <= shortForm {
		return nil
	}
	return wrong
}

// TakeOver copies the values and errors of the same form as it was posted.
func (f *Form) TakeOver(posted *Form) {
	f.Failure, f.Question, f.Asked = posted.Failure, posted.Question, posted.Asked
	for _, field := range posted.Fields {
		at := slices.IndexFunc(f.Fields, func(own Field) bool { return own.Name == field.Name })
		if at < 0 {
			continue
		}
		own := &f.Fields[at]
		if own.Kind == Hidden { // what the page itself sends is what it says now
			continue
		}
		own.Value, own.Values, own.Error, own.Focus = field.Value, field.Values, field.Error, field.Focus
		if len(field.Suggestions) > 0 {
			own.Suggestions = field.Suggestions
		}
	}
}

// Sentence turns an error message into a sentence.
func Sentence(complaint string) string {
	first, size := utf8.DecodeRuneInString(complaint)
	sentence := string(unicode.ToUpper(first)) + complaint[size:]
	if strings.HasSuffix(sentence, "?") {
		return sentence
	}
	return sentence + "."
}

// MoneyValue is the value of a Money field.
func MoneyValue(cents *money.Cents) string {
	if cents == nil {
		return ""
	}
	return cents.String()
}

// IDValue is the value of a Choice of ids.
func IDValue(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// Active is the field that says whether the edited resource is still in use; label is Activo or
// Activa.
func Active(label string, active bool, hint string) Field {
	return Field{Name: "active", Label: label, Kind: Flag, Value: strconv.FormatBool(active), Hint: hint}
}

// WithLabels joins a form's errors into one message, with the labels in place of the field names.
func (f *Form) WithLabels(err error) error {
	problem := apperror.From(err)
	if len(problem.Fields) == 0 {
		return err
	}
	complaints := make([]string, len(problem.Fields))
	for i, wrong := range problem.Fields {
		name := wrong.Field
		if at := slices.IndexFunc(f.Fields, func(field Field) bool { return field.Name == wrong.Field }); at >= 0 {
			name = f.Fields[at].Label
		}
		complaints[i] = name + ": " + wrong.Message
	}
	worded := *problem
	worded.Message = strings.Join(complaints, "; ") + "."
	return &worded
}

// Options are an option without a value and those of the rows; a row without a label has none.
func Options[T any](none string, rows []T, of func(*T) (id uuid.UUID, label string)) []Option {
	options := []Option{{Value: "", Label: none}}
	for i := range rows {
		if id, label := of(&rows[i]); label != "" {
			options = append(options, Option{Value: id.String(), Label: label})
		}
	}
	return options
}

// StoreOptions are the operator's active stores, and the selected one.
func StoreOptions(none string, stores []models.Store, chosen string) []Option {
	return Options(none, stores, func(store *models.Store) (uuid.UUID, string) {
		if !store.Active && store.ID.String() != chosen {
			return uuid.Nil, ""
		}
		return store.ID, store.Name
	})
}

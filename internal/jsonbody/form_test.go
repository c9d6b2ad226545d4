package jsonbody_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
)

// read takes a form that must be readable.
func read(t *testing.T, values url.Values, fields map[string]jsonbody.FormField) *jsonbody.Object {
	t.Helper()
	in, err := jsonbody.FromForm(values, fields)
	require.NoError(t, err)
	return in
}

func TestFromForm_textStaysText(t *testing.T) {
	t.Parallel()
	for name, typed := range map[string]string{
		"words": "Rosa Díaz", "digits": "12345678", "leading zero": "01234567", "number": "1.5", "null": "null", "true": "true", "JSON": `{"a":1}`,
		"quotes": `Calle "La Paz"`, "backslash": `C:\tienda\`, "emoji": "🛵", "ends the object": `"},"admin":{"x":"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := read(t, url.Values{"name": {typed}}, nil)
			require.Equal(t, typed, in.RequiredText("name", 100))
			require.NoError(t, in.Err())
			require.False(t, in.HasOrNull("admin"))
		})
	}
	in := read(t, url.Values{"name": {""}}, nil)
	require.True(t, in.HasOrNull("name"), "a field left blank was there all the same")
	require.Nil(t, in.Text("name", 10))
	require.False(t, in.HasOrNull("other"))
}

func TestFromForm_numbers(t *testing.T) {
	t.Parallel()
	amount := money.Cents(1250)
	for name, c := range map[string]struct {
		typed string
		cents *money.Cents
		wrong bool
	}{
		"decimal":        {"12.50", &amount, false},
		"in spaces":      {" 12.5 ", &amount, false},
		"blank":          {"", nil, false},
		"only spaces":    {"  ", nil, false},
		"words":          {"doce", nil, true},
		"comma":          {"12,50", nil, true},
		"with a sign":    {"+12.5", nil, true},
		"leading zero":   {"012.5", nil, true},
		"null":           {"null", nil, true},
		"true":           {"true", nil, true},
		"two numbers":    {"1 2", nil, true},
		"more members":   {`1,"admin":true`, nil, true},
		"hexadecimal":    {"0x10", nil, true},
		"not a number":   {"NaN", nil, true},
		"other digits":   {"１２", nil, true},
		"three decimals": {"1.234", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := read(t, url.Values{"price": {c.typed}}, map[string]jsonbody.FormField{"price": jsonbody.FormNumber})
			require.True(t, in.HasOrNull("price"), "blank takes a value away, it does not leave it alone")
			require.Equal(t, c.cents, in.Money("price"))
			require.Equal(t, c.wrong, in.Err() != nil, "%v", in.Err())
			require.False(t, in.HasOrNull("admin"))
		})
	}
	require.False(t, read(t, url.Values{}, map[string]jsonbody.FormField{"price": jsonbody.FormNumber}).HasOrNull("price"), "a field that did not come is left alone")
}

func TestFromForm_flags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values url.Values
		on     bool
	}{
		"ticked":         {url.Values{"active": {"true"}}, true},
		"ticked plainly": {url.Values{"active": {"on"}}, true},
		"not ticked":     {url.Values{}, false},
		"said to be off": {url.Values{"active": {"false"}}, false},
		"blank":          {url.Values{"active": {""}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flag := read(t, c.values, map[string]jsonbody.FormField{"active": jsonbody.FormFlag}).Bool("active")
			require.NotNil(t, flag)
			require.Equal(t, c.on, *flag)
		})
	}
}

func TestFromForm_lists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values url.Values
		kind   jsonbody.FormField
		list   []string
	}{
		"several ticked":     {url.Values{"x": {"a", "b"}}, jsonbody.FormList, []string{"a", "b"}},
		"one ticked":         {url.Values{"x": {"a"}}, jsonbody.FormList, []string{"a"}},
		"none ticked":        {url.Values{}, jsonbody.FormList, []string{}},
		"digits stay text":   {url.Values{"x": {"1", "null"}}, jsonbody.FormList, []string{"1", "null"}},
		"lines":              {url.Values{"x": {"uno\ndos"}}, jsonbody.FormLines, []string{"uno", "dos"}},
		"a browser's lines":  {url.Values{"x": {"uno\r\ndos\r\n"}}, jsonbody.FormLines, []string{"uno", "dos"}},
		"blank lines":        {url.Values{"x": {"\n uno \n\n"}}, jsonbody.FormLines, []string{"uno"}},
		"no lines":           {url.Values{"x": {""}}, jsonbody.FormLines, []string{}},
		"lines with quotes":  {url.Values{"x": {`a","b` + "\n" + `]`}}, jsonbody.FormLines, []string{`a","b`, `]`}},
		"lines did not come": {url.Values{}, jsonbody.FormLines, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := read(t, c.values, map[string]jsonbody.FormField{"x": c.kind})
			require.Equal(t, c.list, in.LineList("x", 100))
			require.NoError(t, in.Err())
		})
	}
}

func TestFromForm_rejectsDuplicates(t *testing.T) {
	t.Parallel()
	for _, kind := range []jsonbody.FormField{jsonbody.FormText, jsonbody.FormNumber, jsonbody.FormFlag, jsonbody.FormLines} {
		_, err := jsonbody.FromForm(url.Values{"a": {"1", "2"}, "b": {"1"}, "c": {"", ""}}, map[string]jsonbody.FormField{"a": kind, "c": kind})
		problem := apperror.From(err)
		require.Equal(t, apperror.Invalid, problem.Kind)
		require.Len(t, problem.Fields, 2, "every one of them is named")
		require.Equal(t, "a", problem.Fields[0].Field)
		require.Equal(t, "llegó más de una vez", problem.Fields[0].Message)
		require.Equal(t, "c", problem.Fields[1].Field)
	}
}

func TestFromForm_rejectsInvalidUTF8(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values url.Values
		kind   jsonbody.FormField
	}{
		"text":             {url.Values{"x": {"caf\xe9"}}, jsonbody.FormText},
		"quoted text":      {url.Values{"x": {"\"\xff\""}}, jsonbody.FormText},
		"half a character": {url.Values{"x": {"\xc3"}}, jsonbody.FormText},
		"a surrogate":      {url.Values{"x": {"\xed\xa0\x80"}}, jsonbody.FormText},
		"number":           {url.Values{"x": {"1\xff"}}, jsonbody.FormNumber},
		"list":             {url.Values{"x": {"a", "\xff"}}, jsonbody.FormList},
		"lines":            {url.Values{"x": {"a\n\xff"}}, jsonbody.FormLines},
		"name":             {url.Values{"x\xff": {"a"}}, jsonbody.FormText},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := jsonbody.FromForm(c.values, map[string]jsonbody.FormField{"x": c.kind})
			require.Error(t, err)
			problem := apperror.From(err)
			require.Equal(t, apperror.Invalid, problem.Kind)
			require.Equal(t, "invalid_fields", problem.Code, "it is said of the field: a form is no JSON")
			require.Equal(t, "tiene caracteres que no están en UTF-8", problem.Fields[0].Message)
			require.True(t, utf8.ValidString(problem.Message))
		})
	}
}

// Names come from whoever sends the form: none of them makes a member that was not sent.
func TestFromForm_hostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		``, `"`, `\`, `\"`, `a":1,"admin`, "a\x00b", "a\nb", "__proto__", "{}", "[0]", "a.b", strings.Repeat("x", 10_000), `\u0061dmin`, "</script>",
	} {
		in := read(t, url.Values{name: {"1"}, "name": {"Rosa"}}, map[string]jsonbody.FormField{"active": jsonbody.FormFlag})
		require.Equal(t, "Rosa", in.RequiredText("name", 10), "%q", name)
		require.True(t, in.HasOrNull(name), "%q", name)
		require.False(t, in.HasOrNull("admin"), "%q", name)
		require.NoError(t, in.Err())
	}
}

func TestFromForm_empty(t *testing.T) {
	t.Parallel()
	in := read(t, nil, nil)
	require.Empty(t, in.RequiredText("name", 10))
	require.Error(t, in.Err())
}

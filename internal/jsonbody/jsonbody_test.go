package jsonbody_test

import (
	"encoding/hex"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
)

func TestParse_rejectsInvalidBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, code string }{
		"empty":             {"  ", "empty_body"},
		"unparseable":       {"{hola}", "invalid_json"},
		"truncated":         {`{"product": "caj`, "invalid_json"},
		"array for object":  {`[1]`, "not_an_object"},
		"null":              {`null`, "not_an_object"},
		"text":              {`"hola"`, "not_an_object"},
		"NaN":               {`{"amount_to_collect": NaN}`, "invalid_json"},
		"trailing data":     {`{} {}`, "trailing_data"},
		"trailing garbage":  {`{}x`, "trailing_data"},
		"duplicate members": {`{"a":1,"a":2}`, "duplicate_member"},
		"nested duplicate":  {`{"x":{"a":1,"a":2}}`, "duplicate_member"},
		"invalid UTF-8":     {"{\"a\":\"\xff\"}", "invalid_json"},
		"lone surrogate":    {`{"a":"\ud800"}`, "invalid_json"},
		"deep nesting":      {strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), "invalid_json"},
		"deep arrays":       {`{"a":` + strings.Repeat("[", 100000), "invalid_json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := jsonbody.Parse([]byte(c.raw))
			require.Error(t, err)
			require.Equal(t, c.code, apperror.From(err).Code)
			require.Equal(t, apperror.Invalid, apperror.From(err).Kind)
		})
	}
}

// Whoever sends JSON in another encoding, with a byte order mark or with half a character, as of a
// text that was cut in an emoji, is told that: the rest is right.
func TestParse_saysWhatIsWrongWithTheEncoding(t *testing.T) {
	t.Parallel()
	for raw, word := range map[string]string{
		"{\"recipient_name\":\"Rosa D\xedaz\"}": "UTF-8",
		"\xff\xfe{\x00}\x00":                    "UTF-8",
		"\ufeff{\"a\":1}":                       "BOM",
		`{"a":1,"notes":"una caja \ud83d"}`:     `El campo notes tiene la mitad de un carácter (\ud83d)`,
		`{"x":{"y":["\udce6\ud83d"]}}`:          `El campo x.y.0 tiene la mitad de un carácter (\udce6)`,
		`{"a\ud83db":1}`:                        `Un nombre de miembro tiene la mitad de un carácter (\ud83d)`,
	} {
		_, err := jsonbody.Parse([]byte(raw))
		require.Equal(t, "invalid_json", apperror.From(err).Code)
		require.Contains(t, apperror.From(err).Message, word)
	}
}

func TestParse_bracketsInsideStringsAreNotNesting(t *testing.T) {
	t.Parallel()
	object, err := jsonbody.Parse([]byte(`{"notes":"` + strings.Repeat("[{", 100) + `\"[["}`))
	require.NoError(t, err)
	require.NotNil(t, object.Text("notes", 500))
}

func TestHash_sameJSONValueSameHash(t *testing.T) {
	t.Parallel()
	hash := func(raw string) string {
		object, err := jsonbody.Parse([]byte(raw))
		require.NoError(t, err)
		return string(object.Hash())
	}
	require.Equal(t, hash(`{"a":1,"b":{"x":[1,2],"y":null}}`), hash(` { "b" : {"y":null,"x":[1, 2]}, "a":1.0 } `))
	require.NotEqual(t, hash(`{"a":[1,2]}`), hash(`{"a":[2,1]}`))
	require.NotEqual(t, hash(`{"a":1}`), hash(`{"a":"1"}`))
	for _, same := range [][2]string{{"100", "1e2"}, {"0.50", "5E-1"}, {"-0", "0"}, {"12.3400", "1234e-2"}} {
		require.Equal(t, hash(`{"a":`+same[0]+`}`), hash(`{"a":`+same[1]+`}`), same)
	}
	for _, different := range [][2]string{{"9007199254740993", "9007199254740992"}, {"1e998", "1e999"}, {"0.1", "0.10000000000000000001"}, {"1", "-1"}, {"1e99999999999", "1e99999999998"}} {
		require.NotEqual(t, hash(`{"a":`+different[0]+`}`), hash(`{"a":`+different[1]+`}`), different)
	}
	require.Equal(t, hash(`{"a":"\u00f1"}`), hash(`{"a":"ñ"}`))
	require.NotEqual(t, hash(`{"a":["b","c"]}`), hash(`{"a":["bc"]}`))
	require.NotEqual(t, hash(`{"a":["b"],"c":[]}`), hash(`{"a":[],"c":["b"]}`))
}

// Hashes are stored with Idempotency-Keys: one of an earlier version must still be that of its
// body.
func TestHash_isTheStoredOne(t *testing.T) {
	t.Parallel()
	object, err := jsonbody.Parse([]byte(`{"recipient_name":"Rosa D\u00edaz","amount_to_collect":89.90,"list":[1,2.50,-0,-1.5e3,1e-7],
		"nested":{"b":true,"a":null},"big":9007199254740993,"huge":-1e99999999999,"zero":0e99999999999,
		"edge":[1e2147483647,1e2147483648,1e-2147483648,1e-2147483649]}`))
	require.NoError(t, err)
	require.Equal(t, "b35ce71e4a03783b26f6c7c342337b667ef81b0c17e8bfcd2def52735c91add8", hex.EncodeToString(object.Hash()))
}

func TestReaders_nameEveryWrongFieldAtOnce(t *testing.T) {
	t.Parallel()
	object, err := jsonbody.Parse([]byte(`{"name":5,"line":"a\nb","nul":"a\u0000b","long":"ñññññ","id":"x","lat":91,"huge":1e999,
		"money":1.005,"moneyText":"5","kind":"z","flag":"yes","events":["a",1],"notes":"a\nb","nothing":null,"blank":"  "}`))
	require.NoError(t, err)
	object.RequiredText("name", 10)
	object.RequiredText("absent", 10)
	object.RequiredText("nothing", 10)
	object.RequiredText("blank", 10)
	object.Text("line", 10)
	object.Text("nul", 10)
	object.Text("long", 4)
	object.UUID("id")
	object.Number("lat", -90, 90)
	object.Number("huge", -90, 90)
	object.Money("money")
	object.Money("moneyText")
	object.Enum("kind", "a", "b")
	object.Bool("flag")
	object.TextList("events")
	require.Equal(t, "a\nb", *object.Lines("notes", 10), "line breaks are welcome in free text")
	require.Equal(t, "ñññññ", *object.Text("long", 5), "characters are counted, not bytes")

	var named []string
	for _, field := range apperror.From(object.Err()).Fields {
		named = append(named, field.Field)
	}
	require.Equal(t, []string{"name", "absent", "nothing", "blank", "line", "nul", "long", "id", "lat", "huge", "money", "moneyText", "kind", "flag", "events"}, named)
}

func TestMentions_tellsNullFromAbsence(t *testing.T) {
	t.Parallel()
	object, err := jsonbody.Parse([]byte(`{"price":null,"name":"x"}`))
	require.NoError(t, err)
	for name, want := range map[string][2]bool{"price": {true, false}, "name": {true, true}, "absent": {false, false}} {
		require.Equal(t, want, [2]bool{object.HasOrNull(name), object.Has(name)}, name)
	}
}

func TestSecret_isUnchanged(t *testing.T) {
	t.Parallel()
	object, err := jsonbody.Parse([]byte(`{"kept":"  dos espacios\n","number":12345678,"long":"12345","empty":"","nothing":null}`))
	require.NoError(t, err)
	require.Equal(t, "  dos espacios\n", object.RequiredSecret("kept", 20))
	require.Empty(t, object.Secret("absent", 20))
	require.NoError(t, object.Err())
	object.Secret("number", 20)
	object.Secret("long", 4)
	object.RequiredSecret("empty", 20)
	object.RequiredSecret("nothing", 20)
	require.Len(t, apperror.From(object.Err()).Fields, 4)
}

func TestLineList(t *testing.T) {
	t.Parallel()
	object, err := jsonbody.Parse([]byte(`{"words":[" Huáscar ","","paradero 10"],"none":[],"break":["a\nb"],"long":["12345"],"mixed":["a",1]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"Huáscar", "paradero 10"}, object.LineList("words", 20))
	require.Equal(t, []string{}, object.LineList("none", 20))
	require.Nil(t, object.LineList("absent", 20))
	require.NoError(t, object.Err())
	for _, wrong := range []string{"break", "long", "mixed"} {
		require.Nil(t, object.LineList(wrong, 4))
	}
	require.Len(t, apperror.From(object.Err()).Fields, 3)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,{"b":null}]}`, `{"a":"\u00e9"}`, `{"a":1e5}`, "\xff", `{"a":1,"a":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		object, err := jsonbody.Parse(raw)
		if err != nil {
			if apperror.From(err).Kind != apperror.Invalid {
				t.Fatalf("not a clear 4xx: %v", err)
			}
			return
		}
		object.Hash()
		for _, name := range []string{"a", "b"} {
			object.Text(name, 10)
			object.Money(name)
			object.Number(name, 0, 1)
			object.UUID(name)
			object.TextList(name)
		}
	})
}

// What a form leaves blank where something is named is nothing, as null is in JSON.
func TestFromForm_references(t *testing.T) {
	t.Parallel()
	kinds := map[string]jsonbody.FormField{"store_id": jsonbody.FormReference, "role": jsonbody.FormReference}
	object, err := jsonbody.FromForm(map[string][]string{"store_id": {" "}, "role": {"123"}}, kinds)
	require.NoError(t, err)
	require.True(t, object.HasOrNull("store_id"))
	require.False(t, object.Has("store_id"))
	require.Equal(t, "123", *object.Text("role", 10), "what is there stays text")
}

func TestBlank(t *testing.T) {
	t.Parallel()
	object, err := jsonbody.Parse([]byte(`{"null":null,"empty":"","spaces":" \t","text":"x","number":0,"list":[]}`))
	require.NoError(t, err)
	for name, blank := range map[string]bool{"absent": true, "null": true, "empty": true, "spaces": true, "text": false, "number": false, "list": false} {
		require.Equal(t, blank, object.Blank(name), name)
	}
}

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

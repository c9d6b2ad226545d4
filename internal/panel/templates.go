package panel

import (
	"embed"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"despacho/internal/money"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

//go:embed templates
var sources embed.FS

// parseTemplates makes one template set per page: the layout, the shared parts, and the page's own
// file.
func parseTemplates(a assets) map[string]*template.Template {
	functions := template.FuncMap{
		"asset":   a.address,
		"amount":  amountHTML,
		"day":     format.Day,
		"every":   func() int { return liveSeconds },
		"changes": func() string { return ChangesPath },
		"sign":    format.CurrencySign,
		"text":    orEmpty,
		"cell":    func(text string) string { return truncate(text, maxShownCell) },
		"first": func(values []string) string {
			if len(values) == 0 {
				return ""
			}
			return values[0]
		},
		"icon":      icon,
		"twoWays":   paidTwoWays,
		"mark":      substatusIcon,
		"attempted": lastAttempt,
		"next":      func(i int) int { return i + 1 },
		"number":    format.Number,
		"label":     func(s models.Status) string { return s.Label() },
		"pair":      func(first, second any) []any { return []any{first, second} },
		"filter": func(name, label string, options []forms.Option, value string) forms.Field {
			return forms.Field{Name: name, Label: label, Options: options, Value: value}
		},
	}
	shared := template.Must(template.New("frame.html").Funcs(functions).ParseFS(sources, "templates/frame.html",
		"templates/parts/*.html"))
	files, err := fs.Glob(sources, "templates/pages/*.html")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	pages := map[string]*template.Template{}
	for _, file := range files {
		pages[strings.TrimSuffix(path.Base(file), ".html")] = template.Must(template.Must(shared.Clone()).ParseFS(sources, file))
	}
	return pages
}

// amountHTML is an amount that is never broken over two lines.
func amountHTML(cents money.Cents, currency string) template.HTML {
	return template.HTML(`<span class="money">` + template.HTMLEscapeString(format.Amount(cents, currency)) + `</span>`)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// substatusIcon is the drawing that marks an order with a failed attempt in a list.
func substatusIcon(substatus *models.Substatus) string {
	switch *substatus {
	case models.SubstatusRetryPlanned:
		return "retry"
	case models.SubstatusReturning, models.SubstatusReturned:
		return "return"
	}
	return "failed"
}

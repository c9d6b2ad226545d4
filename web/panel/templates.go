package panel

import (
	"embed"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"despacho/internal/money"
	"despacho/models"
	"despacho/web/panel/format"
)

//go:embed templates
var sources embed.FS

// parseTemplates makes one template set per page: the layout, the shared parts, and the page's own
// file.
func parseTemplates(a assets) map[string]*template.Template {
	functions := template.FuncMap{
		"asset":  a.address,
		"amount": amount,
		"sign":   currencySign,
		"text":   orEmpty,
		"label":  func(s models.Status) string { return s.Label() },
		"pair":   func(first, second any) []any { return []any{first, second} },
	}
	shared := template.Must(template.New("frame.html").Funcs(functions).ParseFS(sources, "templates/frame.html", "templates/parts/*.html"))
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

// amount formats money for the operator's country.
func amount(cents money.Cents, currency string) string {
	decimals := cents.String()
	return currencySign(currency) + "\u00a0" + format.Number(int64(cents/100)) + decimals[len(decimals)-len(".00"):]
}

func currencySign(currency string) string {
	if currency == "PEN" {
		return "S/"
	}
	return currency
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Package plot draws small plots as SVG that goes into a page as it is. Lengths across are parts of
// the whole and lengths down are pixels, so that a plot takes whatever width there is while its
// words keep their size. Colours are left to the page's style sheet: everything carries a class,
// and no style of its own, so that pages with a strict Content-Security-Policy can show it.
package chart

import (
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Part is what columns are made of, and a line of the legend.
type Part struct {
	Label string
	// Class is what the style sheet colours.
	Class string
}

// share is a length across, as a percentage of the width.
type share float64

func (s share) String() string { return number(float64(s)) + "%" }

// pixels is a length down.
type pixels float64

func (p pixels) String() string { return number(float64(p)) }

func number(n float64) string {
	return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
}

// render executes a template of this package: it can only fail for a mistake in it.
func render(t *template.Template, data any) template.HTML {
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		panic(err)
	}
	return template.HTML(out.String())
}

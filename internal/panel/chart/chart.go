// Package chart draws small charts as inline SVG. Widths are percentages and heights are pixels, so
// that a chart fills the available width while its text keeps its size. Colours come from the
// page's style sheet: elements have classes and no inline styles, as a strict
// Content-Security-Policy requires.
package chart

import (
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Part is a series of stacked columns, and an entry of the legend.
type Part struct {
	Label string
	// Class is the CSS class.
	Class string
}

// share is a width, as a percentage.
type share float64

func (s share) String() string { return number(float64(s)) + "%" }

// pixels is a height.
type pixels float64

func (p pixels) String() string { return number(float64(p)) }

func number(n float64) string {
	return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
}

// render executes a template of this package, which can only fail because of a bug.
func render(t *template.Template, data any) template.HTML {
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		panic(err)
	}
	return template.HTML(out.String())
}

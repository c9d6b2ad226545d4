// Package chart draws small charts as inline SVG. Widths are percentages and heights are pixels, so
// that a chart fills the available width while its text keeps its size. Colours come from the
// page's style sheet: elements have classes and no inline styles, as a strict
// Content-Security-Policy requires.
package chart

import (
	"fmt"
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

// svg is a drawing in the making.
type svg struct{ strings.Builder }

// add appends markup; texts among the values are escaped, and numbers rounded.
func (s *svg) add(markup string, values ...any) {
	for i, value := range values {
		switch value := value.(type) {
		case string:
			values[i] = template.HTMLEscapeString(value)
		case float64:
			values[i] = strconv.FormatFloat(math.Round(value*100)/100, 'f', -1, 64)
		}
	}
	fmt.Fprintf(s, markup, values...)
}

func (s *svg) html() template.HTML { return template.HTML(s.String()) }

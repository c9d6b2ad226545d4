package chart

import (
	"html/template"

	"despacho/internal/panel/format"
)

// Bars is a horizontal bar chart, each bar with its name and value above it.
type Bars struct {
	// Title is the accessible name.
	Title string
	Data  []Bar
}

// Bar is one bar.
type Bar struct {
	Label string
	// Class is the CSS class.
	Class string
	Value int64
	// Detail follows the value.
	Detail string
}

// The layout, in pixels.
const (
	barPlace  = 44
	barWords  = 16
	barTop    = 23
	barHeight = 10
	// maxLabelLength is what fits on a phone.
	maxLabelLength = 36
)

// SVG draws the chart.
func (b Bars) SVG() template.HTML {
	most := int64(1)
	for _, bar := range b.Data {
		most = max(most, bar.Value)
	}
	var out svg
	out.add(`<svg class="plot-area" width="100%%" height="%d" role="img" aria-label="%v">`, barPlace*len(b.Data), b.Title)
	for i, bar := range b.Data {
		y, value := barPlace*i, format.Number(bar.Value)
		out.add("\n<g><title>%v: %v</title>", bar.Label, value)
		out.add(`<text class="plot-name" x="0" y="%d">%v</text>`, y+barWords, truncate(bar.Label))
		out.add(`<text class="plot-value" x="100%%" y="%d" text-anchor="end">%v`, y+barWords, value)
		if bar.Detail != "" {
			out.add(`<tspan class="plot-detail" dx="6">%v</tspan>`, bar.Detail)
		}
		out.add(`</text><rect class="plot-track" x="0" width="100%%" y="%d" height="%d" rx="3"/>`, y+barTop, barHeight)
		width := float64(bar.Value) / float64(most) * 100
		out.add(`<rect class="%v" x="0" width="%v%%" y="%d" height="%d" rx="3"/></g>`, bar.Class, width, y+barTop, barHeight)
	}
	out.add("\n</svg>")
	return out.html()
}

func truncate(label string) string {
	letters := []rune(label)
	if len(letters) <= maxLabelLength {
		return label
	}
	return string(letters[:maxLabelLength-1]) + "…"
}

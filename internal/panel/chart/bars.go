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
	drawn := drawnBars{Title: b.Title, Height: pixels(barPlace * len(b.Data)), BarHeight: barHeight}
	for i, bar := range b.Data {
		y := pixels(barPlace * i)
		drawn.Bars = append(drawn.Bars, drawnBar{
			Full: bar.Label, Label: truncate(bar.Label), Class: bar.Class, Value: format.Number(bar.Value), Detail: bar.Detail,
			Words: y + barWords, Y: y + barTop, Width: share(float64(bar.Value) / float64(most) * 100),
		})
	}
	return render(barsTemplate, drawn)
}

func truncate(label string) string {
	letters := []rune(label)
	if len(letters) <= maxLabelLength {
		return label
	}
	return string(letters[:maxLabelLength-1]) + "…"
}

type drawnBars struct {
	Title             string
	Height, BarHeight pixels
	Bars              []drawnBar
}

type drawnBar struct {
	Full, Label, Class, Value, Detail string
	Words, Y                          pixels
	Width                             share
}

var barsTemplate = template.Must(template.New("bars").Parse(`<svg class="plot-area" width="100%" height="{{.Height}}" role="img" aria-label="{{.Title}}">
{{- range .Bars}}
<g><title>{{.Full}}: {{.Value}}</title>
{{- ""}}<text class="plot-name" x="0" y="{{.Words}}">{{.Label}}</text><text class="plot-value" x="100%" y="{{.Words}}" text-anchor="end">{{.Value}}{{with .Detail}}<tspan class="plot-detail" dx="6">{{.}}</tspan>{{end}}</text>
{{- ""}}<rect class="plot-track" x="0" width="100%" y="{{.Y}}" height="{{$.BarHeight}}" rx="3"/><rect class="{{.Class}}" x="0" width="{{.Width}}" y="{{.Y}}" height="{{$.BarHeight}}" rx="3"/>
{{- ""}}</g>
{{- end}}
</svg>`))

package chart

import (
	"html/template"
	"math"

	"despacho/internal/panel/format"
)

// Columns is a stacked column chart.
type Columns struct {
	// Title is the accessible name.
	Title string
	Parts []Part
	Data  []Column
	// Continuous columns are intervals of a continuous axis: without gaps, and with the tick at the
	// start of the column.
	Continuous bool
	// Marks are vertical lines, from left to right. Each one's text is above that of the one before
	// it.
	Marks []Mark
}

// Column is one column.
type Column struct {
	// Label is its name, Tick a short one below it; not every tick is shown.
	Label, Tick string
	// Values are those of its parts, from the bottom up.
	Values []int64
}

// Mark is a vertical line at a position between columns: 1.5 is the middle of the second one.
type Mark struct {
	At    float64
	Label string
}

// The layout.
const (
	columnsHeight = 216
	columnsBase   = 190
	tickLine      = 208
	// Space above the columns, and for the text of each mark: lines start below all texts.
	headroom, markLine = 6, 15
	// gridLines is the maximum number of steps of the axis.
	gridLines = 4
	// The number of ticks that fit on a phone, and elsewhere.
	fewTicks, manyTicks = 6, 12
	// columnPart is the column's part of its slot, the rest is the gap; widest is the maximum
	// width.
	columnPart, continuousPart, widest = 0.78, 0.95, 8.0
	// seam separates adjacent parts for people who do not distinguish their colours.
	seam = 1
)

// SVG draws the chart.
func (c Columns) SVG() template.HTML {
	top := pixels(headroom + markLine*len(c.Marks))
	drawn := drawnColumns{Title: c.Title, Height: columnsHeight, Top: top, Base: columnsBase, Room: columnsBase - top, TickLine: tickLine}
	most, step := axis(c.highest())
	scale := func(value int64) pixels { return pixels(float64(value)/float64(most)) * drawn.Room }
	for value := int64(0); value <= most; value += step {
		drawn.Grid = append(drawn.Grid, gridLine{columnsBase - scale(value), format.Number(value)})
	}
	place := 100 / float64(len(c.Data))
	width := math.Min(place*columnPart, widest)
	if c.Continuous {
		width = place * continuousPart
	}
	for i, column := range c.Data {
		middle := (float64(i) + 0.5) * place
		shown := drawnColumn{Label: column.Label, X: share(middle - width/2), Width: share(width), Parts: c.stack(column, scale)}
		if c.Continuous {
			shown.Tick = drawnTick{column.Tick, tickClass(i, len(c.Data)), share(float64(i) * place)}
		} else {
			shown.Tick = drawnTick{column.Tick, tickClass(len(c.Data)-1-i, len(c.Data)), share(middle)}
		}
		drawn.Columns = append(drawn.Columns, shown)
	}
	for i, mark := range c.Marks {
		at := share(math.Min(mark.At, float64(len(c.Data))) * place)
		drawn.Marks = append(drawn.Marks, drawnMark{at, pixels(markLine * (len(c.Marks) - i)), anchorAt(at), mark.Label})
	}
	return render(columnsTemplate, drawn)
}

// stack stacks a column's parts; zero values are left out.
func (c Columns) stack(column Column, scale func(int64) pixels) []drawnPart {
	var parts []drawnPart
	bottom := pixels(columnsBase)
	for i, value := range column.Values {
		if value > 0 {
			height := scale(value)
			bottom -= height
			parts = append(parts, drawnPart{c.Parts[i], format.Number(value), bottom, max(height-seam, height/2)})
		}
	}
	return parts
}

func (c Columns) highest() int64 {
	highest := int64(0)
	for _, column := range c.Data {
		sum := int64(0)
		for _, value := range column.Values {
			sum += value
		}
		highest = max(highest, sum)
	}
	return highest
}

// axis returns the end of an axis that includes the highest value, and the round step of its lines.
func axis(highest int64) (top, step int64) {
	step = 1
	for power := int64(1); ; power *= 10 {
		for _, times := range []int64{1, 2, 5} {
			if step = times * power; step*gridLines >= highest {
				return max((highest+step-1)/step, 1) * step, step
			}
		}
	}
}

// tickClass hides the ticks that do not fit, and marks those that do not fit on a phone. The column
// that distance is counted from always has one.
func tickClass(distance, count int) string {
	every := (count + manyTicks - 1) / manyTicks
	if distance%every != 0 {
		return ""
	}
	seldom := every
	for (count+seldom-1)/seldom > fewTicks {
		seldom += every
	}
	if distance%seldom != 0 {
		return "plot-tick plot-roomy"
	}
	return "plot-tick"
}

// anchorAt keeps a mark's text inside the chart.
func anchorAt(at share) string {
	if at > 40 {
		return "end"
	}
	return "start"
}

type drawnColumns struct {
	Title                             string
	Height, Top, Base, Room, TickLine pixels
	Grid                              []gridLine
	Columns                           []drawnColumn
	Marks                             []drawnMark
}

type gridLine struct {
	Y     pixels
	Label string
}

type drawnColumn struct {
	Label    string
	X, Width share
	Parts    []drawnPart
	Tick     drawnTick
}

type drawnTick struct {
	Label, Class string
	X            share
}

type drawnPart struct {
	Part
	Value     string
	Y, Height pixels
}

type drawnMark struct {
	X      share
	Y      pixels
	Anchor string
	Label  string
}

// The axis is a separate SVG next to the columns: its width does not depend on theirs. Hovering
// over a column, also above it, shows its values.
var columnsTemplate = template.Must(template.New("columns").Parse(`<div class="plot">
<svg class="plot-axis" width="36" height="{{.Height}}" aria-hidden="true">
{{- range .Grid}}<text x="30" y="{{.Y}}" dy="4" text-anchor="end">{{.Label}}</text>{{end -}}
</svg>
<svg class="plot-area" width="100%" height="{{.Height}}" role="img" aria-label="{{.Title}}">
{{- range .Grid}}<line class="plot-grid" x1="0" x2="100%" y1="{{.Y}}" y2="{{.Y}}"/>{{end}}
{{- range .Columns}}
<g><title>{{.Label}}{{range .Parts}}
{{.Label}}: {{.Value}}{{end}}</title>
{{- $column := .}}<rect class="plot-hit" x="{{.X}}" width="{{.Width}}" y="{{$.Top}}" height="{{$.Room}}"/>
{{- range .Parts}}<rect class="{{.Class}}" x="{{$column.X}}" width="{{$column.Width}}" y="{{.Y}}" height="{{.Height}}"/>{{end -}}
{{- with .Tick}}{{if .Class}}<text class="{{.Class}}" x="{{.X}}" y="{{$.TickLine}}" text-anchor="middle">{{.Label}}</text>{{end}}{{end -}}
</g>
{{- end}}
{{- range .Marks}}
<line class="plot-mark" x1="{{.X}}" x2="{{.X}}" y1="{{$.Top}}" y2="{{$.Base}}"/><text class="plot-mark-label" x="{{.X}}" y="{{.Y}}" text-anchor="{{.Anchor}}">{{.Label}}</text>
{{- end}}
</svg>
</div>`))

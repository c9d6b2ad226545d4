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

// SVG draws the chart. The axis is a separate SVG next to the columns: its width does not depend on
// theirs. Hovering over a column, also above it, shows its values.
func (c Columns) SVG() template.HTML {
	top := headroom + markLine*len(c.Marks)
	most, step := axis(c.highest())
	scale := func(value int64) float64 { return float64(value) / float64(most) * float64(columnsBase-top) }
	var out, grid svg
	out.add(`<div class="plot">`+"\n"+`<svg class="plot-axis" width="36" height="%d" aria-hidden="true">`, columnsHeight)
	for value := int64(0); value <= most; value += step {
		y := columnsBase - scale(value)
		out.add(`<text x="30" y="%v" dy="4" text-anchor="end">%v</text>`, y, format.Number(value))
		grid.add(`<line class="plot-grid" x1="0" x2="100%%" y1="%v" y2="%v"/>`, y, y)
	}
	out.add("</svg>\n"+`<svg class="plot-area" width="100%%" height="%d" role="img" aria-label="%v">`, columnsHeight, c.Title)
	out.WriteString(grid.String())
	place := 100 / float64(len(c.Data))
	for i, column := range c.Data {
		c.draw(&out, column, i, place, top, scale)
	}
	for i, mark := range c.Marks {
		at, anchor := math.Min(mark.At, float64(len(c.Data)))*place, "start"
		if at > 40 { // the text stays inside the chart
			anchor = "end"
		}
		out.add("\n"+`<line class="plot-mark" x1="%v%%" x2="%v%%" y1="%d" y2="%d"/>`, at, at, top, columnsBase)
		out.add(`<text class="plot-mark-label" x="%v%%" y="%d" text-anchor="%v">%v</text>`,
			at, markLine*(len(c.Marks)-i), anchor, mark.Label)
	}
	out.add("\n</svg>\n</div>")
	return out.html()
}

// draw draws a column with its parts stacked, and its tick; zero values are left out.
func (c Columns) draw(out *svg, column Column, i int, place float64, top int, scale func(int64) float64) {
	middle, width := (float64(i)+0.5)*place, math.Min(place*columnPart, widest)
	tick, class := middle, tickClass(len(c.Data)-1-i, len(c.Data))
	if c.Continuous {
		width, tick, class = place*continuousPart, float64(i)*place, tickClass(i, len(c.Data))
	}
	x, bottom := middle-width/2, float64(columnsBase)
	var parts svg
	out.add("\n<g><title>%v", column.Label)
	for i, value := range column.Values {
		if value > 0 {
			height := scale(value)
			bottom -= height
			out.add("\n%v: %v", c.Parts[i].Label, format.Number(value))
			parts.add(`<rect class="%v" x="%v%%" width="%v%%" y="%v" height="%v"/>`,
				c.Parts[i].Class, x, width, bottom, max(height-seam, height/2))
		}
	}
	out.add(`</title><rect class="plot-hit" x="%v%%" width="%v%%" y="%d" height="%d"/>`, x, width, top, columnsBase-top)
	out.WriteString(parts.String())
	if class != "" {
		out.add(`<text class="%v" x="%v%%" y="%d" text-anchor="middle">%v</text>`, class, tick, tickLine, column.Tick)
	}
	out.add("</g>")
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

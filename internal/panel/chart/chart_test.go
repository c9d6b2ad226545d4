package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/panel/chart"
)

var parts = []chart.Part{{Label: "Entregado", Class: "fill-delivered"}, {Label: "Cancelado", Class: "fill-cancelled"}}

// element is what a drawing holds: one tag, with the words in it.
type element struct {
	name  string
	attrs map[string]string
	words string
}

// elements reads a drawing, which must be well formed, and makes sure that nothing in it needs a
// style or a script.
func elements(t *testing.T, drawing any) []element {
	t.Helper()
	text := fmt.Sprint(drawing)
	decoder := xml.NewDecoder(strings.NewReader("<x>" + text + "</x>"))
	var read []element
	var open []int
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return read
		}
		require.NoError(t, err, text)
		switch token := token.(type) {
		case xml.StartElement:
			attrs := map[string]string{}
			for _, attr := range token.Attr {
				name := attr.Name.Local
				require.False(t, name == "style" || strings.HasPrefix(name, "on"), "attribute %s", name)
				attrs[name] = attr.Value
			}
			require.NotEqual(t, "script", token.Name.Local)
			require.NotEqual(t, "style", token.Name.Local)
			open = append(open, len(read))
			read = append(read, element{name: token.Name.Local, attrs: attrs})
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				read[open[len(open)-1]].words += string(token)
			}
		}
	}
}

func withClass(all []element, class string) []element {
	var found []element
	for _, e := range all {
		if e.attrs["class"] == class {
			found = append(found, e)
		}
	}
	return found
}

func length(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	require.NoError(t, err)
	return n
}

func TestColumns_heightsAreInProportionAndStacked(t *testing.T) {
	t.Parallel()
	drawing := elements(t, chart.Columns{Title: "Pedidos por día", Parts: parts, Data: []chart.Column{
		{Label: "01/03", Tick: "01/03", Values: []int64{6, 2}}, {Label: "02/03", Tick: "02/03", Values: []int64{0, 4}}, {Label: "03/03", Tick: "03/03"},
	}}.SVG())
	delivered, cancelled := withClass(drawing, "fill-delivered"), withClass(drawing, "fill-cancelled")
	require.Len(t, delivered, 1, "nothing is drawn for nothing")
	require.Len(t, cancelled, 2)
	height := func(e element) float64 { return length(t, e.attrs["height"]) + 1 } // and the seam above it
	top := func(e element) float64 { return length(t, e.attrs["y"]) }
	require.InDelta(t, 3, height(delivered[0])/height(cancelled[0]), 0.01)
	require.InDelta(t, top(delivered[0]), top(cancelled[0])+height(cancelled[0]), 0.02, "one part stands on the other")
	require.InDelta(t, top(delivered[0])+height(delivered[0]), top(cancelled[1])+height(cancelled[1]), 0.02, "all stand on the axis")
	require.Less(t, length(t, cancelled[0].attrs["x"]), length(t, cancelled[1].attrs["x"]))
	area := withClass(drawing, "plot-area")[0]
	require.Equal(t, "Pedidos por día", area.attrs["aria-label"])
	require.Equal(t, "img", area.attrs["role"])
	require.Contains(t, fmt.Sprint(drawing), "01/03\nEntregado: 6\nCancelado: 2", "the text of its title")
}

func TestColumns_axisEndsInARoundNumber(t *testing.T) {
	t.Parallel()
	for highest, labels := range map[int64]string{
		0: "0 1", 1: "0 1", 3: "0 1 2 3", 4: "0 1 2 3 4", 5: "0 2 4 6", 8: "0 2 4 6 8", 9: "0 5 10", 21: "0 10 20 30", 75: "0 20 40 60 80",
		1001: "0 500 1\u202f000 1\u202f500", 41000: "0 20\u202f000 40\u202f000 60\u202f000",
	} {
		drawing := elements(t, chart.Columns{Parts: parts, Data: []chart.Column{{Values: []int64{highest}}}}.SVG())
		var read []string
		for _, e := range drawing {
			if e.name == "text" && e.attrs["x"] == "30" {
				read = append(read, e.words)
			}
		}
		require.Equal(t, labels, strings.Join(read, " "), "%d", highest)
	}
}

func TestColumns_ticksHaveRoom(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 2, 6, 7, 12, 13, 30, 53, 90, 366} {
		columns := chart.Columns{Parts: parts}
		for i := range count {
			columns.Data = append(columns.Data, chart.Column{Tick: fmt.Sprint(i), Values: []int64{1, 0}})
		}
		drawing := elements(t, columns.SVG())
		always, roomy := withClass(drawing, "plot-tick"), withClass(drawing, "plot-tick plot-roomy")
		require.LessOrEqual(t, len(always), 6, "%d columns on a phone", count)
		require.LessOrEqual(t, len(always)+len(roomy), 12, "%d columns", count)
		require.Equal(t, fmt.Sprint(count-1), always[len(always)-1].words, "the last of %d columns is named", count)
		last := withClass(drawing, "fill-delivered")[count-1]
		require.LessOrEqual(t, length(t, last.attrs["x"])+length(t, last.attrs["width"]), 100.0)
	}
}

func TestColumns_marksStayInside(t *testing.T) {
	t.Parallel()
	drawing := elements(t, chart.Columns{Parts: parts, Data: make([]chart.Column, 4), Marks: []chart.Mark{{At: 1.5, Label: "mediana"}, {At: 99, Label: "p90"}}}.SVG())
	lines := withClass(drawing, "plot-mark")
	require.Equal(t, "37.5%", lines[0].attrs["x1"])
	require.Equal(t, "100%", lines[1].attrs["x1"])
	words := withClass(drawing, "plot-mark-label")
	require.Equal(t, "start", words[0].attrs["text-anchor"])
	require.Greater(t, length(t, words[0].attrs["y"]), length(t, words[1].attrs["y"]), "words never cover other words")
	require.Greater(t, length(t, lines[1].attrs["y1"]), length(t, words[0].attrs["y"]), "and no line goes through them")
	require.Equal(t, "end", words[1].attrs["text-anchor"])
}

func TestBars_lengthsAreInProportion(t *testing.T) {
	t.Parallel()
	drawing := elements(t, chart.Bars{Title: "Cancelados", Data: []chart.Bar{
		{Label: "Tienda", Class: "fill-cancelled", Value: 12000, Detail: "75 %"}, {Label: strings.Repeat("ñ", 40), Class: "fill-cancelled", Value: 4000},
		{Label: "Nadie", Class: "fill-cancelled"},
	}}.SVG())
	bars := withClass(drawing, "fill-cancelled")
	require.Equal(t, "100%", bars[0].attrs["width"])
	require.Equal(t, "33.33%", bars[1].attrs["width"])
	require.Equal(t, "0%", bars[2].attrs["width"])
	require.Equal(t, "12\u202f000", withClass(drawing, "plot-value")[0].words)
	require.Equal(t, strings.Repeat("ñ", 35)+"…", withClass(drawing, "plot-name")[1].words, "what is too long for a phone")
	require.Contains(t, fmt.Sprint(drawing), strings.Repeat("ñ", 40), "its title has the whole text")
	require.NotContains(t, fmt.Sprint(elements(t, chart.Bars{Data: []chart.Bar{{Label: "Nada"}}}.SVG())), "NaN")
}

// Labels are what people typed.
func TestCharts_escapeUserText(t *testing.T) {
	t.Parallel()
	const hostile = `<script>alert(1)</script>"' onload="x`
	for name, drawing := range map[string]any{
		"columns": chart.Columns{Title: hostile, Parts: []chart.Part{{Label: hostile, Class: hostile}}, Data: []chart.Column{{Label: hostile, Tick: hostile, Values: []int64{1}}}, Marks: []chart.Mark{{Label: hostile}}}.SVG(),
		"bars":    chart.Bars{Title: hostile, Data: []chart.Bar{{Label: hostile, Class: hostile, Detail: hostile, Value: 1}}}.SVG(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, fmt.Sprint(elements(t, drawing)), "alert(1)")
		})
	}
}

package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

var columns = []string{"name", "goal", "baseline", "result", "ratio", "spread", "verdict"}

// cells are a row as the table shows it.
func (r *Row) cells() []string {
	if r.Failure != "" {
		return []string{r.Name, r.Goal, "", "", "", "", r.verdict()}
	}
	baseline, ratio := "", ""
	if r.Baseline != nil {
		baseline = formatFigure(*r.Baseline)
	}
	if r.Ratio != nil {
		ratio = fmt.Sprintf("%.2f×", *r.Ratio)
	}
	return []string{r.Name, r.Goal, baseline, formatFigure(r.Result) + " " + r.Unit, ratio, r.spread(), r.verdict()}
}

func (r *Row) spread() string {
	switch {
	case r.Spread == nil:
		return "one reading"
	case r.Ratio != nil:
		return fmt.Sprintf("%.2f–%.2f", r.Spread.Quartile, r.Spread.Upper)
	}
	return formatFigure(r.Spread.Quartile) + "–" + formatFigure(r.Spread.Upper)
}

// formatFigure shows three significant digits.
func formatFigure(value float64) string {
	size := math.Abs(value)
	switch {
	case size >= 100 || value == math.Trunc(value):
		return fmt.Sprintf("%.0f", value)
	case size >= 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

// markdownTable is the rows as a table, with their notes below.
func markdownTable(rows []Row) string {
	var text strings.Builder
	line := func(cells []string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
	line(columns)
	line(slices.Repeat([]string{"---"}, len(columns)))
	for i := range rows {
		line(rows[i].cells())
	}
	for i := range rows {
		if rows[i].Note != "" {
			fmt.Fprintf(&text, "\n- %s: %s", rows[i].Name, rows[i].Note)
		}
	}
	return strings.TrimRight(text.String(), "\n") + "\n"
}

// formatCount writes a number with a comma between thousands.
func formatCount(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

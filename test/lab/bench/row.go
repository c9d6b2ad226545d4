package bench

import "fmt"

// Row is one line of the table.
type Row struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Goal is the goal as text; empty where there is none.
	Goal string `json:"goal"`
	// Baseline is what the result is compared with, measured by turns in the same run; nil where
	// the goal is absolute.
	Baseline *float64 `json:"baseline"`
	Result   float64  `json:"result"`
	// Ratio is the median of result / baseline, round by round.
	Ratio *float64 `json:"ratio"`
	// Spread is that of the ratio, or of the result where there is no baseline; nil where there was
	// one reading.
	Spread *Spread `json:"spread,omitempty"`
	OK     bool    `json:"ok"`
	// Note is a remark on the figures.
	Note string `json:"note,omitempty"`
	// Failure is why there is no figure.
	Failure string `json:"failure,omitempty"`
}

// verdict is the last cell of a row.
func (r *Row) verdict() string {
	switch {
	case r.Failure != "":
		return "not measured: " + r.Failure
	case r.Goal == "":
		return "-"
	case r.OK:
		return "met"
	}
	return "MISSED"
}

// goal is the limit of a row; the zero goal is always met.
type goal struct {
	// ofRatio holds the ratio against the limit, else the result is held against it.
	ofRatio bool
	// atLeast wants no less than the limit, else no more.
	atLeast bool
	limit   float64
	set     bool
}

func ratioAtLeast(limit float64) goal {
	return goal{ofRatio: true, atLeast: true, limit: limit, set: true}
}
func ratioAtMost(limit float64) goal { return goal{ofRatio: true, limit: limit, set: true} }
func atMost(limit float64) goal      { return goal{limit: limit, set: true} }

func (g goal) format(unit string) string {
	if !g.set {
		return ""
	}
	sign, of := "≤", formatFigure(g.limit)+" "+unit
	if g.atLeast {
		sign = "≥"
	}
	if g.ofRatio {
		of = fmt.Sprintf("%.2f×", g.limit)
	}
	return sign + " " + of
}

func (g goal) met(r *Row) bool {
	if !g.set {
		return true
	}
	value := r.Result
	if g.ofRatio {
		if r.Ratio == nil {
			return false
		}
		value = *r.Ratio
	}
	if g.atLeast {
		return value >= g.limit
	}
	return value <= g.limit
}

// ratioRow is the row of a result and its baseline, whose rounds were measured by turns.
func ratioRow(name, unit string, g goal, baseline, result []float64) Row {
	base, ratio := median(baseline), median(ratios(result, baseline))
	row := Row{
		Name: name, Unit: unit, Goal: g.format(unit), Baseline: &base, Result: median(result), Ratio: &ratio,
		Spread: spreadOf(ratios(result, baseline)),
	}
	row.OK = g.met(&row)
	return row
}

// absoluteRow is the row of a result with an absolute goal.
func absoluteRow(name, unit string, g goal, result []float64) Row {
	row := Row{Name: name, Unit: unit, Goal: g.format(unit), Result: median(result), Spread: spreadOf(result)}
	row.OK = g.met(&row)
	return row
}

// withNote adds a note.
func (r Row) withNote(format string, args ...any) Row {
	r.Note = fmt.Sprintf(format, args...)
	return r
}

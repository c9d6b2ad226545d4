package bench

import (
	"context"
	"slices"
)

// study is a group of measurements.
type study struct {
	name string
	// rows are the names of its rows.
	rows func(scale) []string
	run  func(context.Context, *stack) ([]Row, error)
}

// studies run in this order: those without load first, those that leave much data last.
var studies = []study{
	{name: "start and idle memory", rows: startRows, run: studyStart},
	{name: "moves", rows: moveRows, run: studyMoves},
	{name: "webhook arrival", rows: arrivalRows, run: studyArrival},
	{name: "webhook arrival beside another operator's hundred that hang", rows: neighbourRows, run: studyNeighbours},
	{name: "starting workflows of a Temporal that is far away", rows: farRows, run: studyFar},
	{name: "acknowledging orders", rows: acknowledgeRows, run: studyAcknowledge},
	{name: "creating orders", rows: createRows, run: studyCreate},
	{name: "starting what is missing", rows: reconcileRows, run: studyReconcile},
	{name: "reading orders", rows: readRows, run: studyRead},
	{name: "the panel's list", rows: panelRows, run: studyPanel},
	{name: "a rider's phone", rows: phoneRows, run: studyPhone},
	{name: "the cash of a day", rows: cashRows, run: studyCash},
	{name: "lists and tracking", rows: listRows, run: studyLists},
}

// selected are the studies that have a row that is wanted.
func (o *Options) selected(sc scale) []study {
	return slices.DeleteFunc(slices.Clone(studies), func(st study) bool { return !slices.ContainsFunc(st.rows(sc), o.wants) })
}

// failed are the rows of a study that failed.
func (st study) failed(options Options, sc scale, err error) []Row {
	var rows []Row
	for _, name := range st.rows(sc) {
		if options.wants(name) {
			rows = append(rows, Row{Name: name, Failure: err.Error()})
		}
	}
	return rows
}

// comparison is a row that compares two candidates.
type comparison struct {
	name, unit       string
	goal             goal
	result, baseline string
}

// namesOf are the rows of comparisons.
func namesOf(comparisons []comparison) []string {
	list := make([]string, len(comparisons))
	for i, c := range comparisons {
		list[i] = c.name
	}
	return list
}

// measureComparisons measures by turns the candidates of the selected comparisons.
func (s *stack) measureComparisons(
	ctx context.Context, candidates map[string]func(context.Context) (float64, error), comparisons []comparison,
) ([]Row, error) {
	return s.measureRounds(ctx, s.scale.rounds, candidates, comparisons)
}

// measureRounds is measureComparisons with a number of rounds of its own.
func (s *stack) measureRounds(
	ctx context.Context, count int, candidates map[string]func(context.Context) (float64, error), comparisons []comparison,
) ([]Row, error) {
	wanted := slices.DeleteFunc(slices.Clone(comparisons), func(c comparison) bool { return !s.options.wants(c.name) })
	// A result is measured right after its baseline, so that the machine's state is similar.
	var names []string
	for _, c := range wanted {
		for _, name := range []string{c.baseline, c.result} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var runs []func(context.Context) (float64, error)
	for _, name := range names {
		runs = append(runs, candidates[name])
	}
	measured, err := alternate(ctx, count, runs...)
	if err != nil {
		return nil, err
	}
	rounds := map[string][]float64{}
	for i, name := range names {
		rounds[name] = measured[i]
	}
	var rows []Row
	for _, c := range wanted {
		rows = append(rows, ratioRow(c.name, c.unit, c.goal, rounds[c.baseline], rounds[c.result]))
	}
	return rows, nil
}

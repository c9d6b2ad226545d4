package chaos

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"despacho/models"
	"despacho/test/lab/cluster"
)

// The invariants, as the report names them.
const (
	invariantReadable   = "every acknowledged order is readable with the same id and guide code"
	invariantKeys       = "every Idempotency-Key made one order"
	invariantReplay     = "a repeated creation is answered byte for byte like the first"
	invariantTimelines  = "timelines have no gaps and no impossible moves, and end where the row stands"
	invariantMoves      = "every acknowledged move is in the timeline, and nothing that nobody asked for"
	invariantActs       = "every act of a rider is made once, or refused and kept, however often it is sent"
	invariantRefused    = "a move is refused only where the row does not allow it"
	invariantPoison     = "invalid data is refused and stops nothing"
	invariantMoney      = "every sol that was collected is with its rider, handed in or settled, once"
	invariantTotals     = "totals by status are those of the acknowledged moves"
	invariantWorkflow   = "every order has exactly one workflow, open while the order can move"
	invariantAgreement  = "the workflow's status is the row's"
	invariantOutbox     = "every event has one delivery for each webhook that asked for it"
	invariantSettled    = "every delivery ended delivered or failed"
	invariantInOrder    = "the events of an order come in order to a webhook without retries"
	invariantOnce       = "no event is sent twice to a webhook without retries"
	invariantHeard      = "what is marked delivered was heard"
	invariantSignatures = "every event is signed"
	invariantPhotos     = "every photo can be read, and no file belongs to nobody"
	invariantClean      = "no 5xx but 503 with Retry-After"
	invariantAlive      = "no process ends by itself"
	invariantLossless   = "replacing processes one by one loses no request"
	invariantRefusal    = "too many clients are answered quickly"
	invariantMemory     = "memory stays bounded under overload"
	invariantRecovery   = "back to normal within 10 s of an overload"
	invariantSlow       = "slow clients keep nobody waiting"
	invariantSoak       = "after load and abandoned sockets, memory, goroutines, descriptors and rows are what they were"

	invariantRestored = "what was acknowledged before the backup is in the restored copy"
	invariantTarget   = "what came after the point in time is not"
	invariantNextMove = "every open order of a restored copy accepts its next legal move"
	invariantPaused   = "nobody is called while webhooks are paused"
	invariantResumed  = "every event that waited is sent afterwards"
)

// invariants are listed in the order they are printed in.
var invariants = []string{
	invariantReadable, invariantKeys, invariantReplay, invariantTimelines, invariantMoves, invariantActs, invariantRefused, invariantPoison, invariantMoney, invariantTotals, invariantWorkflow, invariantAgreement,
	invariantOutbox, invariantSettled, invariantInOrder, invariantOnce, invariantHeard, invariantSignatures, invariantPhotos, invariantClean, invariantAlive,
	invariantLossless, invariantRefusal, invariantMemory, invariantRecovery, invariantSlow, invariantSoak,
	invariantRestored, invariantTarget, invariantNextMove, invariantPaused, invariantResumed,
}

// report is the result of a run.
type report struct {
	Seed       uint64                `json:"seed"`
	Duration   string                `json:"duration"`
	Began      time.Time             `json:"began"`
	Took       string                `json:"took"`
	Settled    string                `json:"settled_after,omitempty"`
	Faults     []fault               `json:"faults"`
	Counters   map[string]int        `json:"counters"`
	Totals     map[models.Status]int `json:"totals_by_status"`
	Overload   *overloadFigures      `json:"overload,omitempty"`
	Slow       []*slowFigures        `json:"slow,omitempty"`
	Invariants []*invariant          `json:"invariants"`
	OK         bool                  `json:"ok"`

	mu     sync.Mutex
	strict bool
}

// invariant is how often an invariant was checked, and where it was broken.
type invariant struct {
	Name    string      `json:"name"`
	Checked int         `json:"checked"`
	Broken  []violation `json:"broken,omitempty"`
}

// violation is one case of a broken invariant; the subject is an order's id where there is one.
type violation struct {
	Subject string `json:"subject"`
	What    string `json:"what"`
}

func newReport(options Options) *report {
	r := &report{
		Seed: options.Seed, Duration: options.Duration.String(), Began: time.Now().UTC(), Counters: map[string]int{}, Totals: map[models.Status]int{},
	}
	for _, name := range invariants {
		r.Invariants = append(r.Invariants, &invariant{Name: name})
	}
	return r
}

func (r *report) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Counters[what]++
}

// set replaces counters.
func (r *report) set(tally map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.Counters, tally)
}

func (r *report) invariant(name string) *invariant {
	return r.Invariants[slices.Index(invariants, name)]
}

func (r *report) checked(name string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.invariant(name).Checked += n
}

func (r *report) violate(name, subject, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	broken := r.invariant(name)
	broken.Checked = max(broken.Checked, 1)
	broken.Broken = append(broken.Broken, violation{Subject: subject, What: fmt.Sprintf(format, args...)})
}

// forbidLoss sets whether a request without a response breaks an invariant.
func (r *report) forbidLoss(strict bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.strict = strict
}

// recordLost records a request that got no response.
func (r *report) recordLost(format string, args ...any) {
	r.mu.Lock()
	strict := r.strict
	r.mu.Unlock()
	if strict {
		r.violate(invariantLossless, "request", format, args...)
	}
}

func (r *report) broken() bool {
	return slices.ContainsFunc(r.Invariants, func(i *invariant) bool { return len(i.Broken) > 0 })
}

// violationsShown is how many of one kind are printed; the file has all.
const violationsShown = 5

func (r *report) print(out io.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(r.Counters)) {
		fmt.Fprintf(table, "%s\t%d\n", name, r.Counters[name])
	}
	for _, status := range models.Statuses {
		if len(r.Totals) > 0 {
			fmt.Fprintf(table, "orders that are %s\t%d\n", status, r.Totals[status])
		}
	}
	_ = table.Flush()
	if r.Overload != nil {
		fmt.Fprintf(out, "\n%s\n", r.Overload)
	}
	for _, slow := range r.Slow {
		fmt.Fprintf(out, "\n%s", slow)
	}
	fmt.Fprintln(out)
	table = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, i := range r.Invariants {
		verdict := "kept"
		switch {
		case len(i.Broken) > 0:
			verdict = fmt.Sprintf("BROKEN %d times", len(i.Broken))
		case i.Checked == 0:
			continue // not part of this run
		}
		fmt.Fprintf(table, "%s\tchecked %d\t%s\n", i.Name, i.Checked, verdict)
	}
	_ = table.Flush()
	for _, i := range r.Invariants {
		for n, v := range i.Broken {
			if n == violationsShown {
				fmt.Fprintf(out, "… and %d more: %s\n", len(i.Broken)-n, i.Name)
				break
			}
			fmt.Fprintf(out, "BROKEN: %s\n  %s: %s\n", i.Name, v.Subject, v.What)
		}
	}
}

func (r *report) write(path string) error {
	r.Took, r.OK = time.Since(r.Began).Round(time.Second).String(), !r.broken()
	return cluster.WriteJSON(path, r)
}

func (r *report) counter(counter string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Counters[counter]
}

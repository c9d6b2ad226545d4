package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// kind is a kind of fault.
type kind string

const (
	kill         kind = "kill -9"
	pause        kind = "SIGSTOP"
	fullDisk     kind = "full disk"
	receiverDown kind = "receiver down"
)

// The targets of faults besides the processes, by their names in the plan.
const (
	temporalServer = "temporal"
	databaseServer = "postgres"
)

var (
	apiNames    = []string{"api-1", "api-2"}
	workerNames = []string{"worker-1", "worker-2"}
)

// fault is one injected fault: when, what, and for how long.
type fault struct {
	At     time.Duration `json:"at"`
	Kind   kind          `json:"kind"`
	Target string        `json:"target,omitempty"`
	For    time.Duration `json:"for"`
}

func (f fault) String() string {
	return fmt.Sprintf("%7.1fs  %-13s  %-8s  for %s", f.At.Seconds(), f.Kind, f.Target, f.For.Round(100*time.Millisecond))
}

// The streams of random numbers of a seed: the plan's, from firstClient on one for each client,
// that of the order with many moves, and those of the soak's clients.
const (
	planStream = iota
	firstClient
	manyMovesStream = 1 << 32
	soakStream      = 1 << 33
)

func stream(seed, number uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, number)) }

// planFaults makes the plan from the seed. The first round has every kind, so that a short run has
// them all; later rounds have every fault of every target, shuffled. Faults may overlap.
func planFaults(seed uint64, duration, pauseFor time.Duration) []fault {
	rng := stream(seed, planStream)
	// A short run has less time between faults.
	pace := min(4*time.Second, duration/10)
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(rng.Int64N(int64(to-from))) }
	var plan []fault
	at := between(pace/2, pace)
	for round := firstRound(rng); ; round = fullRound() {
		rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		for _, f := range round {
			f.At = at
			switch f.Kind {
			case kill:
				f.For = between(100*time.Millisecond, 3*time.Second)
			case pause:
				f.For = pauseFor
			case fullDisk:
				f.For = between(3*time.Second, 6*time.Second)
			case receiverDown:
				f.For = between(time.Second, 3*time.Second)
			}
			if f.At+f.For > duration {
				return plan
			}
			plan = append(plan, f)
			at += between(pace/2, 3*pace/2)
		}
	}
}

// firstRound has each kind of fault.
func firstRound(rng *rand.Rand) []fault {
	pick := func(names []string) string { return names[rng.IntN(len(names))] }
	targets := slices.Concat(apiNames, workerNames, []string{temporalServer, databaseServer})
	return []fault{
		{Kind: kill, Target: pick(apiNames)}, {Kind: kill, Target: pick(workerNames)}, {Kind: kill, Target: temporalServer},
		{Kind: kill, Target: databaseServer}, {Kind: pause, Target: pick(targets)}, {Kind: fullDisk}, {Kind: receiverDown},
	}
}

// fullRound kills and pauses every target.
func fullRound() []fault {
	round := []fault{{Kind: fullDisk}, {Kind: receiverDown}, {Kind: receiverDown}}
	for _, name := range slices.Concat(apiNames, workerNames, []string{temporalServer, databaseServer}) {
		round = append(round, fault{Kind: kill, Target: name}, fault{Kind: pause, Target: name})
	}
	return round
}

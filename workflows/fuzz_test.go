package workflows_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

// faultyDatabase stores one order as PostgreSQL does, with outages, commits whose answer is lost,
// and moves that a worker wrote before it died, so that this run does not know of them.
type faultyDatabase struct {
	s   *harness
	rng *rand.Rand
	// entries are the ids of the timeline entries.
	entries map[uuid.UUID]bool
	// downUntil ends the present outage.
	downUntil time.Time
	calm      bool
	// automatic counts the moves that a timer made.
	automatic int
}

var errCommitLost = errors.New("the connection broke during the commit")

// unavailable begins an outage now and then, of at most two hours.
func (d *faultyDatabase) unavailable() error {
	now := d.s.env.Now()
	if !d.calm && d.rng.IntN(8) == 0 {
		d.downUntil = now.Add(time.Duration(d.rng.Int64N(int64(2 * time.Hour))))
	}
	if now.Before(d.downUntil) {
		return errDown
	}
	return nil
}

func (d *faultyDatabase) apply(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
	if err := d.unavailable(); err != nil {
		return nil, err
	}
	if d.entries[move.EntryID] || d.s.stored.Seq != move.Seq-1 {
		current := d.s.stored
		return &workflows.ApplyMoveResult{Current: &current, Written: d.entries[move.EntryID]}, nil
	}
	if !d.calm && d.rng.IntN(10) == 0 {
		return nil, workflows.NotStored()
	}
	result := d.write(move)
	if !d.calm && d.rng.IntN(6) == 0 {
		return nil, errCommitLost
	}
	return result, nil
}

func (d *faultyDatabase) write(move workflows.ApplyMoveInput) *workflows.ApplyMoveResult {
	d.entries[move.EntryID] = true
	if move.By == models.ByAuto {
		d.automatic++
	}
	return d.s.write(move)
}

// writeOutsideTheRun writes a legal move that this run does not know of.
func (d *faultyDatabase) writeOutsideTheRun() {
	for _, message := range fuzzMessages {
		after, verdict := d.s.stored.State.Decide(message.Move, models.ByOperator, message.Rider())
		// The run of an ended order completes; what comes after is another run's.
		if verdict == models.Applied && !after.Status.Ended() && d.rng.IntN(2) == 0 {
			move := workflows.ApplyMoveInput{EntryID: uuid.New(), Seq: d.s.stored.Seq + 1, Move: message.Move, By: models.ByOperator,
				To: after.Status, Substatus: after.Substatus, Message: message}
			d.write(move)
			return
		}
	}
}

var fuzzMessages = []models.Message{
	{Move: models.MoveReceive}, {Move: models.MoveAssign, RiderID: &riderA}, {Move: models.MoveAssign, RiderID: &riderB},
	{Move: models.MoveFail, Reason: "absent"}, {Move: models.MoveRetry}, {Move: models.MoveReturn}, {Move: models.MoveHandBack},
	{Move: models.MoveUndo, Reason: "por error"}, {Move: models.MoveDeliver}, {Move: models.MoveCancel}, {Move: models.MoveCancel, OnlyRegistered: true, By: models.ByStore},
}

// FuzzOrder sends random messages, valid and not, as signals and updates, in the middle of outages,
// lost commits and missed moves. Afterwards the next legal move must succeed, as the API asks for
// it: with a refresh after a refusal that the row does not confirm.
func FuzzOrder(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Add(uint64(186)) // the first in which a timer's move followed
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := newHarness(t, registered)
		s.stored.AutoCancelAt = start.Add(2 * runTimeout)
		d := &faultyDatabase{s: s, rng: rng, entries: map[uuid.UUID]bool{}}
		s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return d.apply(move)
		}
		s.beforeLoad = func() error {
			s.mu.Lock()
			defer s.mu.Unlock()
			return d.unavailable()
		}
		at := time.Duration(0)
		for range 1 + rng.IntN(25) {
			at += time.Duration(rng.Int64N(int64(30 * time.Minute)))
			s.at(at, func() { d.disturb(at) })
		}
		// The last outage has ended, and so has every move that waited for it.
		at += 12 * time.Hour
		s.at(at-11*time.Hour, func() { s.mu.Lock(); d.calm = true; s.mu.Unlock() })
		s.at(at-time.Hour, func() { s.mu.Lock(); d.writeOutsideTheRun(); s.mu.Unlock() })
		var moved *updateResult
		s.at(at, func() { moved = d.nextMove() })
		s.at(at+time.Minute, func() {
			if moved != nil && moved.err != nil {
				s.update(workflows.RefreshName, nil)
			}
		})
		s.at(at+2*time.Minute, func() {
			if moved != nil && moved.err != nil {
				moved = d.nextMove()
			}
		})
		before := 0
		s.at(at-time.Second, func() { s.mu.Lock(); before = s.stored.Seq - d.automatic; s.mu.Unlock() })
		ended := s.run()
		final := s.stored.Status.Ended()
		if moved == nil {
			require.True(t, final, "seed %d: no legal move, and not at an end", seed)
			return
		}
		require.True(t, moved.done, "seed %d: the move was never answered", seed)
		require.NoError(t, moved.err, "seed %d", seed)
		// A decision that nobody takes may follow it.
		require.Equal(t, before+1, s.stored.Seq-d.automatic, "seed %d: the move was acknowledged and not made", seed)
		require.Equal(t, final, ended, "seed %d", seed)
	})
}

// disturb sends something to the order, or changes the row behind its back.
func (d *faultyDatabase) disturb(at time.Duration) {
	if d.s.env.IsWorkflowCompleted() {
		return
	}
	message := fuzzMessages[d.rng.IntN(len(fuzzMessages))]
	name := string(message.Move)
	switch d.rng.IntN(8) {
	case 0:
		d.s.mu.Lock()
		defer d.s.mu.Unlock()
		d.writeOutsideTheRun()
	case 1:
		d.s.signal(name, "not an object")
	case 2:
		d.s.signal(workflows.RefreshName, nil)
	case 3:
		d.s.signal(workflows.CancelName, models.Message{Reason: "a\x00b"})
	case 4:
		d.s.signal(name, message)
	case 5:
		d.s.update(name, message)
	default:
		message.Deadline = pointer(start.Add(at + 30*time.Second))
		d.s.update(name, message)
	}
}

// nextMove asks for the first legal move of the row; nil if there is none.
func (d *faultyDatabase) nextMove() *updateResult {
	for _, message := range fuzzMessages {
		d.s.mu.Lock()
		_, verdict := d.s.stored.State.Decide(message.Move, models.ByOperator, message.Rider())
		d.s.mu.Unlock()
		if verdict == models.Applied && !d.s.env.IsWorkflowCompleted() {
			return d.s.update(string(message.Move), message)
		}
	}
	return nil
}

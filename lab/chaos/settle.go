package chaos

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"despacho/lab/cluster"
)

const (
	// settlePatience bounds how long the service may take to put everything right once nothing
	// breaks any more. The longest it has to wait for is a call that died with its worker: that is
	// given up after half a minute, and taken over at most two minutes after its time.
	settlePatience = 5 * time.Minute
	settleEvery    = 500 * time.Millisecond
	// tooLong is from when on somebody does not wait for the next attempt of an event but has it
	// sent again.
	tooLong = 20 * time.Second
)

// unsettled counts what the service still owes.
type unsettled struct {
	Registered, Pending, Waiting int
}

func (u unsettled) String() string {
	return fmt.Sprintf("%d orders waiting for their timer, %d deliveries pending, %d more waiting for a late attempt", u.Registered, u.Pending, u.Waiting)
}

func (s *stack) owed(ctx context.Context) (owed unsettled, late []string, err error) {
	err = onDatabase(ctx, s.databaseURL(), func(connection *pgx.Conn) error {
		counts := connection.QueryRow(ctx, `SELECT
			(SELECT count(*) FROM orders WHERE status = 'registered'),
			(SELECT count(*) FROM deliveries WHERE status = 'pending' AND (next_attempt_at IS NULL OR next_attempt_at <= now() + $1::interval))`, tooLong)
		if err := counts.Scan(&owed.Registered, &owed.Pending); err != nil {
			return err
		}
		rows, err := connection.Query(ctx, `SELECT id::text FROM deliveries WHERE status = 'pending' AND next_attempt_at > now() + $1::interval`, tooLong)
		if err != nil {
			return err
		}
		late, err = pgx.CollectRows(rows, pgx.RowTo[string])
		owed.Waiting = len(late)
		return err
	})
	return owed, late, err
}

// settle returns when nothing is owed any more. An event whose next attempt is minutes away is sent
// again by hand, as people do once they know that their receiver is back.
func (s *stack) settle(ctx context.Context) error {
	began := time.Now()
	c := s.newClient(stream(s.options.Seed, planStream))
	defer c.close()
	said := began
	for {
		owed, late, err := s.owed(ctx)
		if err != nil {
			return err
		}
		if owed == (unsettled{}) {
			s.report.Settled = time.Since(began).Round(time.Second).String()
			return nil
		}
		for _, id := range late {
			s.report.count("events sent again by hand", 1)
			if _, err := c.call(ctx, cluster.Request{Method: http.MethodPost, Path: "/panel/api/deliveries/" + id + "/redeliver", Token: s.tenant.token, Body: []byte("{}")}); err != nil {
				return err
			}
		}
		if limit := s.options.patience(settlePatience); time.Since(began) > limit {
			s.options.say("not settled within %s: %s", limit, owed)
			return nil // the invariants say what that means
		}
		if time.Since(said) > 15*time.Second {
			said = time.Now()
			s.options.say("%s", owed)
		}
		if err := sleep(ctx, settleEvery); err != nil {
			return err
		}
	}
}

// settleAndCheck waits until nothing is owed and holds everything against the promises.
func settleAndCheck(ctx context.Context, s *stack) error {
	s.options.say("%d orders were created; waiting until everything is settled", len(s.ledger.acknowledged()))
	if err := s.settle(ctx); err != nil {
		return err
	}
	truth, err := s.readTruth(ctx)
	if err != nil {
		return err
	}
	t := &truthCheck{stack: s, dbState: truth, tally: map[string]int{}}
	for _, check := range []func(context.Context, *truthCheck) error{
		checkReadable, checkKeys, checkTimelines, checkMoves, checkTotals, checkDeliveries, checkWorkflows, checkPhotos,
	} {
		if err := check(ctx, t); err != nil {
			return err
		}
	}
	s.report.set(t.tally)
	return s.tellStories(ctx, t)
}

// truthCheck is what an invariant is checked with.
type truthCheck struct {
	*stack
	*dbState
	// tally is what is counted on the way.
	tally map[string]int
}

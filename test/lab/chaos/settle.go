package chaos

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

const (
	// settleTimeout bounds how long the service may take to finish once no more faults are
	// injected. The longest is a webhook call whose worker was killed: it times out after half a
	// minute and is taken over at most two minutes after its time.
	settleTimeout = 5 * time.Minute
	settleEvery   = 500 * time.Millisecond
	// redeliverAfter is the longest wait for a scheduled attempt; a later one is replaced by a
	// redelivery.
	redeliverAfter = 20 * time.Second
)

// unsettled counts the work that the service has not finished.
type unsettled struct {
	Registered, Pending, Waiting int
}

func (u unsettled) String() string {
	return fmt.Sprintf("%d orders waiting for their timer, %d deliveries pending, %d more waiting for a late attempt",
		u.Registered, u.Pending, u.Waiting)
}

func (s *stack) outstanding(ctx context.Context) (outstanding unsettled, late []string, err error) {
	err = dev.OnDatabase(ctx, s.databaseURL, func(connection *pgx.Conn) error {
		counts := connection.QueryRow(ctx, `SELECT
			(SELECT count(*) FROM orders WHERE status = 'registered'),
			(SELECT count(*) FROM deliveries WHERE status = 'pending'
				AND (next_attempt_at IS NULL OR next_attempt_at <= now() + $1::interval))`, redeliverAfter)
		if err := counts.Scan(&outstanding.Registered, &outstanding.Pending); err != nil {
			return err
		}
		rows, err := connection.Query(ctx, `SELECT id::text FROM deliveries WHERE status = 'pending'
			AND next_attempt_at > now() + $1::interval`, redeliverAfter)
		if err != nil {
			return err
		}
		late, err = pgx.CollectRows(rows, pgx.RowTo[string])
		outstanding.Waiting = len(late)
		return err
	})
	return outstanding, late, err
}

// settle returns when no work is outstanding. An event whose next attempt is minutes away is
// redelivered, as users do once their receiver is back.
func (s *stack) settle(ctx context.Context) error {
	began := time.Now()
	c := s.newClient(stream(s.options.Seed, planStream))
	defer c.close()
	lastLogged := began
	for {
		outstanding, late, err := s.outstanding(ctx)
		if err != nil {
			return err
		}
		if outstanding == (unsettled{}) {
			s.report.Settled = time.Since(began).Round(time.Second).String()
			return nil
		}
		for _, id := range late {
			s.report.count("events sent again by hand")
			if _, err := c.call(ctx, cluster.Request{Method: http.MethodPost, Path: "/panel/api/deliveries/" + id + "/redeliver",
				Token: s.operator.token, Body: []byte("{}")}); err != nil {
				return err
			}
		}
		if limit := s.options.scaledTimeout(settleTimeout); time.Since(began) > limit {
			s.options.logf("not settled within %s: %s", limit, outstanding)
			return nil // the invariants report it
		}
		if time.Since(lastLogged) > 15*time.Second {
			lastLogged = time.Now()
			s.options.logf("%s", outstanding)
		}
		if err := cluster.Sleep(ctx, settleEvery); err != nil {
			return err
		}
	}
}

// settleAgain is settle without a note of its time in the report, which is that after the faults.
func (s *stack) settleAgain(ctx context.Context) error {
	faultsSettled := s.report.Settled
	err := s.settle(ctx)
	s.report.Settled = faultsSettled
	return err
}

// settleAndCheck waits until no work is outstanding and checks the invariants, and what else is
// given.
func settleAndCheck(ctx context.Context, s *stack, more ...func(context.Context, *checker) error) error {
	s.options.logf("%d orders were created; waiting until everything is settled", len(s.ledger.acknowledged()))
	if err := s.settle(ctx); err != nil {
		return err
	}
	state, err := s.readState(ctx)
	if err != nil {
		return err
	}
	c := &checker{stack: s, dbState: state, tally: map[string]int{}}
	checks := []func(context.Context, *checker) error{
		checkReadable, checkKeys, checkTimelines, checkMoves, checkActs, checkMoney, checkTotals, checkDeliveries, checkWorkflows, checkPhotos,
	}
	for _, check := range append(checks, more...) {
		if err := check(ctx, c); err != nil {
			return err
		}
	}
	s.report.set(c.tally)
	return s.printDetails(ctx, c)
}

// checker is what an invariant is checked with.
type checker struct {
	*stack
	*dbState
	// tally holds counters of the checks.
	tally map[string]int
}

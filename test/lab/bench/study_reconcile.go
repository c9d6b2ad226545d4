package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/client"

	"despacho/internal/dev"
	"despacho/models"
	"despacho/test/lab/cluster"
	"despacho/workflows"
)

// reconcileTimeout bounds the start of the missing workflows of one round.
const reconcileTimeout = 5 * time.Minute

func reconcileComparisons(sc scale) []comparison {
	name := fmt.Sprintf("reconcile, %s orders without a workflow: started, against bare StartWorkflow calls of %d clients",
		formatCount(sc.burst), sc.burstClients)
	return []comparison{{name: name, unit: "orders/s", goal: goal{atLeast: true, limit: 100, set: true}, result: "reconcile",
		baseline: "bare starts"}}
}

func reconcileRows(sc scale) []string { return namesOf(reconcileComparisons(sc)) }

// studyReconcile measures how fast the reconcile workflow starts the workflows of orders that were
// created while Temporal was away.
func studyReconcile(ctx context.Context, s *stack) ([]Row, error) {
	address, err := s.newDatabase(ctx, "bench_reconcile")
	if err != nil {
		return nil, err
	}
	v, err := s.startService(ctx, address, "reconcile")
	if err != nil {
		return nil, err
	}
	operator := firstOther // each round has its own
	rows, err := s.measureComparisons(ctx, map[string]func(context.Context) (float64, error){
		"bare starts": v.startBurst,
		"reconcile": func(ctx context.Context) (float64, error) {
			operator++
			return v.reconcile(ctx, operator)
		},
	}, reconcileComparisons(s.scale))
	if err != nil {
		return nil, err
	}
	return rows, v.stop(ctx)
}

// newestWorkflows are the workflow ids of an operator's newest orders.
func (v *service) newestWorkflows(ctx context.Context, operator int) (ids []string, err error) {
	err = dev.OnDatabase(ctx, v.databaseURL, func(connection *pgx.Conn) error {
		rows, err := connection.Query(ctx, "SELECT id FROM orders WHERE operator_id = $1 ORDER BY created_at DESC LIMIT $2",
			id("operator", operator), v.stack.scale.burstClients)
		if err != nil {
			return err
		}
		orders, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		for _, order := range orders {
			ids = append(ids, workflowOf(order))
		}
		return err
	})
	return ids, err
}

// reconcile seeds orders without a workflow and returns how many a second were started when all are
// confirmed and the last ones have done their first task.
func (v *service) reconcile(ctx context.Context, operator int) (float64, error) {
	count := v.stack.scale.burst
	if err := seedOrders(ctx, v.databaseURL, orderSeed{first: operator, last: operator, each: count,
		status: models.StatusRegistered}); err != nil {
		return 0, err
	}
	// The reconcile workflow takes the oldest first.
	newest, err := v.newestWorkflows(ctx, operator)
	if err != nil {
		return 0, err
	}
	var took time.Duration
	err = dev.OnDatabase(ctx, v.databaseURL, func(connection *pgx.Conn) error {
		// An hour old, so that no process is still about to start them.
		lost, err := connection.Exec(ctx, `UPDATE orders SET workflow_started_at = NULL,
			updated_at = updated_at - interval '1 hour' WHERE operator_id = $1`, id("operator", operator))
		if err != nil {
			return err
		}
		if lost.RowsAffected() != int64(count) {
			return fmt.Errorf("%d orders without a workflow instead of %d", lost.RowsAffected(), count)
		}
		began := time.Now()
		_, err = v.stack.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: v.queue},
			workflows.ReconcileWorkflowName, workflows.ReconcileInput{For: time.Second})
		if err != nil {
			return err
		}
		if err = allStarted(ctx, connection, reconcileTimeout); err != nil {
			return err
		}
		err = v.stack.settled(newest)(ctx)
		took = time.Since(began)
		return err
	})
	return float64(count) / took.Seconds(), err
}

// allStarted waits until the workflow of every order is confirmed in the database.
func allStarted(ctx context.Context, connection *pgx.Conn, timeout time.Duration) error {
	return cluster.Poll(ctx, timeout, "not every order has its workflow", func() (done bool, err error) {
		err = connection.QueryRow(ctx, "SELECT NOT EXISTS (SELECT FROM orders WHERE workflow_started_at IS NULL)").Scan(&done)
		return done, err
	})
}

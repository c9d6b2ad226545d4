package worker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// One run of the reconcile workflow erases all whose retention is over, more than one pass does.
func TestReconcile_erasesAllInOneRun(t *testing.T) {
	t.Parallel()
	const kept = 30 * 24 * time.Hour
	s := boot(t, "", apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.PersonalDataRetention = kept }})
	rows := make([]models.Order, 101)
	for i := range rows {
		rows[i] = s.Row(time.Now().Add(-2*kept), apptest.CancelledBy(models.ByStore, ""))
	}
	s.InsertRows(t, rows)
	a := s.comparing()
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.SetTestTimeout(poll.Deadline)
	env.RegisterActivity(a.Reconcile)
	stopping, ended := make(chan struct{}), make(chan error, 1)
	env.SetWorkerStopChannel(stopping)
	go func() {
		_, err := env.ExecuteActivity(a.Reconcile, poll.Deadline)
		ended <- err
	}()
	poll.Until(t, func() error {
		var left int
		err := s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM orders WHERE erased_at IS NULL").Scan(&left)
		if err == nil && left > 0 {
			err = fmt.Errorf("%d orders are not erased", left)
		}
		return err
	})
	close(stopping)
	require.NoError(t, <-ended)
}

package workflows_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"despacho/models"
	"despacho/workflows"
)

// Resolving a map link and verifying a DNI never block the order, whatever their outcome.
func TestSideActivities_neverBlockTheOrder(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]error{"answers": nil, "fails": errors.New("no such host"), "hangs": activity.ErrResultPending} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			s.stored.ResolveMapLink, s.stored.VerifyIdentity = true, true
			asked := map[string]*atomic.Int32{workflows.ResolveMapLinkActivity: {}, workflows.VerifyIdentityActivity: {}}
			for name, times := range asked {
				s.env.RegisterActivityWithOptions(func(orderID uuid.UUID) error {
					times.Add(1)
					if orderID != s.orderID {
						return errors.New("asked about another order")
					}
					return outcome
				}, activity.RegisterOptions{Name: name})
			}
			s.at(time.Minute, func() { s.signal(workflows.CancelName, nil) })
			require.True(t, s.run())
			require.Equal(t, []models.Move{models.MoveCancel}, s.moves())
			require.Equal(t, start.Add(time.Minute), s.written[0].At)
			for name, times := range asked {
				require.Positive(t, times.Load(), name)
			}
		})
	}
}

// An order that needs neither starts no side activity.
func TestSideActivities_onlyWhereNeeded(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		t.Errorf("%s started", info.ActivityType.Name)
	})
	s.at(time.Minute, func() { s.signal(workflows.CancelName, nil) })
	require.True(t, s.run())
}

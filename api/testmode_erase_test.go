package api_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// The recipient's data of a test order is erased a week after its last change, however long that of
// others is kept, and without an entry in the audit log.
func TestTestMode_erasedAfterAWeek(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		key, now := tenant.NewKey(t, models.APIKey{Test: true}), time.Now()
		cancelled, test := apptest.CancelledBy(models.ByStore, "motivo"), func(o *models.Order) { o.Test = true }
		old, recent := tenant.Row(now.AddDate(0, 0, -8), cancelled, test), tenant.Row(now.AddDate(0, 0, -6), cancelled, test)
		live := tenant.Row(now.AddDate(0, 0, -8), cancelled)
		tenant.InsertRows(t, []models.Order{old, recent, live})
		poll.Until(t, func() error { // other tests' test orders may be in the way
			if _, err := s.App.Orders.ApplyRetention(t.Context(), func() bool { return false }); err != nil {
				return err
			}
			if name := readName(t, s, key, old.ID); name != models.ErasedText {
				return errors.New(name + " is not erased")
			}
			return nil
		})
		require.Equal(t, "Rosa Díaz", readName(t, s, key, recent.ID))
		require.Equal(t, "Rosa Díaz", readName(t, s, tenant.Key, live.ID))
		log := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/audit", Token: tenant.SignInAs(t, &models.User{Admin: true})})
		require.NotContains(t, log.Text, old.ID.String())
	})
}

func readName(t *testing.T, s *apptest.Service, key string, id uuid.UUID) string {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + id.String(), Key: key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer.String("recipient_name")
}

package activities_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"despacho/activities"
	"despacho/internal/clock"
	"despacho/internal/dev/dniprovider"
	"despacho/internal/encryption"
	"despacho/internal/identity"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// An order that ends while a provider is asked about its DNI may be erased before the answer comes:
// nothing of the answer is written to it.
func TestIdentity_answerAfterAnErasureIsNotKept(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		number, kind := dniprovider.DNIRosa, models.DocDNI
		secrets, err := encryption.New(s.Config.SecretKey)
		require.NoError(t, err)
		order := tenant.Row(time.Now(), apptest.CancelledBy(models.ByStore, ""), func(o *models.Order) {
			o.RecipientDocType, o.RecipientDocEncrypted = &kind, secrets.Seal([]byte(number), orders.DocumentContext(o.ID))
		})
		tenant.InsertRows(t, []models.Order{order})
		erased := make(chan error, 1)
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := s.App.Orders.Erase(r.Context(), &tenant.Operator, order.ID)
			erased <- err
			dniprovider.Provider{}.ServeHTTP(w, r)
		}))
		t.Cleanup(provider.Close)
		verifier, err := identity.New([]identity.Config{{Provider: identity.DevProvider, URL: provider.URL}}, identity.Options{
			Timeout: poll.Deadline,
		})
		require.NoError(t, err)
		a := &activities.Activities{Orders: s.App.Orders, DB: s.App.DB, Clock: clock.System(), Identity: verifier}
		env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
		env.SetTestTimeout(poll.Deadline)
		env.RegisterActivity(a.VerifyIdentity)
		_, err = env.ExecuteActivity(a.VerifyIdentity, order.ID)
		require.NoError(t, err)
		require.NoError(t, <-erased)

		after, err := s.App.DB.OrderViewByID(t.Context(), order.ID)
		require.NoError(t, err)
		require.NotNil(t, after.ErasedAt)
		require.Nil(t, after.RecipientDocVerified)
		require.Nil(t, after.DocOutcome)
		require.Nil(t, after.DocNameMatches)
	})
}

package activities_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

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

// orderWithDNI inserts an order with a DNI, and returns the activities of a worker that asks the
// provider about it.
func orderWithDNI(
	t *testing.T, s *apptest.Service, tenant *apptest.Tenant, provider http.HandlerFunc, changes ...func(*models.Order),
) (*activities.Activities, models.Order) {
	t.Helper()
	kind := models.DocDNI
	secrets, err := encryption.New(s.Config.SecretKey)
	require.NoError(t, err)
	order := tenant.Row(time.Now(), append(changes, func(o *models.Order) {
		o.RecipientDocType, o.RecipientDocEncrypted = &kind, secrets.Seal([]byte(dniprovider.DNIRosa), orders.DocumentContext(o.ID))
	})...)
	tenant.InsertRows(t, []models.Order{order})
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	verifier, err := identity.New([]identity.Config{{Provider: identity.DevProvider, URL: server.URL}}, identity.Options{
		Timeout: poll.Deadline,
	})
	require.NoError(t, err)
	return &activities.Activities{Orders: s.App.Orders, DB: s.App.DB, Clock: clock.System(), Identity: verifier}, order
}

// An order that ends while a provider is asked about its DNI may be erased before the answer comes:
// nothing of the answer is written to it.
func TestIdentity_answerAfterAnErasureIsNotKept(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		erased := make(chan error, 1)
		var order models.Order
		a, order := orderWithDNI(t, s, tenant, func(w http.ResponseWriter, r *http.Request) {
			_, err := s.App.Orders.Erase(r.Context(), &tenant.Operator, order.ID)
			erased <- err
			dniprovider.Provider{}.ServeHTTP(w, r)
		}, apptest.CancelledBy(models.ByStore, ""))
		env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
		env.SetTestTimeout(poll.Deadline)
		env.RegisterActivity(a.VerifyIdentity)
		_, err := env.ExecuteActivity(a.VerifyIdentity, order.ID)
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

// A provider whose quota is used up for ever is asked a few times for an order, which goes on.
func TestIdentity_quotaForEver(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		var asked atomic.Int32
		a, order := orderWithDNI(t, s, s.NewTenant(t), func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		env := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
		env.SetTestTimeout(poll.Deadline)
		env.RegisterActivity(a.VerifyIdentity)
		env.ExecuteWorkflow(func(ctx workflow.Context) error {
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: poll.Deadline})
			return workflow.ExecuteActivity(ctx, a.VerifyIdentity, order.ID).Get(ctx, nil)
		})
		require.NoError(t, env.GetWorkflowError())
		require.EqualValues(t, 6, asked.Load())
		after, err := s.App.DB.OrderViewByID(t.Context(), order.ID)
		require.NoError(t, err)
		require.Equal(t, "quota_or_credentials", *after.DocOutcome)
	})
}

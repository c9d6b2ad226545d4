package apiclient_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apiclient"
	"despacho/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// newClient is set up the way the reference tells: the address and the key, nothing else.
func newClient(t *testing.T, s *apptest.Service, key string) *apiclient.ClientWithResponses {
	t.Helper()
	client, err := apiclient.NewClientWithResponses(s.BaseURL, apiclient.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-API-Key", key)
		return nil
	}))
	require.NoError(t, err)
	return client
}

func pointer[T any](value T) *T { return &value }

func TestGeneratedClient_createsReadsListsAndCancelsAnOrder(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		client, ctx := newClient(t, s, tenant.KeyA), t.Context()

		wanted := apiclient.OrderInput{
			RecipientName: "Rosa Díaz", RecipientPhone: "987 654 321", DeliveryAddress: "Av. Larco 345",
			LocationId: apptest.Miraflores, Product: "Zapatillas", AmountToCollect: pointer(89.9),
		}
		once := &apiclient.CreateOrderParams{IdempotencyKey: pointer("venta-20391")}
		created, err := client.CreateOrderWithResponse(ctx, once, wanted)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, created.StatusCode(), string(created.Body))
		order := created.JSON201.Data
		require.Equal(t, apiclient.Registered, order.Status)
		require.Equal(t, apiclient.CashOnDelivery, order.PaymentType)
		require.InDelta(t, 89.9, order.AmountToCollect, 0)
		require.Equal(t, "+51987654321", order.RecipientPhone)
		require.Nil(t, order.Rider)

		replayed, err := client.CreateOrderWithResponse(ctx, once, wanted)
		require.NoError(t, err)
		require.Equal(t, created.Body, replayed.Body)
		require.Equal(t, "true", replayed.HTTPResponse.Header.Get("Idempotent-Replayed"))

		read, err := client.GetOrderWithResponse(ctx, order.Id)
		require.NoError(t, err)
		require.Equal(t, order, read.JSON200.Data)

		listed, err := client.ListOrdersWithResponse(ctx, &apiclient.ListOrdersParams{Status: pointer(apiclient.Registered), Limit: pointer(int32(10))})
		require.NoError(t, err)
		require.EqualValues(t, 1, listed.JSON200.Data.Total)
		require.Equal(t, []apiclient.Order{order}, listed.JSON200.Data.Orders)

		cancelled, err := client.CancelOrderWithResponse(ctx, order.Id, apiclient.CancelInput{Reason: pointer("El cliente se arrepintió")})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, cancelled.StatusCode(), string(cancelled.Body))
		require.Equal(t, apiclient.Cancelled, cancelled.JSON200.Data.Status)
		require.Equal(t, "El cliente se arrepintió", *cancelled.JSON200.Data.Cancellation.Reason)

		late, err := client.CancelOrderWithResponse(ctx, order.Id, apiclient.CancelInput{})
		require.NoError(t, err)
		require.Equal(t, "move_not_allowed", late.JSON400.Code)
	})
}

// generateCommand is the command that generate.go holds.
func generateCommand(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile("generate.go")
	require.NoError(t, err)
	for line := range strings.Lines(string(source)) {
		if command, found := strings.CutPrefix(line, "//go:generate "); found {
			return strings.Fields(command)
		}
	}
	t.Fatal("generate.go has no go:generate line")
	return nil
}

// run runs a command that looks for modules in the module cache before it asks a proxy, so that a
// warm cache is all it needs.
func run(t *testing.T, command []string) (string, error) {
	t.Helper()
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	c := exec.Command(command[0], command[1:]...)
	downloaded := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(cache, "cache", "download"))} // a space needs escaping
	c.Env = append(os.Environ(), "GOPROXY="+downloaded.String()+","+proxy)
	output, err := c.CombinedOutput()
	return string(output), err
}

// client.gen.go is what openapi.yaml gives today: run `go generate ./test/apiclient` after changing
// it.
func TestGeneratedClient_isInStepWithTheDocument(t *testing.T) {
	t.Parallel()
	command := generateCommand(t)
	generator := command[:slices.Index(command, "-config")]
	if output, err := run(t, append(slices.Clone(generator), "-version")); err != nil {
		reason := "the generator cannot be had here: " + output
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	fresh := filepath.Join(t.TempDir(), "client.go")
	command[slices.Index(command, "-o")+1] = fresh
	output, err := run(t, command)
	require.NoError(t, err, output)
	want, err := os.ReadFile(fresh)
	require.NoError(t, err)
	got, err := os.ReadFile("client.gen.go")
	require.NoError(t, err)
	require.True(t, string(want) == string(got), "client.gen.go is out of date: run go generate ./test/apiclient")
}

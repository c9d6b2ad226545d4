package browser

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/dev"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// The real Temporal UI, set up as docs/operations.md says, shows an encrypted history to whoever is
// signed in to the panel in the same browser. UI and API are two origins of one site.
func TestTemporalUI_decodesThroughThePanel(t *testing.T) {
	t.Parallel()
	browser := &browserUser{t: t, tab: open(t, desktopWidth)}
	temporal, err := dev.StartTemporal(t.Context(), dev.TemporalOptions{CLI: testenv.TemporalCLI(t), UI: true, SearchAttributes: testenv.SearchAttributes})
	require.NoError(t, err)
	t.Cleanup(func() { _ = temporal.Stop(context.WithoutCancel(t.Context())) })
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, TemporalAddress: temporal.Address, Configure: func(c *config.Config) {
		c.HistoryKeys, c.HistoryKeyID, c.TemporalUIURL = []string{"a:un secreto de treinta y dos letras o más"}, "a", temporal.UIURL
	}})
	tenant := s.NewTenant(t)
	id := s.CreateOrder(t, tenant.Key)
	s.WaitForWorkflow(t, id)
	order := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: tenant.Key})

	history := temporal.UIURL + "/namespaces/default/workflows/order-" + id
	browser.do(chromedp.Navigate(temporal.UIURL + "/api/v1/settings")) // a small document of the origin
	read(t, browser.tab, chromedp.Evaluate[bool](`(() => {
		localStorage.setItem("endpoint", JSON.stringify("`+s.BaseURL+`/panel/codec"));
		localStorage.setItem("includeCredentials", "true");
		localStorage.setItem("overrideRemoteCodecConfiguration", "true");
		return true; })()`))
	browser.do(chromedp.Navigate(history))
	browser.waitForText("order-" + id)
	require.NotContains(t, browser.text(), order.String("guide_code"), "nobody is signed in to the panel")

	browser.base = s.BaseURL
	browser.signIn(tenant, nil)
	browser.do(chromedp.Navigate(history))
	browser.waitForText(order.String("guide_code")) // in the workflow's input
}

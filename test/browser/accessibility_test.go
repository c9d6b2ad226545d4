package browser

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

var pictures = flag.String("pictures", "", "directory to write a picture of every page to, in every window")

// window is a size and a colour scheme that pages are looked at in.
type window struct {
	name, scheme  string
	width, height int64
	phone         bool
}

// windows have each size and each colour scheme once. Pictures are taken in the others as well.
func windows() []window {
	list := []window{{"1366-light", "light", 1366, 640, false}, {"390-dark", "dark", phoneWidth, 844, true}}
	if *pictures != "" {
		list = append(list, window{"1366-dark", "dark", 1366, 640, false}, window{"390-light", "light", phoneWidth, 844, true},
			window{"1920-light", "light", 1920, 950, false}, window{"1920-dark", "dark", 1920, 950, false})
	}
	return list
}

// Every page that links lead to, for everybody, for the operator and for a store: axe-core finds
// nothing wrong with it, tables fit into their cards, and words stay whole.
func TestAccessibility_ofEveryPage(t *testing.T) {
	axe := axeCore(t)
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Name = "Rayo Envíos" })
		shown := seedPanel(t, s, tenant)
		seedConfiguration(t, s, tenant)
		for _, w := range windows() {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				v := &visitor{browserUser: &browserUser{t, open(t, desktopWidth), s.BaseURL}, window: w, axe: axe}
				v.do(w.emulate())
				v.crawl("public", []string{"/panel", "/track", "/track/" + shown.assignedCode, "/track/DP-0000-0000", "/docs", "/nada"}, "/docs", "/track")
				v.signInAs(tenant, &models.User{Name: "Milagros Vega", Role: models.RoleOperator, Admin: true})
				operator := v.crawl("operator", []string{"/panel/pedidos", "/panel/pedidos/" + shown.assigned, "/panel/nada"}, "/panel")
				require.GreaterOrEqual(t, operator, 30, "pages of the operator")

				store := &visitor{browserUser: &browserUser{t, open(t, desktopWidth), s.BaseURL}, window: w, axe: axe}
				store.do(w.emulate())
				store.signIn(tenant, &tenant.StoreA)
				require.GreaterOrEqual(t, store.crawl("store", []string{"/panel/pedidos"}, "/panel"), 7, "pages of a store")
			})
		}
	})
}

// What a field says while it is empty is as dark as its colour, for which axe-core does not look.
func TestAccessibility_ofPlaceholders(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDesktop(t, s)
		require.Equal(t, "1", p.placeholderOpacity("/"))
		p.signIn(s.NewTenant(t), nil)
		require.Equal(t, "1", p.placeholderOpacity("/panel/pedidos"))
	})
}

func (p *browserUser) placeholderOpacity(path string) string {
	p.t.Helper()
	p.visit(path)
	p.waitVisible("input[placeholder]")
	return read(p.t, p.tab, chromedp.Evaluate[string](`getComputedStyle(document.querySelector("input[placeholder]"), "::placeholder").opacity`))
}

// axeCore is the script that checks a page.
func axeCore(t *testing.T) string {
	t.Helper()
	script, err := testenv.AxeCore()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("axe-core comes from npm: test/openapi/install.sh installs it")
	}
	require.NoError(t, err)
	return string(script)
}

// seedConfiguration adds what pages show besides orders: webhooks with deliveries, keys, and a
// rider with a phone beside one with a link.
func seedConfiguration(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) {
	t.Helper()
	for path, body := range map[string]map[string]any{
		"/panel/api/webhooks": {"url": "https://tienda.example/avisos", "events": []string{"order.delivered"}},
		"/panel/api/keys":     {"name": "Caja", "scopes": []string{"read:orders"}},
	} {
		made := s.Do(t, apptest.Request{Method: http.MethodPost, Path: path, Token: tenant.SignIn(t, nil), Body: body})
		require.Equal(t, http.StatusCreated, made.Status, made.Text)
	}
	tenant.ActivatePhone(t, tenant.Riders[0].ID)
	tenant.RiderLink(t, tenant.Riders[1].ID)
}

func (w window) emulate() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: w.scheme}}}
		if _, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, scheme); err != nil {
			return err
		}
		size := emulation.SetDeviceMetricsOverrideParams{Width: w.width, Height: w.height, DeviceScaleFactor: 1, Mobile: w.phone}
		if _, err := cdp.Call(ctx, target, emulation.SetDeviceMetricsOverride, size); err != nil {
			return err
		}
		// What a finger points at is larger: (pointer: coarse).
		_, err := cdp.Call(ctx, target, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: w.phone})
		return err
	})
}

// visitor looks at pages in a window.
type visitor struct {
	*browserUser
	window window
	axe    string
}

var (
	uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	noPage      = regexp.MustCompile(`\.(csv|json|yaml|jpg|png)$`)
)

// crawl looks at pages and at those that they link to below the given paths, one for each route. It
// returns how many there were.
func (v *visitor) crawl(who string, paths []string, below ...string) int {
	v.t.Helper()
	seen := map[string]bool{}
	for len(paths) > 0 {
		path := paths[0]
		paths = paths[1:]
		route := uuidPattern.ReplaceAllString(strings.SplitN(path, "?", 2)[0], "id")
		if seen[route] || noPage.MatchString(route) {
			continue
		}
		seen[route] = true
		v.visit(path)
		v.waitVisible("main, body")
		v.look(who, route)
		for _, link := range read(v.t, v.tab, chromedp.Evaluate[[]string](`[...document.querySelectorAll("a[href]")].filter((a) => a.origin === location.origin).map((a) => a.pathname + a.search)`)) {
			for _, root := range below {
				if link == root || strings.HasPrefix(link, root+"/") || strings.HasPrefix(link, root+"?") {
					paths = append(paths, link)
				}
			}
		}
	}
	return len(seen)
}

// brokenLayout names the tables that are wider than their card, and the words of up to 20
// characters that are broken over two lines. Longer ones, such as addresses, may be.
const brokenLayout = `(() => {
	const problems = [];
	for (const table of document.querySelectorAll("table")) {
		const around = table.closest(".card, main");
		if (around && table.checkVisibility() && table.getBoundingClientRect().right > around.getBoundingClientRect().right + 1) problems.push("a table is wider than its card: " + table.innerText.slice(0, 80));
	}
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
	for (let text; (text = texts.nextNode()); ) {
		if (!text.parentElement.checkVisibility() || text.parentElement.closest("code, pre, script, style")) continue;
		for (const { 0: word, index } of text.data.matchAll(/(?<!\S)[^\s\/-]{2,20}(?!\S)/gu)) {
			range.setStart(text, index);
			range.setEnd(text, index + word.length);
			if (new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1) problems.push("broken over two lines: " + word);
		}
	}
	return problems;
})()`

// runAxe names what axe-core finds, also in what is folded, and targets under 24 pixels that are
// too near to others, which it only looks for when it is told to.
const runAxe = `(async () => {
	const folded = [...document.querySelectorAll("details:not([open])")];
	for (const details of folded) details.open = true;
	const { violations } = await axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } });
	for (const details of folded) details.open = false;
	return violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary));
})()`

// look checks the current page.
func (v *visitor) look(who, route string) {
	v.t.Helper()
	read(v.t, v.tab, chromedp.Evaluate[bool](v.axe+"; true"))
	found := read(v.t, v.tab, chromedp.Evaluate[[]string](runAxe, chromedp.EvalAwaitPromise))
	found = append(found, read(v.t, v.tab, chromedp.Evaluate[[]string](brokenLayout))...)
	assert.Empty(v.t, found, "%s for %s", route, who)
	if *pictures != "" {
		directory := filepath.Join(*pictures, v.window.name)
		require.NoError(v.t, os.MkdirAll(directory, 0o755))
		content := read(v.t, v.tab, chromedp.FullScreenshot(80))
		name := who + strings.ReplaceAll(route, "/", "_") + ".jpg"
		require.NoError(v.t, os.WriteFile(filepath.Join(directory, name), content, 0o644))
	}
}

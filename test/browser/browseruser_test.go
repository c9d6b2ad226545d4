package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// desktopWidth is the width of a desktop window.
const desktopWidth = 1280

// browserUser drives a browser tab as a user does.
type browserUser struct {
	t    *testing.T
	tab  context.Context
	base string
}

// openDesktop opens a browser with a desktop window.
func openDesktop(t *testing.T, s *apptest.Service) *browserUser {
	t.Helper()
	return &browserUser{t, open(t, desktopWidth), s.BaseURL}
}

// signIn is signInAs for a user of the operator, or of a store.
func (p *browserUser) signIn(tenant *apptest.Tenant, store *models.Store) {
	p.t.Helper()
	user := models.User{}
	if store != nil {
		user.StoreID = &store.ID
	}
	p.signInAs(tenant, &user)
}

// signInAs makes a user of the tenant, types their address and password into the form and waits for
// the panel.
func (p *browserUser) signInAs(tenant *apptest.Tenant, user *models.User) {
	p.t.Helper()
	tenant.SignInAs(p.t, user)
	p.visit("/panel")
	p.fill("#email", user.Email)
	p.fill("#password", apptest.Password)
	p.press("main button[type=submit]")
	p.waitForText("Pedidos")
}

// runAgainAfter runs an action until it does not fail with the message, and returns what it read.
func runAgainAfter[T any](t *testing.T, tab context.Context, message string, action chromedp.Action[T]) T {
	t.Helper()
	var value T
	var err error
	poll.Until(t, func() error {
		limited, cancel := context.WithTimeout(tab, poll.Deadline)
		defer cancel()
		if value, err = chromedp.Run(limited, action); err != nil && strings.Contains(err.Error(), message) {
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return value
}

// read runs an action and returns what it read. The browser does not answer for a page that is left
// meanwhile; the action is then run on the page that follows.
func read[T any](t *testing.T, tab context.Context, action chromedp.Action[T]) T {
	t.Helper()
	return runAgainAfter(t, tab, "Inspected target navigated or closed", action)
}

func (p *browserUser) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	limited, cancel := context.WithTimeout(p.tab, poll.Deadline)
	defer cancel()
	require.NoError(p.t, chromedp.Do(limited, actions...))
}

func (p *browserUser) visit(path string) { p.t.Helper(); p.do(chromedp.Navigate(p.base + path)) }

// fill replaces the text of a field. A busy browser may refuse the focus to one that a script has
// just added; nothing is typed then.
func (p *browserUser) fill(selector, text string) {
	p.t.Helper()
	p.waitVisible(selector)
	read(p.t, p.tab, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)))
	runAgainAfter(p.t, p.tab, "Element is not focusable", chromedp.SendKeys(chromedp.CSS(selector), text))
}

// choose selects an option by its label.
func (p *browserUser) choose(selector, label string) {
	p.t.Helper()
	chosen := read(p.t, p.tab, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const list = document.querySelector(%q), option = [...list.options].find((o) => o.textContent.includes(%q));
		if (!option) return false;
		list.value = option.value; list.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`, selector, label)))
	require.True(p.t, chosen, "%s offers %s", selector, label)
}

func (p *browserUser) press(selector string) {
	p.t.Helper()
	p.waitVisible(selector)
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// isLoaded is true when the page's own scripts have run.
const isLoaded = `document.readyState === "complete"`

// pressNamed clicks the first visible element with the text, once the page is loaded.
func (p *browserUser) pressNamed(selector, name string) {
	p.t.Helper()
	p.until(func() error {
		pressed := read(p.t, p.tab, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
			const found = %s && [...document.querySelectorAll(%q)].find((e) => e.textContent.includes(%q) && e.getClientRects().length);
			if (found) found.click();
			return !!found; })()`, isLoaded, selector, name)))
		if !pressed {
			return fmt.Errorf("there is no %s called %s on %s", selector, name, p.text())
		}
		return nil
	})
}

func (p *browserUser) text() string {
	p.t.Helper()
	return read(p.t, p.tab, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
}

// waitVisible waits until the page is loaded and an element is shown.
func (p *browserUser) waitVisible(selector string) {
	p.t.Helper()
	p.until(func() error {
		if !read(p.t, p.tab, chromedp.Evaluate[bool](fmt.Sprintf(`%s && [...document.querySelectorAll(%q)].some((e) => e.getClientRects().length > 0)`, isLoaded, selector))) {
			return fmt.Errorf("there is no %s on %s", selector, p.text())
		}
		return nil
	})
}

// waitForText waits until the page is loaded and a text is on it.
func (p *browserUser) waitForText(text string) {
	p.t.Helper()
	p.until(func() error {
		if shown := read(p.t, p.tab, chromedp.Evaluate[string](isLoaded+` ? document.body.innerText : ""`)); !strings.Contains(shown, text) {
			return fmt.Errorf("%q is not on the page as it is loaded: %s", text, shown)
		}
		return nil
	})
}

func (p *browserUser) until(check func() error) { p.t.Helper(); poll.Until(p.t, check) }

// evaluates is an error unless the expression is true on the page.
func (p *browserUser) evaluates(expression string) error {
	p.t.Helper()
	if !read(p.t, p.tab, chromedp.Evaluate[bool](expression)) {
		return fmt.Errorf("not true of %s: %s", p.address(), expression)
	}
	return nil
}

// address is the path of the current page.
func (p *browserUser) address() string {
	p.t.Helper()
	return strings.TrimPrefix(read(p.t, p.tab, chromedp.Location()), p.base)
}

// requireNoOverflow fails if the page is wider than the window.
func (p *browserUser) requireNoOverflow() {
	p.t.Helper()
	require.False(p.t, read(p.t, p.tab, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`)), p.address())
}

// What is read while the page is left is read from the page that follows.
func TestRead_whileThePageIsLeft(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDesktop(t, s)
		p.visit("/rastreo")
		const leaving = `location.search || (location.search = "?left", new Promise(() => {}))`
		require.Equal(t, "?left", read(t, p.tab, chromedp.Evaluate[string](leaving, chromedp.EvalAwaitPromise)))
	})
}

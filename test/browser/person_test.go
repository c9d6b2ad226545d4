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
	"despacho/test/testenv"
)

// desk is the width of a screen on somebody's desk.
const desk = 1280

// person is somebody in front of a browser.
type person struct {
	t    *testing.T
	tab  context.Context
	base string
}

// atDesk opens a browser on somebody's desk.
func atDesk(t *testing.T, s *apptest.Service) *person {
	t.Helper()
	return &person{t, open(t, desk), s.BaseURL}
}

// signIn is signInAs for somebody of the operator's or of a store's.
func (p *person) signIn(tenant *apptest.Tenant, store *models.Store) {
	p.t.Helper()
	user := models.User{}
	if store != nil {
		user.StoreID = &store.ID
	}
	p.signInAs(tenant, &user)
}

// signInAs makes a user of the tenant, types their address and password into the form and waits for
// the panel.
func (p *person) signInAs(tenant *apptest.Tenant, user *models.User) {
	p.t.Helper()
	tenant.SignInAs(p.t, user)
	p.visit("/panel")
	p.fill("#email", user.Email)
	p.fill("#password", apptest.Password)
	p.press("main button[type=submit]")
	p.sees("Pedidos")
}

func (p *person) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.tab, actions...))
}

func (p *person) visit(path string) { p.t.Helper(); p.do(chromedp.Navigate(p.base + path)) }

// fill types over what is in a field.
func (p *person) fill(selector, text string) {
	p.t.Helper()
	p.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	read(p.t, p.tab, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)))
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// choose picks an option of a list by what it says.
func (p *person) choose(selector, label string) {
	p.t.Helper()
	chosen := read(p.t, p.tab, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const list = document.querySelector(%q), option = [...list.options].find((o) => o.textContent.includes(%q));
		if (!option) return false;
		list.value = option.value; list.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`, selector, label)))
	require.True(p.t, chosen, "%s offers %s", selector, label)
}

func (p *person) press(selector string) {
	p.t.Helper()
	p.do(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// pressNamed presses what is called so.
func (p *person) pressNamed(selector, name string) {
	p.t.Helper()
	p.eventually(func() error {
		pressed := read(p.t, p.tab, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
			const found = [...document.querySelectorAll(%q)].find((e) => e.textContent.includes(%q) && e.getClientRects().length);
			if (found) found.click();
			return !!found; })()`, selector, name)))
		if !pressed {
			return fmt.Errorf("there is no %s called %s on %s", selector, name, p.text())
		}
		return nil
	})
}

func (p *person) text() string {
	p.t.Helper()
	return read(p.t, p.tab, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
}

// sees waits until a text is on the page.
func (p *person) sees(text string) {
	p.t.Helper()
	p.eventually(func() error {
		if shown := p.text(); !strings.Contains(shown, text) {
			return fmt.Errorf("%q is not on the page: %s", text, shown)
		}
		return nil
	})
}

func (p *person) eventually(check func() error) { p.t.Helper(); testenv.Until(p.t, check) }

// address is where the browser is.
func (p *person) address() string {
	p.t.Helper()
	return strings.TrimPrefix(read(p.t, p.tab, chromedp.Location()), p.base)
}

// fits makes sure that nothing sticks out of the screen.
func (p *person) fits() {
	p.t.Helper()
	require.False(p.t, read(p.t, p.tab, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`)), p.address())
}

package browser

import (
	"context"
	"fmt"
	"testing"
	"time"

	permissions "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/poll"
)

// riderPIN is what riders choose.
const riderPIN = "4821"

// riderUser is a rider with a phone.
type riderUser struct {
	*browserUser
	net *network
	// root is the browser, in which the phone's tabs share one storage.
	root context.Context
	in   cdp.BrowserContextID
}

// openPhone opens the browser of a phone on the service, which may be this street or another
// handler with the same contract.
func (s *street) openPhone(t *testing.T) *riderUser {
	t.Helper()
	tab := open(t, phoneWidth)
	root, err := browser()
	require.NoError(t, err)
	return newRider(t, root, tab, newNetwork(t, s))
}

func newRider(t *testing.T, root, tab context.Context, net *network) *riderUser {
	t.Helper()
	p := &riderUser{&browserUser{t, tab, net.URL}, net, root, chromedp.FromContext(tab).BrowserContextID}
	p.do(emulatePhone())
	return p
}

// activate opens a link of a rider and chooses a PIN.
func (p *riderUser) activate(s *street, rider string) {
	p.t.Helper()
	p.activateWith(s.link(rider))
}

// activateWith opens the link of a token and chooses a PIN.
func (p *riderUser) activateWith(token string) {
	p.t.Helper()
	p.visit("/reparto#" + token)
	p.fill("#pin", riderPIN)
	p.fill("#again", riderPIN)
	p.pressNamed("button", "Activar")
	p.waitForText("Mi día")
}

// tap clicks the first visible element, wherever it is on the page.
func (p *riderUser) tap(selector string) {
	p.t.Helper()
	p.waitVisible(selector)
	read(p.t, p.tab, chromedp.Evaluate[bool](fmt.Sprintf(
		`([...document.querySelectorAll(%q)].find((e) => e.getClientRects().length > 0).click(), true)`, selector)))
}

// waitForView waits until a screen is shown.
func (p *riderUser) waitForView(name string) {
	p.t.Helper()
	p.waitVisible(fmt.Sprintf("#view[data-view=%q]", name))
}

// waitUntil waits until an expression is true on the page.
func (p *riderUser) waitUntil(expression string) {
	p.t.Helper()
	p.until(func() error {
		if !read(p.t, p.tab, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise)) {
			return fmt.Errorf("not true: %s; the page says %s", expression, p.text())
		}
		return nil
	})
}

// waitForActs waits until the service has so many acts, and returns them.
func (p *riderUser) waitForActs(s *street, count int) []riderAct {
	p.t.Helper()
	p.until(func() error {
		if made := s.made(); len(made) < count {
			return fmt.Errorf("the service has %d of %d acts; the page says %s", len(made), count, p.text())
		}
		return nil
	})
	return s.made()
}

// deliver delivers a paid package in two taps.
func (p *riderUser) deliver(name string) {
	p.t.Helper()
	p.tap(fmt.Sprintf("[aria-label=%q]", "Entregar a "+name))
	p.waitForView("deliver")
	p.tap(".deed button")
	p.waitForView("list")
}

// failed notes a failed attempt in two taps.
func (p *riderUser) failed(name, reason string) {
	p.t.Helper()
	p.tap(fmt.Sprintf("[aria-label=%q]", "No se pudo: "+name))
	p.waitForView("fail")
	p.tap(fmt.Sprintf(".reason[value=%s]", reason))
	p.waitForView("list")
}

// choosePhoto chooses a photo of the phone in the form that is open, and waits for it.
func (p *riderUser) choosePhoto(path string) {
	p.t.Helper()
	p.until(func() error { return p.evaluates(`Boolean(document.querySelector("#photo"))`) })
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{path}))
	p.waitVisible(".photo img")
}

// standAt gives the page permission for the phone's place, and says where it is.
func (p *riderUser) standAt(lat, lng float64) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		granted := permissions.SetPermissionParams{
			Permission: &permissions.PermissionDescriptor{Name: "geolocation"}, Setting: permissions.PermissionSettingGranted,
			Origin: p.base, BrowserContextID: p.in,
		}
		if _, err := cdp.Call(ctx, chromedp.FromContext(ctx).Browser, permissions.SetPermission, granted); err != nil {
			return err
		}
		accuracy := 12.0
		_, err := cdp.Call(ctx, target, emulation.SetGeolocationOverride,
			emulation.SetGeolocationOverrideParams{Latitude: &lat, Longitude: &lng, Accuracy: &accuracy})
		return err
	}))
}

// killTab ends the process of the page, as a phone does that needs its memory, and opens another
// tab of the same browser.
func (p *riderUser) killTab() {
	p.t.Helper()
	crashing, cancel := context.WithTimeout(p.tab, 2*time.Second)
	defer cancel()
	// The page has no process any more that could answer.
	_ = chromedp.Do(crashing, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.Crash, cdp.Empty{})
		return err
	}))
	p.openTab()
}

// openTab has the rider use another tab of the same phone.
func (p *riderUser) openTab() {
	p.t.Helper()
	tab, cancel := chromedp.NewContext(p.root, chromedp.WithExistingBrowserContext(p.in))
	p.t.Cleanup(cancel)
	opened := make(chan error, 1)
	go func() { opened <- chromedp.Do(tab, emulatePhone()) }()
	select {
	case err := <-opened:
		require.NoError(p.t, err)
	case <-time.After(poll.Deadline):
		p.t.Fatalf("the browser opened no tab within %s", poll.Deadline)
	}
	p.browserUser = &browserUser{p.t, tab, p.base}
}

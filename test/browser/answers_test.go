package browser

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// holdAnswers keeps the answers to the page's scripts until answer gives them. Nothing tells them
// of changes meanwhile.
func (p *browserUser) holdAnswers() {
	p.t.Helper()
	read(p.t, p.tab, chromedp.Evaluate[bool](`(() => {
		window.asked = [];
		window.EventSource = class { close() {} };
		window.dispatchEvent(new Event("pagehide"));
		window.fetch = (address, options) => new Promise((resolve) => { asked.push({ address, options, resolve }); });
		return true; })()`))
}

// waitForRequest waits until the page's scripts have made so many requests.
func (p *browserUser) waitForRequest(number int) {
	p.t.Helper()
	p.until(func() error {
		if read(p.t, p.tab, chromedp.Evaluate[int](`asked.length`)) < number {
			return errors.New("the page has not asked")
		}
		return nil
	})
}

// waitForRequestOf waits until the page's scripts have asked for a text, and returns the number of
// that request. There may be others: whoever types slowly has the beginnings asked for as well.
func (p *browserUser) waitForRequestOf(typed string) (number int) {
	p.t.Helper()
	p.until(func() error {
		number = read(p.t, p.tab, chromedp.Evaluate[int](fmt.Sprintf(`asked.findIndex(({ address }) => address.endsWith("?q=" + encodeURIComponent(%q))) + 1`, typed)))
		if number == 0 {
			return fmt.Errorf("the page has not asked for %q", typed)
		}
		return nil
	})
	return number
}

// answer gives a request, counted from 1, what an expression of JavaScript says, and returns once
// the page's scripts have dealt with it.
func (p *browserUser) answer(number int, expression string) {
	p.t.Helper()
	read(p.t, p.tab, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		window.dealtWith = false;
		asked[%d].resolve(%s);
		setTimeout(() => setTimeout(() => { dealtWith = true; }));
		return true; })()`, number-1, expression)))
	p.until(func() error {
		if !read(p.t, p.tab, chromedp.Evaluate[bool](`dealtWith`)) {
			return errors.New("the page has not dealt with the answer")
		}
		return nil
	})
}

// The places that are offered are those of what is typed, in whichever sequence the answers come.
func TestPanel_placesOfAnEarlierText(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDesktop(t, s)
		p.signIn(s.NewTenant(t), nil)
		p.visit("/panel/pedidos/nuevo")
		p.holdAnswers()
		const field = "input[data-places]"
		p.fill(field, "san")
		earlier := p.waitForRequestOf("san")
		p.do(chromedp.SendKeys(chromedp.CSS(field), " isi"))
		later := p.waitForRequestOf("san isi")

		p.answer(later, `Response.json(["San Isidro, Lima"])`)
		p.answer(earlier, `Response.json(["San Borja, Lima", "San Isidro, Lima"])`)

		require.Equal(t, []string{"San Isidro, Lima"}, read(t, p.tab, chromedp.Evaluate[[]string](
			`[...document.querySelector("input[data-places]").list.options].map(({ value }) => value)`)))
	})
}

// A list that is fetched again leaves alone what somebody ticks while the answer arrives.
func TestPanel_aBoxTickedWhileTheListArrives(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.KeyA)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/pedidos")
		p.holdAnswers()
		read(t, p.tab, chromedp.Evaluate[bool](`document.dispatchEvent(new Event("visibilitychange"))`))
		p.waitForRequest(1)
		p.answer(1, `{ ok: true, headers: new Headers(), text: () => new Promise((resolve) => { asked.push({ resolve }); }) }`)
		p.waitForRequest(2)
		p.press("#board tbody input[name=id]")

		p.answer(2, `"<div id=board>otra lista</div>"`)

		require.True(t, read(t, p.tab, chromedp.Evaluate[bool](`document.querySelector("#board tbody input[name=id]")?.checked === true`)))
	})
}

// Of two answers with the same list the page shows the first, and asks again for what the second
// had: it does not take for shown what it did not show.
func TestPanel_twoAnswersWithAList(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDesktop(t, s)
		p.signIn(s.NewTenant(t), nil)
		p.visit("/panel/pedidos")
		p.holdAnswers()
		look := func(number int) {
			t.Helper()
			read(t, p.tab, chromedp.Evaluate[bool](`document.dispatchEvent(new Event("visibilitychange"))`))
			p.waitForRequest(number)
		}
		look(1)
		look(2)
		for number, list := range []string{"primera", "segunda"} {
			p.answer(number+1, fmt.Sprintf(`new Response("<div id=board data-live=/panel>%[1]s</div>", { headers: { ETag: "%[1]s" } })`, list))
		}
		look(3)
		shown := read(t, p.tab, chromedp.Evaluate[string](`document.getElementById("board").textContent`))
		require.Equal(t, shown, read(t, p.tab, chromedp.Evaluate[string](`asked[2].options.headers["If-None-Match"]`)))
	})
}

package bench

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"despacho/test/lab/cluster"
	"despacho/test/testenv"
)

// phone is a Chromium of the size of a phone, with the cookie of a rider.
type phone struct {
	tab  context.Context
	base string
	stop []context.CancelFunc
}

const (
	// phoneTimeout bounds each thing that a rider does.
	phoneTimeout = 3 * time.Minute
	phoneStep    = 20 * time.Millisecond
)

func openPhone(ctx context.Context, base, cookie string) (p *phone, err error) {
	path, err := testenv.FindChromium()
	if err != nil {
		return nil, err
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(path), chromedp.NoSandbox, // Chromium as root refuses to run with it
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true))
	allocated, stopAllocation := chromedp.NewExecAllocator(ctx, options...)
	tab, stopTab := chromedp.NewContext(allocated)
	p = &phone{tab: tab, base: base, stop: []context.CancelFunc{stopTab, stopAllocation}}
	err = chromedp.Do(tab, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateScale(2)),
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, network.SetCookie, network.SetCookieParams{Name: "despacho_rider", Value: cookie, URL: base})
			return err
		}))
	if err != nil {
		p.close()
	}
	return p, err
}

func (p *phone) close() {
	for _, stop := range p.stop {
		stop()
	}
}

// openList opens the page in a new document and returns the milliseconds until all of the list is
// there, by the browser's clock. Afterwards it waits until the page is kept on the phone.
func (p *phone) openList() (float64, error) {
	began := time.Now()
	if err := p.do(chromedp.Navigate("about:blank"), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		began = time.Now()
		return nil
	}), chromedp.Navigate(p.base+"/reparto")); err != nil {
		return 0, err
	}
	listed := fmt.Sprintf(`document.querySelectorAll("[aria-label^='Entregar a ']").length === %d`, phoneStops)
	if err := p.until(listed); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return cluster.Milliseconds(took), p.until(`navigator.serviceWorker.ready.then(() => true)`)
}

// forgetDay has the phone be one whose list is of yesterday: the page shows none until it has
// today's.
func (p *phone) forgetDay() error {
	return p.until(`new Promise((resolve, reject) => {
		const opening = indexedDB.open("reparto");
		opening.onerror = reject;
		opening.onsuccess = () => {
			const database = opening.result, writing = database.transaction("state", "readwrite");
			writing.objectStore("state").delete(IDBKeyRange.bound("day:", "day;"));
			writing.oncomplete = () => { database.close(); resolve(true); };
			writing.onabort = reject;
		}; })`)
}

// deliver delivers the first package of the list with a photo.
func (p *phone) deliver(photo string) error {
	for _, step := range []error{
		p.press(`[aria-label^='Entregar a ']`), p.until(`Boolean(document.querySelector("#photo"))`),
	} {
		if step != nil {
			return step
		}
	}
	if err := p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{photo})); err != nil {
		return err
	}
	if err := p.until(`Boolean(document.querySelector(".photo img"))`); err != nil {
		return err
	}
	if err := p.press(".deed button"); err != nil {
		return err
	}
	return p.until(`document.querySelector("#view").dataset.view === "list"`)
}

// awaitSent says that the network is back, as the phone does, and returns when nothing waits.
func (p *phone) awaitSent() error {
	if err := p.until(`(window.dispatchEvent(new Event("online")), true)`); err != nil {
		return err
	}
	return p.until(`!document.body.innerText.includes("Por enviar")`)
}

// press clicks the first visible element.
func (p *phone) press(selector string) error {
	return p.until(fmt.Sprintf(`(() => {
		const found = [...document.querySelectorAll(%q)].find((e) => e.getClientRects().length > 0);
		if (found) found.click();
		return Boolean(found); })()`, selector))
}

func (p *phone) do(actions ...chromedp.Action[chromedp.Void]) error {
	limited, cancel := context.WithTimeout(p.tab, phoneTimeout)
	defer cancel()
	return chromedp.Do(limited, actions...)
}

// until returns when an expression is true on the page.
func (p *phone) until(expression string) error {
	limited, cancel := context.WithTimeout(p.tab, phoneTimeout)
	defer cancel()
	for {
		is, err := chromedp.Run(limited, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise))
		switch {
		case err == nil && is:
			return nil
		case limited.Err() != nil:
			text, _ := chromedp.Run(p.tab, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
			return fmt.Errorf("not true within %s: %s; the page says %.300s", phoneTimeout, expression, text)
		}
		time.Sleep(phoneStep)
	}
}

// photoOfADoor is a photo as a phone takes it: smooth, with a little noise.
func photoOfADoor() []byte {
	const width, height = 3000, 2000
	picture, random := image.NewRGBA(image.Rect(0, 0, width, height)), rand.New(rand.NewPCG(1, 2))
	for y := range height {
		for x := range width {
			light := 128 + 60*math.Sin(float64(x)/97) + 50*math.Cos(float64(y)/61) + 8*random.NormFloat64()
			at := uint8(min(max(light, 0), 255))
			picture.SetRGBA(x, y, color.RGBA{R: at, G: at - at/8, B: at / 2, A: 255})
		}
	}
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, picture, &jpeg.Options{Quality: 90}); err != nil {
		panic(err) // memory takes everything
	}
	return encoded.Bytes()
}

func containsAll(text []byte, parts ...string) bool {
	for _, part := range parts {
		if !bytes.Contains(text, []byte(part)) {
			return false
		}
	}
	return true
}

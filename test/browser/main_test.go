package browser

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) {
	apptest.Main(m, func() {
		if endBrowser != nil {
			endBrowser()
		}
	})
}

var (
	// browser is the one Chromium of all tests, started by the first of them.
	browser    = sync.OnceValues(startBrowser)
	endBrowser context.CancelFunc
)

func startBrowser() (context.Context, error) {
	path, err := testenv.FindChromium()
	if err != nil {
		return nil, err
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options,
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // Chromium as root refuses to run with it
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(poll.Deadline),
	)
	allocated, cancelAllocation := chromedp.NewExecAllocator(context.Background(), options...)
	started, cancelBrowser := chromedp.NewContext(allocated)
	endBrowser = func() { cancelBrowser(); cancelAllocation() }
	return started, chromedp.Do(started)
}

// open opens a window of the given width with cookies and storage of its own.
func open(t *testing.T, width int) context.Context {
	t.Helper()
	testenv.SkipIfShort(t)
	running, err := browser()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	tab, cancelTab := chromedp.NewContext(running, chromedp.WithNewBrowserContext())
	t.Cleanup(cancelTab)
	// A tab lives as long as the context of its first action, which can have no deadline of its own.
	opened := make(chan error, 1)
	go func() { opened <- chromedp.Do(tab, chromedp.EmulateViewport(int64(width), 900)) }()
	select {
	case err := <-opened:
		require.NoError(t, err)
	case <-time.After(poll.Deadline):
		t.Fatalf("the browser opened no window within %s", poll.Deadline)
	}
	return tab
}

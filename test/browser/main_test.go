package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// chromium is the browser, by whatever name it is installed.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium is installed")
}

// open starts a browser of the test's own with a window of the given width.
func open(t *testing.T, width int) context.Context {
	t.Helper()
	path, err := chromium()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options,
		chromedp.ExecPath(path), chromedp.WindowSize(width, 900), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, // Chromium as root refuses to run with it
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(testenv.Deadline),
	)
	allocated, cancelAllocation := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancelAllocation)
	tab, cancelTab := chromedp.NewContext(allocated)
	t.Cleanup(cancelTab)
	limited, cancelLimit := context.WithTimeout(tab, 4*testenv.Deadline) // for all that the test does
	t.Cleanup(cancelLimit)
	return limited
}

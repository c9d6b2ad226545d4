package testenv

import (
	"errors"
	"os/exec"
)

// chromiumNames are the command names of the browser. The headless shell is first: it is the same
// browser without a window, and takes a third of the time.
var chromiumNames = []string{
	"chromium-headless-shell", "headless_shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"chrome",
}

// FindChromium returns the path of the browser, by whatever name it is installed.
func FindChromium() (string, error) {
	for _, name := range chromiumNames {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium is installed")
}

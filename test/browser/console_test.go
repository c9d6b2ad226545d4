package browser

import (
	"context"
	"slices"
	"sync"

	"github.com/chromedp/chromedp"
)

// collectConsoleErrors collects script errors and Content-Security-Policy violations.
func collectConsoleErrors(tab context.Context) (complaints func() []string) {
	var mu sync.Mutex
	var heard []string
	messages := chromedp.Console(tab)
	go func() {
		for message, err := range messages {
			if err != nil {
				return
			}
			if message.IsException() || message.Type == chromedp.ConsoleError || message.Source == "security" {
				mu.Lock()
				heard = append(heard, message.String())
				mu.Unlock()
			}
		}
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(heard)
	}
}

package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"despacho/internal/dev/demo"
)

// devSecret returns the SECRET_KEY of a development machine, generated once and stored in file.
func devSecret(file string) (string, error) {
	kept, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	// A full disk leaves an empty file, with which nothing can be encrypted.
	if secret := strings.TrimSpace(string(kept)); secret != "" {
		return secret, nil
	}
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	secret := hex.EncodeToString(random[:])
	return secret, os.WriteFile(file, []byte(secret+"\n"), 0o600)
}

// printBanner prints the URLs, the sample credentials and a curl command.
func printBanner(out io.Writer, document *demo.Document, metricsURL string, took time.Duration) {
	operator := document.Operators[0]
	inbox := strings.TrimSuffix(document.WebhookInbox.EventsURL, "/events")
	fmt.Fprintf(out, `
Despacho is ready after %s.

  API            %s/v1
  Panel          %s   (%s, password %s)
  Rider's phone  %s   (%s; opens once and asks for a new PIN, such as %s)
  Reference      %s
  Tracking       %s/
  Temporal UI    %s
  Webhook inbox  %s
  Metrics        %s
  Demo key       %s   (%s, all scopes)

Create an order:

%s

Ctrl-C stops everything. Orders are kept for the next time.

`, took.Round(100*time.Millisecond), document.BaseURL, document.PanelURL, operator.Panel.Email, operator.Panel.Password,
		orDash(operator.RiderLink), operator.Riders[0].Name, demo.SuggestedPIN, document.DocsURL, document.BaseURL, orDash(document.TemporalUIURL), inbox, metricsURL,
		operator.Keys.All, operator.Name, curlLine(document.BaseURL, operator))
}

func curlLine(baseURL string, operator demo.Operator) string {
	return fmt.Sprintf(`curl -sS -X POST %s/v1/orders -H 'X-API-Key: %s' -H 'Content-Type: application/json' `+
		`-d '{"recipient_name":"Rosa Díaz","recipient_phone":"987654321","delivery_address":"Av. Larco 345","location_id":"%s","product":"Zapatillas","amount_to_collect":89.90}'`,
		baseURL, operator.Keys.All, operator.Covered.LocationID)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

package apptest

import (
	"errors"
	"log/slog"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJournal_findsWhatShouldNotBeLogged(t *testing.T) {
	t.Parallel()
	for name, attribute := range map[string]slog.Attr{
		"a key":                 slog.String("header", "X-API-Key: dsp_live_0123456789abcdef0123456789abcdef"),
		"a phone in an error":   slog.String("error", `invalid "+51987654321"`),
		"a phone as it came":    slog.String("body", "987654321"),
		"a document in a query": slog.String("url", "https://registro.example/dni?numero=71234567&x=1"),
		"half a secret":         slog.String("secret", "AbCdEfGhIjKlMnOp/"),
		"a name in a statement": slog.String("sql", `SELECT * FROM orders WHERE search_text LIKE '%Rosa Díaz%'`),
		"an address":            slog.Any("error", errors.New("geocoding Av. Larco 345, Lima")),
		"an e-mail address":     slog.Any("user", map[string]string{"email": "rosa@tienda.example"}),
		"a note":                slog.Group("order", "notes", "tocar el timbre"),
		"a search":              slog.String("path", "/panel?q=Juana+Flores"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newLogCheck()
			j.addSecret("key", "dsp_live_0123456789abcdef0123456789abcdef")
			j.addSecrets([]byte(`{"recipient_phone":"987 654 321","data":[{"recipient_doc_number":"71234567","phone":"+51987654321","secret":"whsec_AbCdEfGhIjKlMnOp/QrStUv="}]}`))
			j.addSecrets([]byte(`{"recipient_name":"Rosa Díaz","delivery_address":"Av. Larco 345","email":"rosa@tienda.example","notes":"tocar el timbre"}`))
			j.addForm(url.Values{"q": {"Juana Flores"}, "pagina": {"una página"}})
			log := slog.New(slog.NewTextHandler(j, nil))
			log.Info("request", "route", "/v1/orders", "took", "1.23456789s", "larco", 345, "other", "una página")
			require.NoError(t, j.leaked())
			log.LogAttrs(t.Context(), slog.LevelDebug+4, "something", attribute)
			require.Error(t, j.leaked())
		})
	}
}

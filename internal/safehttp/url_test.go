package safehttp_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/safehttp"
)

func TestCheckURLAccepts(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"https://tienda.example.pe",
		"https://tienda.example.pe/webhooks/despacho?canal=1&x=%20",
		"HTTPS://Tienda.Example.PE:8443/hook",
		"https://tienda_1.example.pe/hook",
		"https://tienda.example.pe./hook",
		"https://peñaflor.example/hook",
		"https://xn--peaflor-7za.example/hook",
		"https://8.8.8.8/hook",
		"https://[2606:4700::1111]:443/hook",
		"https://[::ffff:8.8.8.8]/hook",
		"https://0x.example.pe/hook",
		"https://tienda.example.pe/" + strings.Repeat("ñ", safehttp.MaxURLLength-len("https://tienda.example.pe/")),
	} {
		target, err := safehttp.CheckURL(raw, nil)
		require.NoError(t, err, raw)
		require.Equal(t, "https", target.Scheme)
	}
}

func TestCheckURLRefuses(t *testing.T) {
	t.Parallel()
	refused := map[safehttp.URLReason][]string{
		safehttp.URLTooLong:   {"https://tienda.example.pe/" + strings.Repeat("a", safehttp.MaxURLLength)},
		safehttp.URLMalformed: {"https://%zz", "https://tienda example.pe", "https://tienda.example.pe:puerto", "https://[::1", "https://tienda.example.pe\\@otra.example", "https://tienda.example.pe/\x00", "https://tienda.example.pe/\n", "https://tienda.example.pe/\xff", " https://tienda.example.pe"},
		safehttp.URLScheme:    {"", "tienda.example.pe", "//tienda.example.pe", "http://tienda.example.pe", "ftp://tienda.example.pe", "javascript:alert(1)", "file:///etc/passwd"},
		safehttp.URLUserInfo:  {"https://user@tienda.example.pe", "https://user:secret@tienda.example.pe", "https://@tienda.example.pe", "https://8.8.8.8@127.0.0.1"},
		safehttp.URLFragment:  {"https://tienda.example.pe/#hook", "https://tienda.example.pe#"},
		safehttp.URLHost: {"https://", "https:///hook", "https://:443/hook", "https:tienda.example.pe", "https://tienda..example.pe", "https://a<b.example", "https://-.-",
			"https://127.1", "https://2130706433", "https://0x7f000001", "https://0x7f.1", "https://0177.0.0.1", "https://0x", "https://127.0.0.0x1", "https://256.1.1.1",
			"https://" + strings.Repeat("a", 64) + ".example", "https://" + strings.Repeat("a.", 127) + "example"},
		safehttp.URLPort: {"https://tienda.example.pe:", "https://tienda.example.pe:0", "https://tienda.example.pe:65536", "https://tienda.example.pe:99999999999999999999"},
		safehttp.URLRefusedAddress: {"https://127.0.0.1", "https://127.0.0.1.", "https://10.0.0.1:8443/hook", "https://169.254.169.254/latest/meta-data", "https://[::1]", "https://[::]/",
			"https://[::ffff:10.0.0.1]/", "https://[fe80::1%25eth0]/", "https://[64:ff9b::7f00:1]", "https://localhost/hook", "https://LOCALHOST./hook", "https://app.localhost",
			"https://１２７.０.０.１", "https://127。0。0。1"},
	}
	for reason, urls := range refused {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			for _, raw := range urls {
				_, err := safehttp.CheckURL(raw, nil)
				var refusal *safehttp.URLError
				require.ErrorAs(t, err, &refusal, "%q", raw)
				require.Equal(t, reason, refusal.Reason, "%q", raw)
				require.NotEmpty(t, refusal.Message())
			}
		})
	}
}

func TestCheckURLExemptsAllowedNetworks(t *testing.T) {
	t.Parallel()
	allow := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for _, raw := range []string{"https://127.0.0.1:9443/hook", "https://localhost:9443/hook", "https://[::ffff:127.0.0.1]/hook"} {
		_, err := safehttp.CheckURL(raw, allow)
		require.NoError(t, err, raw)
	}
	_, err := safehttp.CheckURL("https://10.0.0.1/hook", allow)
	require.Error(t, err)
	_, err = safehttp.CheckURL("http://127.0.0.1/hook", allow)
	require.Error(t, err)
}

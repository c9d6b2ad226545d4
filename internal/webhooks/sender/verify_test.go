package sender_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	whole := time.Unix(signedAt.Unix(), 0)
	set := func(name, value string) func(http.Header) {
		return func(headers http.Header) { headers.Set(name, value) }
	}
	onlyContract := func(headers http.Header) {
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			headers.Del(name)
		}
	}
	untouched := func(http.Header) {}

	for name, test := range map[string]struct {
		change  func(http.Header)
		body    string
		now     time.Time
		secrets []string
		want    error
	}{
		"as sent":                     {untouched, goldenBody, whole, []string{currentSecret}, nil},
		"second secret tried":         {untouched, goldenBody, whole, []string{previousSecret, currentSecret}, nil},
		"contract's headers alone":    {onlyContract, goldenBody, whole, []string{currentSecret}, nil},
		"five minutes late":           {untouched, goldenBody, whole.Add(5 * time.Minute), []string{currentSecret}, nil},
		"five minutes early":          {untouched, goldenBody, whole.Add(-5 * time.Minute), []string{currentSecret}, nil},
		"older than five minutes":     {untouched, goldenBody, whole.Add(5*time.Minute + time.Second), []string{currentSecret}, sender.ErrTimestamp},
		"from the future":             {untouched, goldenBody, whole.Add(-5*time.Minute - time.Second), []string{currentSecret}, sender.ErrTimestamp},
		"no timestamp":                {set("X-Service-Timestamp", ""), goldenBody, whole, []string{currentSecret}, sender.ErrTimestamp},
		"timestamp not a number":      {set("X-Service-Timestamp", "ayer"), goldenBody, whole, []string{currentSecret}, sender.ErrTimestamp},
		"timestamp out of range":      {set("X-Service-Timestamp", "-9223372036854775808"), goldenBody, whole, []string{currentSecret}, sender.ErrTimestamp},
		"another timestamp":           {set("X-Service-Timestamp", "1767225601"), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"another body":                {untouched, goldenBody + "\n", whole, []string{currentSecret}, sender.ErrSignature},
		"another secret":              {untouched, goldenBody, whole, []string{previousSecret}, sender.ErrSignature},
		"no secret":                   {untouched, goldenBody, whole, nil, sender.ErrSignature},
		"no signature":                {set("X-Service-Signature", ""), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"upper case signature":        {set("X-Service-Signature", strings.ToUpper(goldenService)), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"standard signature wrong":    {set("webhook-signature", goldenStandardPrevious), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"standard id wrong":           {set("webhook-id", "msg_otro"), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"standard timestamp too old":  {set("webhook-timestamp", "1"), goldenBody, whole, []string{currentSecret}, sender.ErrTimestamp},
		"standard timestamp replaced": {set("webhook-timestamp", "1767225601"), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			headers := signed(t, signedAt, goldenBody, currentSecret)
			test.change(headers)
			require.ErrorIs(t, sender.Verify(headers, []byte(test.body), test.now, test.secrets...), test.want)
		})
	}
}

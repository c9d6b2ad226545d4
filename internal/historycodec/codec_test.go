package historycodec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"despacho/internal/historycodec"
)

const (
	secretA = "el primer secreto de treinta y dos letras"
	secretB = "el segundo secreto de treinta y dos letras"
)

func parseKeys(t testing.TB, encryptWith string, entries ...string) *historycodec.Keys {
	t.Helper()
	keys, err := historycodec.ParseKeys(entries, encryptWith)
	require.NoError(t, err)
	return keys
}

func payloadsOf(t testing.TB, values ...any) []*common.Payload {
	t.Helper()
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(values...)
	require.NoError(t, err)
	return payloads.Payloads
}

func requireEqual(t *testing.T, want, got []*common.Payload) {
	t.Helper()
	require.True(t, proto.Equal(&common.Payloads{Payloads: want}, &common.Payloads{Payloads: got}), "%v is not %v", got, want)
}

func TestCodec_encryptsAndDecrypts(t *testing.T) {
	t.Parallel()
	codec := historycodec.New(parseKeys(t, "a", "a:"+secretA), "").WithOwner("order-1")
	plain := payloadsOf(t, map[string]string{"reason": "se mudó"}, nil, []byte("se mudó"))
	encoded, err := codec.Encode(plain)
	require.NoError(t, err)
	again, err := codec.Encode(plain)
	require.NoError(t, err)

	for i, payload := range encoded {
		require.NotContains(t, payload.String(), "mud")
		require.NotEqual(t, payload.Data, again[i].Data, "the same content is never encrypted to the same bytes")
		require.Equal(t, "binary/encrypted", string(payload.Metadata["encoding"]))
		require.Equal(t, "a", string(payload.Metadata["encryption-key-id"]))
		require.Equal(t, "order-1", historycodec.Owner(payload))
	}
	decoded, err := historycodec.New(parseKeys(t, "", "a:"+secretA), "").Decode(encoded)
	require.NoError(t, err)
	requireEqual(t, plain, decoded)
}

// A process without keys, or with keys that only decrypt, writes payloads as they are; every
// process reads them.
func TestCodec_leavesPlainPayloads(t *testing.T) {
	t.Parallel()
	plain := payloadsOf(t, "hola")
	for name, keys := range map[string]*historycodec.Keys{
		"no key": parseKeys(t, ""), "a key that only decrypts": parseKeys(t, "", "a:"+secretA),
	} {
		encoded, err := historycodec.New(keys, "").Encode(plain)
		require.NoError(t, err, name)
		requireEqual(t, plain, encoded)
	}
	decoded, err := historycodec.New(parseKeys(t, "a", "a:"+secretA), "").Decode(plain)
	require.NoError(t, err)
	requireEqual(t, plain, decoded)

	encoded, err := historycodec.New(parseKeys(t, "a", "a:"+secretA), "the-schedule").WithOwner("the-schedule").Encode(plain)
	require.NoError(t, err)
	requireEqual(t, plain, encoded)
}

func TestCodec_rotation(t *testing.T) {
	t.Parallel()
	before := historycodec.New(parseKeys(t, "a", "a:"+secretA), "")
	during := historycodec.New(parseKeys(t, "b", "a:"+secretA, "b:"+secretB), "")
	after := historycodec.New(parseKeys(t, "b", "b:"+secretB), "")
	plain := payloadsOf(t, "hola")
	old, err := before.Encode(plain)
	require.NoError(t, err)
	recent, err := during.Encode(plain)
	require.NoError(t, err)

	for _, payloads := range [][]*common.Payload{old, recent} {
		decoded, err := during.Decode(payloads)
		require.NoError(t, err)
		requireEqual(t, plain, decoded)
	}
	decoded, err := after.Decode(recent)
	require.NoError(t, err)
	requireEqual(t, plain, decoded)
	_, err = after.Decode(old)
	require.ErrorContains(t, err, `the key "a", which is not in HISTORY_KEYS`)
}

// Key id and owner are authenticated: a payload cannot be made to name another.
func TestCodec_refusesWhatWasChanged(t *testing.T) {
	t.Parallel()
	codec := historycodec.New(parseKeys(t, "a", "a:"+secretA, "b:"+secretA), "")
	encoded, err := codec.WithOwner("order-1").Encode(payloadsOf(t, "hola"))
	require.NoError(t, err)
	for name, change := range map[string]func(*common.Payload){
		"another owner": func(p *common.Payload) { p.Metadata["encryption-owner"] = []byte("order-2") },
		"no owner":      func(p *common.Payload) { delete(p.Metadata, "encryption-owner") },
		"another key":   func(p *common.Payload) { p.Metadata["encryption-key-id"] = []byte("b") },
		"other content": func(p *common.Payload) { p.Data[len(p.Data)-1] ^= 1 },
		"no content":    func(p *common.Payload) { p.Data = nil },
	} {
		changed := proto.Clone(encoded[0]).(*common.Payload)
		change(changed)
		_, err := codec.Decode([]*common.Payload{changed})
		var unreadable *historycodec.UnreadableError
		require.ErrorAs(t, err, &unreadable, name)
		require.PanicsWithError(t, err.Error(), func() { _, _ = codec.ForTasks().Decode([]*common.Payload{changed}) }, name)
	}
}

func TestParseKeys_namesWhatIsWrongAndNoSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entries     []string
		encryptWith string
		want        string
	}{
		{[]string{secretA}, "", "entry 1 must be id:secret"},
		{[]string{"a:" + secretA, ":" + secretB}, "", "entry 2 must be id:secret"},
		{[]string{"a b:" + secretA}, "", "entry 1 must be id:secret"},
		{[]string{"a:" + secretA[:31]}, "", `the secret of "a" must have at least 32 characters`},
		{[]string{"a:" + secretA, "a:" + secretB}, "a", `"a" is there twice`},
		{[]string{"a:" + secretA}, "b", `no entry has the id "b"`},
		{nil, "a", `no entry has the id "a"`},
	} {
		_, err := historycodec.ParseKeys(c.entries, c.encryptWith)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "secreto")
	}
}

type refusal struct{ Reason string }

// Errors keep their type and details; their messages and stack traces are encrypted, and name their
// owner.
func TestApply_encryptsFailures(t *testing.T) {
	t.Parallel()
	var options client.Options
	historycodec.New(parseKeys(t, "a", "a:"+secretA), "").Apply(&options)
	failures := converter.WithFailureConverterSerializationContext(options.FailureConverter, converter.WorkflowSerializationContext{WorkflowID: "order-1"})
	failure := failures.ErrorToFailure(temporal.NewNonRetryableApplicationError("se mudó", "MoveRefused", errors.New("a Arequipa"), refusal{"se mudó"}))

	require.NotContains(t, failure.String(), "mud")
	require.NotContains(t, failure.String(), "Arequipa")
	require.Equal(t, "order-1", historycodec.Owner(failure.EncodedAttributes))
	require.Equal(t, "order-1", historycodec.Owner(failure.Cause.EncodedAttributes))
	require.Equal(t, "order-1", historycodec.Owner(failure.GetApplicationFailureInfo().Details.Payloads[0]))

	var application *temporal.ApplicationError
	require.ErrorAs(t, options.FailureConverter.FailureToError(failure), &application)
	require.Equal(t, "MoveRefused", application.Type())
	require.Contains(t, application.Error(), "se mudó")
	var details refusal
	require.NoError(t, application.Details(&details))
	require.Equal(t, "se mudó", details.Reason)
}

// BenchmarkCodec encrypts and decrypts one payload of the size of a move.
func BenchmarkCodec(b *testing.B) {
	codec := historycodec.New(parseKeys(b, "a", "a:"+secretA), "").WithOwner("order-c5c7d7f0-5a2f-4a37-9f0b-5d6f3a1e1a11")
	plain := payloadsOf(b, map[string]string{"move": "cancel", "reason": strings.Repeat("a", 255), "note": strings.Repeat("b", 500)})
	for b.Loop() {
		encoded, err := codec.Encode(plain)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := codec.Decode(encoded); err != nil {
			b.Fatal(err)
		}
	}
}

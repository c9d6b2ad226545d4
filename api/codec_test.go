package api_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"despacho/internal/config"
	"despacho/internal/historycodec"
	"despacho/test/apptest"
	"despacho/test/closedport"
	"despacho/test/testenv"
)

const (
	historyKey = "a:un secreto de treinta y dos letras o más"
	uiOrigin   = "https://temporal.despacho.example"
)

// codecDesk is a service that encrypts histories, and its codec.
type codecDesk struct {
	*apptest.Service
	codec *historycodec.Codec
}

func eachWithCodec(t *testing.T, test func(t *testing.T, d codecDesk)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		keys, err := historycodec.ParseKeys([]string{historyKey}, "a")
		require.NoError(t, err)
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, TemporalAddress: closedport.Address(t), Configure: func(c *config.Config) {
			c.HistoryKeys, c.HistoryKeyID, c.TemporalUIURL = []string{historyKey}, "a", uiOrigin+"/"
		}})
		test(t, codecDesk{s, historycodec.New(keys, "")})
	})
}

// encrypted is a payload of a workflow's history.
func (d codecDesk) encrypted(t *testing.T, owner, content string) *common.Payload {
	t.Helper()
	payload, err := converter.GetDefaultDataConverter().ToPayload(content)
	require.NoError(t, err)
	encoded, err := d.codec.WithOwner(owner).Encode([]*common.Payload{payload})
	require.NoError(t, err)
	return encoded[0]
}

// send posts payloads as the Temporal UI and CLI do.
func (d codecDesk) send(t *testing.T, path, token string, payloads ...*common.Payload) (*apptest.Answer, []*common.Payload) {
	t.Helper()
	raw, err := protojson.Marshal(&common.Payloads{Payloads: payloads})
	require.NoError(t, err)
	answer := d.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/codec/" + path, Token: token, Raw: raw, Header: map[string]string{"X-Namespace": "default"}})
	var response common.Payloads
	if answer.Status == http.StatusOK {
		require.NoError(t, protojson.Unmarshal([]byte(answer.Text), &response))
		require.Len(t, response.Payloads, len(payloads))
		require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	}
	return answer, response.Payloads
}

// The operator's people read what is their operator's; the rest stays encrypted, also if it is made
// to look like theirs.
func TestCodec_decodesWhatIsTheOperators(t *testing.T) {
	eachWithCodec(t, func(t *testing.T, d codecDesk) {
		tenant, other := d.NewTenant(t), d.NewTenant(t)
		staff := tenant.SignIn(t, nil)
		own, foreign := d.CreateOrder(t, tenant.KeyA), d.CreateOrder(t, other.Key)

		plain, err := converter.GetDefaultDataConverter().ToPayload("sin cifrar")
		require.NoError(t, err)
		mine := []*common.Payload{
			d.encrypted(t, "order-"+own, "propio"), d.encrypted(t, "simulation-"+own, "propio"),
		}
		others := []*common.Payload{
			plain, d.encrypted(t, "order-"+foreign, "ajeno"), d.encrypted(t, "simulation-"+foreign, "ajeno"), d.encrypted(t, "order-"+uuid.NewString(), "ajeno"),
			d.encrypted(t, "operator-"+other.Operator.ID.String(), "ajeno"), d.encrypted(t, "despacho-reconcile-1", "ajeno"), d.encrypted(t, "", "ajeno"),
		}
		answer, decoded := d.send(t, "decode", staff, append(mine, others...)...)
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		for i, payload := range decoded[:len(mine)] {
			require.Equal(t, `"propio"`, string(payload.Data), "%d", i)
		}
		for i, payload := range decoded[len(mine):] {
			require.True(t, proto.Equal(others[i], payload), "%d: %v", i, payload)
		}

		stolen := d.encrypted(t, "order-"+foreign, "ajeno")
		stolen.Metadata["encryption-owner"] = []byte("order-" + own)
		refused, _ := d.send(t, "decode", staff, stolen)
		requireRefused(t, refused, http.StatusUnprocessableEntity, "history_unreadable")
	})
}

func TestCodec_encodesForTheOperator(t *testing.T) {
	eachWithCodec(t, func(t *testing.T, d codecDesk) {
		tenant, other := d.NewTenant(t), d.NewTenant(t)
		staff := tenant.SignIn(t, nil)
		plain, err := converter.GetDefaultDataConverter().ToPayload("se mudó")
		require.NoError(t, err)
		answer, encoded := d.send(t, "encode", staff, plain)
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		require.True(t, historycodec.IsEncrypted(encoded[0]))
		inWorker, err := d.codec.Decode(encoded)
		require.NoError(t, err)
		require.True(t, proto.Equal(plain, inWorker[0]))
		_, decoded := d.send(t, "decode", staff, encoded...)
		require.True(t, proto.Equal(plain, decoded[0]))
		_, hidden := d.send(t, "decode", other.SignIn(t, nil), encoded...)
		require.True(t, proto.Equal(encoded[0], hidden[0]))
	})
}

func TestCodec_refuses(t *testing.T) {
	eachWithCodec(t, func(t *testing.T, d codecDesk) {
		tenant := d.NewTenant(t)
		staff := tenant.SignIn(t, nil)
		own := d.CreateOrder(t, tenant.KeyA)
		payload := d.encrypted(t, "order-"+own, "propio")
		for _, path := range []string{"decode", "encode"} {
			for _, c := range []struct {
				token  string
				status int
				code   string
			}{
				{"", http.StatusUnauthorized, "no_session"},
				{tenant.Key, http.StatusUnauthorized, "no_session"},
				{tenant.SignIn(t, &tenant.StoreA), http.StatusForbidden, "role_not_allowed"},
			} {
				answer, _ := d.send(t, path, c.token, payload)
				requireRefused(t, answer, c.status, c.code)
			}
			post := func(token string, raw []byte) *apptest.Answer {
				return d.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/codec/" + path, Token: token, Raw: raw})
			}
			requireRefused(t, post(staff, []byte(`{"payloads":[`)), http.StatusBadRequest, "invalid_json")
			requireRefused(t, post(staff, []byte(`[]`)), http.StatusBadRequest, "invalid_json")
			requireRefused(t, post(staff, bytes.Repeat([]byte(" "), 8<<20+1)), http.StatusRequestEntityTooLarge, "body_too_large")
			requireRefused(t, post("", []byte(`{"payloads":[`)), http.StatusUnauthorized, "no_session")
		}
		var many []*common.Payload
		for range 1001 {
			many = append(many, &common.Payload{Metadata: map[string][]byte{
				"encoding": []byte("binary/encrypted"), "encryption-owner": []byte("order-" + uuid.NewString()),
			}})
		}
		answer, _ := d.send(t, "decode", staff, many...)
		requireRefused(t, answer, http.StatusBadRequest, "too_many_workflows")
		removed := proto.Clone(payload).(*common.Payload)
		removed.Metadata["encryption-key-id"] = []byte("vieja")
		answer, _ = d.send(t, "decode", staff, removed)
		requireRefused(t, answer, http.StatusUnprocessableEntity, "history_unreadable")
		require.Contains(t, answer.Error, "vieja")
	})
}

// The Temporal UI calls the endpoint from its own origin with the session's cookie. No other origin
// may.
func TestCodec_allowsTheTemporalUIAlone(t *testing.T) {
	eachWithCodec(t, func(t *testing.T, d codecDesk) {
		tenant := d.NewTenant(t)
		cookie := "despacho_session=" + tenant.SignIn(t, nil)
		raw, err := protojson.Marshal(&common.Payloads{Payloads: []*common.Payload{d.encrypted(t, "order-"+d.CreateOrder(t, tenant.Key), "propio")}})
		require.NoError(t, err)
		call := func(method, origin, site string) *apptest.Answer {
			request := apptest.Request{Method: method, Path: "/panel/codec/decode", Header: map[string]string{"Origin": origin, "Sec-Fetch-Site": site}}
			if method == http.MethodOptions {
				request.Header["Access-Control-Request-Method"], request.Header["Access-Control-Request-Headers"] = "POST", "content-type,x-namespace"
			} else {
				request.Raw, request.Header["Cookie"] = raw, cookie
			}
			return d.Do(t, request)
		}
		preflight := call(http.MethodOptions, uiOrigin, "same-site")
		require.Equal(t, http.StatusNoContent, preflight.Status)
		require.Equal(t, "POST", preflight.Header.Get("Access-Control-Allow-Methods"))
		for _, header := range []string{"Content-Type", "X-Namespace", "Authorization"} {
			require.Contains(t, preflight.Header.Get("Access-Control-Allow-Headers"), header)
		}
		decoded := call(http.MethodPost, uiOrigin, "same-site")
		require.Equal(t, http.StatusOK, decoded.Status, decoded.Text)
		for _, answer := range []*apptest.Answer{preflight, decoded} {
			require.Equal(t, uiOrigin, answer.Header.Get("Access-Control-Allow-Origin"))
			require.Equal(t, "true", answer.Header.Get("Access-Control-Allow-Credentials"))
			require.Equal(t, "Origin", answer.Header.Get("Vary"))
		}
		for _, origin := range []string{"https://malo.example", "https://otra.despacho.example", strings.Replace(uiOrigin, "https", "http", 1), uiOrigin + ".malo.example", "null"} {
			for _, method := range []string{http.MethodOptions, http.MethodPost} {
				answer := call(method, origin, "same-site")
				requireRefused(t, answer, http.StatusForbidden, "cross_site_request")
				require.Empty(t, answer.Header.Get("Access-Control-Allow-Origin"), origin)
			}
		}
	})
}

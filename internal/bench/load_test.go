package bench

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAlternate_takesTurnsAndThrowsTheFirstAway(t *testing.T) {
	t.Parallel()
	var order strings.Builder
	contender := func(name string) func(context.Context) (float64, error) {
		return func(context.Context) (float64, error) {
			order.WriteString(name)
			return float64(order.Len()), nil
		}
	}
	rounds, err := alternate(t.Context(), 2, contender("A"), contender("B"))
	require.NoError(t, err)
	require.Equal(t, "ABABAB", order.String())
	require.Equal(t, [][]float64{{3, 5}, {4, 6}}, rounds)
	broken := errors.New("refused")
	_, err = alternate(t.Context(), 2, contender("A"), func(context.Context) (float64, error) { return 0, broken })
	require.ErrorIs(t, err, broken)
}

func TestThroughput_endsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	rate, err := throughput(t.Context(), 2, 20*time.Millisecond, func(context.Context, int) error { return nil })
	require.NoError(t, err)
	require.Positive(t, rate)
	_, err = throughput(t.Context(), 2, time.Hour, func(context.Context, int) error { return errors.New("429") })
	require.ErrorContains(t, err, "429")
}

func TestTypical_isTheMedianOfWhatCallsSay(t *testing.T) {
	t.Parallel()
	call := 0
	value, err := typical(t.Context(), 3, func(context.Context) (time.Duration, error) {
		call++
		return time.Duration(call*call) * time.Millisecond, nil
	})
	require.NoError(t, err)
	require.InDelta(t, 4, value, 1e-9)
}

// The harness's own client says what a client of the API says, and survives a server that closes its connections.
func TestConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "/v1/orders/1")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("X-API-Key"), r.Header.Get("Authorization"),
			r.Header.Get("X-Forwarded-For"), r.Header.Get("Idempotency-Key"), r.Header.Get("Content-Type"), string(body)}, "|"))
	}))
	defer server.Close()
	client := newConnection(strings.TrimPrefix(server.URL, "http://"))
	defer client.close()
	r := request{method: http.MethodPost, path: "/v1/orders", key: "k", token: "t", client: "198.51.100.1", idempotencyKey: "i", body: []byte("{}")}
	for range 2 {
		got, err := client.expect(t.Context(), http.StatusCreated, r)
		require.NoError(t, err)
		require.Equal(t, "POST|/v1/orders|k|Bearer t|198.51.100.1|i|application/json|{}", string(got.body))
		require.Equal(t, "/v1/orders/1", got.location)
		server.CloseClientConnections()
	}
	_, err := client.expect(t.Context(), http.StatusOK, request{method: http.MethodGet, path: "/"})
	require.ErrorContains(t, err, "GET / answered 201, not 200")
}

func TestParseRSS(t *testing.T) {
	t.Parallel()
	memory, err := parseRSS(bufio.NewScanner(strings.NewReader("Name:\tdespacho\nVmHWM:\t  99999 kB\nVmRSS:\t   61440 kB\n")))
	require.NoError(t, err)
	require.InDelta(t, 60, memory, 1e-9)
	_, err = parseRSS(bufio.NewScanner(strings.NewReader("Name:\tdespacho\n")))
	require.Error(t, err)
}

func TestLookout_seesATextThatComesInPieces(t *testing.T) {
	t.Parallel()
	l := &lookout{text: []byte("worker started"), seen: make(chan struct{})}
	for _, piece := range []string{strings.Repeat("noise ", 100), "wor", "ker sta", "rted and more", "worker started"} {
		_, err := l.Write([]byte(piece))
		require.NoError(t, err)
	}
	select {
	case <-l.seen:
	default:
		t.Fatal("not seen")
	}
}

func TestStudies_areChosenByProfileAndRow(t *testing.T) {
	t.Parallel()
	names := func(options Options, profile string) (list []string) {
		for _, st := range studiesFor(options, full, profile) {
			list = append(list, st.name)
		}
		return list
	}
	require.Len(t, names(Options{}, profileServer), len(studies))
	require.Equal(t, []string{"a whole life", "moves", "webhook arrival", "creating orders"}, names(Options{}, profileDev), "what depends on Temporal")
	require.Len(t, names(Options{Profile: "all"}, profileDev), len(studies))
	require.Empty(t, names(Options{Profile: profileServer}, profileDev))
	require.Equal(t, []string{"reading orders"}, names(Options{Only: regexp.MustCompile("^GET")}, profileServer))
}

func TestRun_refusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]Options{
		"a profile that does not exist":   {Profile: "cloud"},
		"a quick run for the document":    {Document: "docs/benchmarks.md", Quick: true},
		"a part of the run for the same":  {Document: "docs/benchmarks.md", Only: regexp.MustCompile("GET")},
		"the dev server alone for it too": {Document: "docs/benchmarks.md", Profile: profileDev},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.Out = io.Discard
			require.Error(t, Run(t.Context(), options))
		})
	}
}

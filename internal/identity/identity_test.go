package identity

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/closedport"
	"despacho/test/poll"
)

func TestOnlyEightDigitsAreAskedFor(t *testing.T) {
	t.Parallel()
	fake := serve(t, knowsRosa)
	verifier := verifierOf(t, Options{}, named("decolecta", fake))
	for _, text := range []string{
		"", "1", "4021786", "402178655", "4021786a", "40 21786", " 40217865", "40217865 ", "-4021786", "4021786.",
		"４０２１７８６５", "٤٠٢١٧٨٦٥", "AB123456", "40217865&x=1", "\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		require.Equal(t, Answer{Outcome: Invalid}, verify(t, verifier, text), "%q", text)
	}
	require.Zero(t, fake.asked.Load())
	require.Equal(t, Found, verify(t, verifier, "00000001").Outcome)
}

func TestProvidersAreTriedInOrder(t *testing.T) {
	t.Parallel()
	saysInvalid := respondsWith(http.StatusUnprocessableEntity, `{"message":"dni no valido"}`)
	cases := map[string]struct {
		providers []http.HandlerFunc
		want      Outcome
		by        int // which of them the answer is of
		asked     int // how many of them were asked
	}{
		"the first that finds ends it":          {[]http.HandlerFunc{knowsRosa, knowsNobody}, Found, 0, 1},
		"the first that does not find ends it":  {[]http.HandlerFunc{knowsNobody, knowsRosa}, NotFound, 0, 1},
		"the first that says invalid ends it":   {[]http.HandlerFunc{saysInvalid, knowsRosa}, Invalid, 0, 1},
		"a dead one falls through":              {[]http.HandlerFunc{isDown, knowsRosa, knowsNobody}, Found, 1, 2},
		"one without credit falls through":      {[]http.HandlerFunc{wantsMoney, knowsNobody, knowsRosa}, NotFound, 1, 2},
		"both fall through":                     {[]http.HandlerFunc{isDown, wantsMoney, knowsRosa}, Found, 2, 3},
		"all dead":                              {[]http.HandlerFunc{isDown, isDown}, Unavailable, 0, 2},
		"all without credit":                    {[]http.HandlerFunc{wantsMoney, wantsMoney}, QuotaOrCredentials, 1, 2},
		"asking again may help: dead, no money": {[]http.HandlerFunc{isDown, wantsMoney}, Unavailable, 0, 2},
		"asking again may help: no money, dead": {[]http.HandlerFunc{wantsMoney, isDown}, Unavailable, 1, 2},
	}
	names := []string{"decolecta", "apisnet", DevProvider}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var configs []Config
			var fakes []*fakeProvider
			for i, handler := range c.providers {
				if names[i] == "apisnet" && c.want == Found && i == c.by {
					handler = respondsWith(http.StatusOK, `{"nombres":"ROSA MARIA","apellidoPaterno":"DIAZ"}`)
				}
				fake := serve(t, handler)
				fakes = append(fakes, fake)
				configs = append(configs, named(names[i], fake))
			}
			answer := verify(t, verifierOf(t, Options{}, configs...), someDNI)
			require.Equal(t, c.want, answer.Outcome)
			require.Equal(t, names[c.by], answer.Provider)
			require.Equal(t, c.want == Found, answer.Name != "")
			for i, fake := range fakes {
				require.Equal(t, i < c.asked, fake.asked.Load() == 1, "provider %d", i)
			}
		})
	}
}

func TestEachProviderHasItsOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "silent.test" {
				return noResponse(r)
			}
			time.Sleep(DefaultTimeout - time.Millisecond)
			return answer(knowsRosa, r)
		})}
		verifier := verifierOf(t, Options{Client: client, Timeout: DefaultTimeout},
			Config{Provider: "migo", URL: "https://silent.test", Token: someToken},
			Config{Provider: "decolecta", URL: "https://answering.test", Token: someToken})
		require.Equal(t, Found, verify(t, verifier, someDNI).Outcome)
	})
}

func TestAnEndedContextEndsTheAsking(t *testing.T) {
	t.Parallel()
	t.Run("before it began", func(t *testing.T) {
		t.Parallel()
		fake := serve(t, knowsRosa)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		answer, err := verifierOf(t, Options{}, named("decolecta", fake)).Verify(ctx, someDNI)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, Answer{Outcome: Unavailable}, answer)
		require.Zero(t, fake.asked.Load())
	})
	for name, want := range map[string]error{"cancelled": context.Canceled, "out of time": context.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				asked := map[string]int{}
				client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
					asked[r.URL.Host]++
					if errors.Is(want, context.Canceled) {
						cancel()
					}
					return noResponse(r)
				})}
				verifier := verifierOf(t, Options{Client: client},
					Config{Provider: "decolecta", URL: "https://first.test", Token: someToken},
					Config{Provider: "decolecta", URL: "https://second.test", Token: someToken})
				answer, err := verifier.Verify(ctx, someDNI)
				require.ErrorIs(t, err, want)
				require.Equal(t, Answer{Outcome: Unavailable}, answer)
				require.Equal(t, map[string]int{"first.test": 1}, asked, "nobody waits for the second provider's answer")
			})
		})
	}
}

// Providers and net/http like to quote what they were asked; whatever goes wrong, the DNI and the
// token stay here.
func TestNoDNIInAnyLog(t *testing.T) {
	t.Parallel()
	quoting := `{"success":false,"message":"Token ` + someToken + `: error interno con el DNI ` + someDNI + `"}`
	for how, handler := range map[string]http.HandlerFunc{
		"a refusal that quotes":         respondsWith(http.StatusUnauthorized, quoting),
		"a failure that quotes":         respondsWith(http.StatusInternalServerError, quoting),
		"a success that is none":        respondsWith(http.StatusOK, quoting),
		"a body that is not JSON":       respondsWith(http.StatusOK, someDNI+someToken),
		"another status":                respondsWith(http.StatusTeapot, quoting),
		"a redirect that quotes":        redirectTo("/" + someDNI + "?" + someToken),
		"a redirect that cannot be had": redirectTo("http://[" + someDNI + someToken),
		"a head that quotes":            hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, "HTTP/1.1 "+someDNI+" "+someToken+"\r\n\r\n") }),
		"an answer that is not HTTP":    hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, someDNI+" "+someToken+"\r\n") }),
		"a connection that breaks":      hijacked(t, func(io.Writer) {}),
		"silence":                       hasNoResponse,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for provider := range providerSpecs {
				var log transcript
				verifier := verifierOf(t, Options{Timeout: 100 * time.Millisecond, Logger: log.logger()}, named(provider, serve(t, handler)))
				require.False(t, verify(t, verifier, someDNI).Outcome.isConclusive())
				require.Contains(t, log.String(), "provider="+provider)
				require.NotContains(t, log.String(), someDNI)
				require.NotContains(t, log.String(), someToken)
			}
		})
	}
	t.Run("nobody at the address", func(t *testing.T) {
		t.Parallel()
		var log transcript
		config := Config{Provider: "decolecta", URL: "http://" + closedport.Address(t) + "/dni?key=" + someToken}
		verify(t, verifierOf(t, Options{Logger: log.logger()}, config), someDNI)
		require.Contains(t, log.String(), "refused")
		require.NotContains(t, log.String(), someDNI)
		require.NotContains(t, log.String(), someToken, "an address may carry a secret of its own")
	})
}

func redirectTo(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	}
}

func TestNoDNIInAnyError(t *testing.T) {
	t.Parallel()
	for provider := range providerSpecs {
		verifier := verifierOf(t, Options{}, named(provider, serve(t, hasNoResponse)))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := verifier.Verify(ctx, someDNI)
		cancel()
		require.Error(t, err)
		require.NotContains(t, err.Error(), someDNI)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		elsewhere := serve(t, knowsRosa)
		fake := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		for provider := range providerSpecs {
			require.Equal(t, Unavailable, verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI).Outcome)
		}
		require.Zero(t, elsewhere.asked.Load())
	}
}

func TestHugeAnswers(t *testing.T) {
	t.Parallel()
	name := `{"full_name":"ROSA DIAZ"}`
	largest := serve(t, respondsWith(http.StatusOK, name+strings.Repeat(" ", maxAnswerRead-len(name))))
	require.Equal(t, Found, verify(t, verifierOf(t, Options{}, named("decolecta", largest)), someDNI).Outcome)

	hungUp := make(chan struct{})
	endless := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(hungUp)
		_, err := io.WriteString(w, name)
		for err == nil {
			_, err = io.WriteString(w, strings.Repeat(" ", 4<<10))
		}
	})
	meter := &meteredTransport{}
	verifier := verifierOf(t, Options{Client: &http.Client{Transport: meter}}, named("decolecta", endless))
	require.Equal(t, Unavailable, verify(t, verifier, someDNI).Outcome)
	require.EqualValues(t, maxAnswerRead+1, meter.read.Load())
	select {
	case <-hungUp:
	case <-time.After(poll.Deadline):
		t.Fatal("the answer is still being read")
	}
}

// meteredTransport counts the bytes of answers that were read.
type meteredTransport struct {
	read atomic.Int64
}

func (m *meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = &meteredBody{response.Body, &m.read}
	}
	return response, err
}

type meteredBody struct {
	io.ReadCloser
	read *atomic.Int64
}

func (b *meteredBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.read.Add(int64(n))
	return n, err
}

// hijacked answers with what is written straight to the connection.
func hijacked(t *testing.T, answer func(connection io.Writer)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = connection.Close() }()
		answer(connection)
	}
}

func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	for how, handler := range map[string]http.HandlerFunc{
		"closed at once":     hijacked(t, func(io.Writer) {}),
		"closed in the head": hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConte") }),
		"closed in the body": hijacked(t, func(c io.Writer) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"+`{"full_name":"ROSA DIAZ"}`)
		}),
		"not HTTP":     hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n") }),
		"not the size": hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n") }),
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for provider := range providerSpecs {
				fake := serve(t, handler)
				require.Equal(t, Unavailable, verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI).Outcome)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		closed := Config{Provider: "migo", URL: "http://" + closedport.Address(t), Token: someToken}
		require.Equal(t, Unavailable, verify(t, verifierOf(t, Options{}, closed), someDNI).Outcome)
	})
}

func TestSlowResponsesTimeOut(t *testing.T) {
	t.Parallel()
	drip := func(write func(string) error) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if write(" ") != nil {
				return
			}
		}
	}
	for how, handler := range map[string]http.HandlerFunc{
		"silence": hasNoResponse,
		"a head that drips": hijacked(t, func(c io.Writer) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Drip: ")
			drip(func(s string) error { _, err := io.WriteString(c, s); return err })
		}),
		"a body that drips": func(w http.ResponseWriter, _ *http.Request) {
			drip(func(s string) error {
				if _, err := io.WriteString(w, s); err != nil {
					return err
				}
				return http.NewResponseController(w).Flush()
			})
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for _, provider := range []string{"decolecta", "migo"} { // one asked by GET, one by POST
				fake := serve(t, handler)
				var log transcript
				options := Options{Timeout: 100 * time.Millisecond, Logger: log.logger()}
				require.Equal(t, Unavailable, verify(t, verifierOf(t, options, named(provider, fake)), someDNI).Outcome)
				require.Contains(t, log.String(), "deadline exceeded")
			}
		})
	}
}

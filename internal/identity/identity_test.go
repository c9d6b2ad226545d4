package identity

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
)

func TestOnlyEightDigitsAreAskedFor(t *testing.T) {
	t.Parallel()
	fake := serve(t, knowsRosa)
	cache := newFakeCache(clock.System())
	verifier := verifierOf(t, Options{Cache: cache, CacheSecret: "secret"}, named("decolecta", fake))
	for _, text := range []string{
		"", "1", "4021786", "402178655", "4021786a", "40 21786", " 40217865", "40217865 ", "-4021786", "4021786.",
		"４０２１７８６５", "٤٠٢١٧٨٦٥", "AB123456", "40217865&x=1", "\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		require.Equal(t, Answer{Outcome: Invalid}, verify(t, verifier, text), "%q", text)
	}
	require.Zero(t, fake.asked.Load())
	require.Empty(t, cache.answers)
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

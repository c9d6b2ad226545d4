package identity

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
)

func TestCache_answersAreKept(t *testing.T) {
	t.Parallel()
	for outcome, c := range map[Outcome]struct {
		handler http.HandlerFunc
		lasts   time.Duration
	}{
		Found:    {knowsRosa, 30 * 24 * time.Hour},
		NotFound: {knowsNobody, 24 * time.Hour},
	} {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()
			now := clock.NewManual(someDay)
			fake := serve(t, c.handler)
			verifier := verifierOf(t, Options{Clock: now, Cache: newFakeCache(now), CacheSecret: "secret"}, named("decolecta", fake))
			first := verify(t, verifier, someDNI)
			require.Equal(t, outcome, first.Outcome)
			now.Advance(c.lasts - time.Microsecond)
			require.Equal(t, first, verify(t, verifier, someDNI))
			require.EqualValues(t, 1, fake.asked.Load())
			verify(t, verifier, "40217866")
			require.EqualValues(t, 2, fake.asked.Load(), "another DNI is another question")
			now.Advance(time.Microsecond)
			require.Equal(t, first, verify(t, verifier, someDNI))
			require.EqualValues(t, 3, fake.asked.Load())
		})
	}
}

func TestCache_inconclusiveOutcomesAreNotKept(t *testing.T) {
	t.Parallel()
	for outcome, handler := range map[Outcome]http.HandlerFunc{
		Unavailable:        isDown,
		QuotaOrCredentials: wantsMoney,
		Invalid:            respondsWith(http.StatusUnprocessableEntity, ""),
	} {
		fake := serve(t, handler)
		cache := newFakeCache(clock.System())
		verifier := verifierOf(t, Options{Cache: cache, CacheSecret: "secret"}, named("decolecta", fake))
		for range 2 {
			require.Equal(t, outcome, verify(t, verifier, someDNI).Outcome)
		}
		require.EqualValues(t, 2, fake.asked.Load())
		require.Empty(t, cache.answers)
	}
}

func TestCache_keptAnswersNeedNoProvider(t *testing.T) {
	t.Parallel()
	var state changing
	state.to(knowsRosa)
	fake := serve(t, state.handle)
	cache := newFakeCache(clock.System())
	options := Options{Cache: cache, CacheSecret: "secret"}
	verify(t, verifierOf(t, options, named("decolecta", fake)), someDNI)
	state.to(isDown)
	answer := verify(t, verifierOf(t, options, named("migo", fake)), someDNI)
	require.Equal(t, Answer{Outcome: Found, Name: "DIAZ QUISPE ROSA MARIA", Provider: "decolecta"}, answer)
}

// A DNI that is forgotten is asked about again; others are not. Without a cache nothing has to be
// forgotten.
func TestCache_forget(t *testing.T) {
	t.Parallel()
	fake := serve(t, knowsRosa)
	cache := newFakeCache(clock.System())
	verifier := verifierOf(t, Options{Cache: cache, CacheSecret: "secret"}, named("decolecta", fake))
	for _, dni := range []string{someDNI, "40217866"} {
		verify(t, verifier, dni)
	}
	require.NoError(t, verifier.Forget(t.Context(), someDNI))
	require.Len(t, cache.answers, 1)
	verify(t, verifier, "40217866")
	require.EqualValues(t, 2, fake.asked.Load())
	cache.broken = true
	require.ErrorIs(t, verifier.Forget(t.Context(), someDNI), errCacheDown)
	require.NoError(t, verifierOf(t, Options{}, named("decolecta", fake)).Forget(t.Context(), someDNI))
}

func TestCache_keysDoNotContainTheDNI(t *testing.T) {
	t.Parallel()
	keys := make(map[string]bool)
	for _, secret := range []string{"one secret", "another secret"} {
		cache := newFakeCache(clock.System())
		verifier := verifierOf(t, Options{Cache: cache, CacheSecret: secret}, named("decolecta", serve(t, knowsRosa)))
		for _, dni := range []string{someDNI, "40217866"} {
			verify(t, verifier, dni)
		}
		for key := range cache.answers {
			require.Regexp(t, "^[0-9a-f]{64}$", key)
			require.NotContains(t, key, someDNI)
			keys[key] = true
		}
	}
	require.Len(t, keys, 4, "each secret has its own key for each DNI")

	_, err := New([]Config{{Provider: "decolecta", Token: someToken}}, Options{Cache: newFakeCache(clock.System())})
	require.ErrorContains(t, err, "secret")
}

func TestCache_failureIsIgnored(t *testing.T) {
	t.Parallel()
	var log transcript
	fake := serve(t, knowsRosa)
	cache := newFakeCache(clock.System())
	cache.broken = true
	verifier := verifierOf(t, Options{Cache: cache, CacheSecret: "secret", Logger: log.logger()}, named("decolecta", fake))
	require.Equal(t, Found, verify(t, verifier, someDNI).Outcome)
	require.Equal(t, Found, verify(t, verifier, someDNI).Outcome)
	require.EqualValues(t, 2, fake.asked.Load())
	require.Contains(t, log.String(), errCacheDown.Error())
	require.NotContains(t, log.String(), someDNI)
}

func TestCache_keptFailureIsIgnored(t *testing.T) {
	t.Parallel()
	fake := serve(t, knowsRosa)
	now := clock.NewManual(someDay)
	cache := newFakeCache(now)
	verifier := verifierOf(t, Options{Clock: now, Cache: cache, CacheSecret: "secret"}, named("decolecta", fake))
	require.NoError(t, cache.Put(t.Context(), verifier.cache.key(someDNI), Answer{Outcome: Unavailable}, someDay.Add(time.Hour)))
	require.Equal(t, Found, verify(t, verifier, someDNI).Outcome)
}

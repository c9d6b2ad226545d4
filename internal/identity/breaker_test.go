package identity

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
)

func TestBreakerOpensAfterConsecutiveFailures(t *testing.T) {
	t.Parallel()
	for outcome, failing := range map[Outcome]http.HandlerFunc{Unavailable: isDown, QuotaOrCredentials: wantsMoney} {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()
			now := clock.NewManual(someDay)
			var state changing
			state.to(failing)
			fake := serve(t, state.handle)
			verifier := verifierOf(t, Options{Clock: now}, named("decolecta", fake))
			ask := func(want Outcome, asked int32) {
				t.Helper()
				require.Equal(t, want, verify(t, verifier, someDNI).Outcome)
				require.Equal(t, asked, fake.asked.Load())
			}
			for i := range int32(defaultBreakerFailures) {
				ask(outcome, i+1)
			}
			for range 100 {
				ask(outcome, defaultBreakerFailures)
			}
			now.Advance(defaultBreakerCooldown - time.Microsecond)
			ask(outcome, defaultBreakerFailures)

			now.Advance(time.Microsecond)
			ask(outcome, defaultBreakerFailures+1)
			ask(outcome, defaultBreakerFailures+1)

			now.Advance(defaultBreakerCooldown)
			state.to(knowsRosa)
			ask(Found, defaultBreakerFailures+2)
			ask(Found, defaultBreakerFailures+3)

			state.to(failing)
			for i := range int32(defaultBreakerFailures) {
				ask(outcome, defaultBreakerFailures+4+i)
			}
			ask(outcome, 2*defaultBreakerFailures+3)
		})
	}
}

// A breaker that opened while the clock was ahead does not stay open until that time.
func TestBreakerAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(someDay.AddDate(1, 0, 0))
	fake := serve(t, isDown)
	verifier := verifierOf(t, Options{Clock: now}, named("decolecta", fake))
	for range defaultBreakerFailures + 1 {
		verify(t, verifier, someDNI)
	}
	require.EqualValues(t, defaultBreakerFailures, fake.asked.Load(), "it is open")
	now.Set(someDay)
	verify(t, verifier, someDNI)
	require.EqualValues(t, defaultBreakerFailures+1, fake.asked.Load())
}

func TestOnlyFailuresInARowCount(t *testing.T) {
	t.Parallel()
	var state changing
	fake := serve(t, state.handle)
	verifier := verifierOf(t, Options{BreakerFailures: 2, Clock: clock.NewManual(someDay)}, named("decolecta", fake))
	for _, settles := range []http.HandlerFunc{knowsRosa, knowsNobody, respondsWith(http.StatusUnprocessableEntity, "")} {
		for _, handler := range []http.HandlerFunc{isDown, settles, isDown, settles} {
			state.to(handler)
			verify(t, verifier, someDNI)
		}
	}
	require.EqualValues(t, 12, fake.asked.Load())
}

func TestOpenBreakerFallsBackToTheNextProvider(t *testing.T) {
	t.Parallel()
	dead, alive := serve(t, isDown), serve(t, knowsRosa)
	verifier := verifierOf(t, Options{BreakerFailures: 1, Clock: clock.NewManual(someDay)}, named("migo", dead), named("decolecta", alive))
	for range 3 {
		require.Equal(t, Answer{Outcome: Found, Name: "DIAZ QUISPE ROSA MARIA", Provider: "decolecta"}, verify(t, verifier, someDNI))
	}
	require.EqualValues(t, 1, dead.asked.Load())
	require.EqualValues(t, 3, alive.asked.Load())
}

func TestTrialRequestClosesTheBreaker(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(someDay)
	arrived, proceed := make(chan struct{}), make(chan struct{})
	var state changing
	state.to(isDown)
	fake := serve(t, state.handle)
	verifier := verifierOf(t, Options{BreakerFailures: 1, Clock: now}, named("decolecta", fake))
	verify(t, verifier, someDNI)
	state.to(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-proceed
		knowsRosa(w, r)
	})
	now.Advance(defaultBreakerCooldown)

	var probe sync.WaitGroup
	probe.Go(func() {
		answer, err := verifier.Verify(t.Context(), someDNI)
		if err != nil || answer.Outcome != Found {
			t.Errorf("the attempt after the rest came to %v, %v", answer, err)
		}
	})
	<-arrived
	for range 10 {
		require.Equal(t, Unavailable, verify(t, verifier, someDNI).Outcome, "others do not wait behind the attempt")
	}
	require.EqualValues(t, 2, fake.asked.Load())
	close(proceed)
	probe.Wait()
	state.to(knowsRosa)
	require.Equal(t, Found, verify(t, verifier, someDNI).Outcome)
}

func TestAbandonedTrialAllowsAnother(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(someDay)
	ctx, cancel := context.WithCancel(t.Context())
	var state changing
	state.to(isDown)
	fake := serve(t, state.handle)
	verifier := verifierOf(t, Options{BreakerFailures: 1, Clock: now}, named("decolecta", fake))
	verify(t, verifier, someDNI)
	now.Advance(defaultBreakerCooldown)
	state.to(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		hasNoResponse(w, r)
	})
	_, err := verifier.Verify(ctx, someDNI)
	require.ErrorIs(t, err, context.Canceled)
	state.to(knowsRosa)
	require.Equal(t, Found, verify(t, verifier, someDNI).Outcome)
}

func TestLateFailuresDoNotExtendTheCooldown(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(someDay)
	b := newBreaker(Options{BreakerFailures: 1, Clock: now})
	early, _ := b.allow()
	late, _ := b.allow()
	require.True(t, b.report(early, Unavailable))
	now.Advance(defaultBreakerCooldown)
	require.False(t, b.report(late, QuotaOrCredentials))
	probe, refusal := b.allow()
	require.Empty(t, refusal)
	require.True(t, probe.probe)
	_, refusal = b.allow()
	require.Equal(t, QuotaOrCredentials, refusal)
}

func BenchmarkVerifyWhileTheProviderRests(b *testing.B) {
	fake := serve(b, isDown)
	verifier := verifierOf(b, Options{BreakerFailures: 1, Clock: clock.NewManual(someDay)}, named("decolecta", fake))
	verify(b, verifier, someDNI)
	for b.Loop() {
		verify(b, verifier, someDNI)
	}
}

// A trial request that panics ends: the next one is tried, and the provider is asked again.
func TestBreakerAfterAPanicOfTheTrialRequest(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(someDay)
	handler := isDown
	verifier := verifierOf(t, Options{Clock: now, Client: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		return answer(handler, r)
	})}}, Config{Provider: "decolecta", URL: "https://provider.example", Token: someToken})
	for range defaultBreakerFailures {
		require.Equal(t, Unavailable, verify(t, verifier, someDNI).Outcome)
	}
	now.Advance(defaultBreakerCooldown)
	handler = func(http.ResponseWriter, *http.Request) { panic("parser panicked") }
	require.Panics(t, func() { _, _ = verifier.Verify(t.Context(), someDNI) })
	handler = knowsRosa
	require.Equal(t, Found, verify(t, verifier, someDNI).Outcome)
}

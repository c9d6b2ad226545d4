// Package identity asks providers of Peru's identity registry whose name a DNI carries.
//
// No provider is the registry itself: an empty answer does not prove that a DNI does not exist, and
// no trouble of a provider says anything about it. A DNI never appears in a log line, an error or a
// cache key.
package identity

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"despacho/internal/clock"
)

// DefaultTimeout bounds one exchange with one provider, from the dial to the last byte of its
// answer.
const DefaultTimeout = 5 * time.Second

// Outcome is what came of asking for a DNI.
type Outcome string

// The five outcomes. Only the first two say something about the DNI.
const (
	// Found says that the provider knows the DNI and gave its name.
	Found Outcome = "found"
	// NotFound says that the provider knows nobody with the DNI.
	NotFound Outcome = "not_found"
	// Invalid says that the text is not a DNI.
	Invalid Outcome = "invalid"
	// Unavailable says that no provider could answer now.
	Unavailable Outcome = "unavailable"
	// QuotaOrCredentials says that the providers refuse us: the token is wrong or its credit is
	// spent.
	QuotaOrCredentials Outcome = "quota_or_credentials"
)

// settles tells the outcomes after which no other provider need be asked.
func (o Outcome) settles() bool { return o == Found || o == NotFound || o == Invalid }

// Answer is the one neutral result, whichever provider gave it.
type Answer struct {
	Outcome Outcome
	// Name is the full name as the provider has it; empty unless found.
	Name string
	// Provider is the name in DNI_PROVIDER of whoever answered; empty when nobody was asked.
	Provider string
}

// Options configures a Verifier; the zero value asks every time, with a plain client.
type Options struct {
	// Client makes the calls; nil means a plain one. It decides which addresses may be dialled and
	// must not record URLs, for some providers take the DNI in theirs. Redirects are never left to
	// it.
	Client *http.Client
	// Timeout bounds one exchange with one provider; zero means DefaultTimeout.
	Timeout time.Duration
	// Cache remembers answers about a DNI; nil means none are remembered.
	Cache Cache
	// CacheSecret keys the cache, so that its rows do not tell the DNIs; required with Cache.
	CacheSecret string
	// BreakerFailures is how many failures in a row give a provider rest; zero means
	// DefaultBreakerFailures.
	BreakerFailures int
	// BreakerRest is how long a failing provider is left alone before it is tried again; zero means
	// DefaultBreakerRest.
	BreakerRest time.Duration
	// Clock dates the cache and the breakers; nil means the machine's.
	Clock clock.Clock
	// Logger hears of providers in trouble; nil means nobody does.
	Logger *slog.Logger
}

// Verifier asks the configured providers in order; it is safe for concurrent use.
type Verifier struct {
	providers []*provider
	memory    *memory
}

// New makes a Verifier of at least one provider. An error names the variable that is wrong.
func New(configs []Config, options Options) (*Verifier, error) {
	if len(configs) == 0 {
		return nil, errors.New("DNI_PROVIDER names no provider")
	}
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	if options.Client == nil {
		options.Client = &http.Client{}
	}
	if options.Clock == nil {
		options.Clock = clock.System()
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	verifier := &Verifier{}
	var errs []error
	for _, config := range configs {
		provider, err := newProvider(config, options)
		errs = append(errs, err)
		verifier.providers = append(verifier.providers, provider)
	}
	var err error
	verifier.memory, err = newMemory(options)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return verifier, nil
}

// Verify answers whose name a DNI carries, from memory or from the first provider that settles it.
// Anything but eight digits is invalid and nobody is asked. The only error is that of a ctx that
// ended before there was an answer.
//
// When no provider settles it the answer is Unavailable if asking again may help, and
// QuotaOrCredentials if all of them refuse us.
func (v *Verifier) Verify(ctx context.Context, dni string) (Answer, error) {
	if !IsDNI(dni) {
		return Answer{Outcome: Invalid}, nil
	}
	if answer, remembered := v.memory.recall(ctx, dni); remembered {
		return answer, nil
	}
	var failure Answer
	for _, provider := range v.providers {
		answer, err := provider.ask(ctx, dni)
		if err != nil {
			return Answer{Outcome: Unavailable}, err
		}
		if answer.Outcome.settles() {
			v.memory.remember(ctx, dni, answer)
			return answer, nil
		}
		if failure.Outcome != Unavailable {
			failure = answer
		}
	}
	return failure, nil
}

const dniLength = 8

// IsDNI reports whether a text has the form of a DNI: eight digits.
func IsDNI(text string) bool {
	return len(text) == dniLength && isDigits(text)
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

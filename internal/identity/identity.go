// Package identity looks up the name of a Peruvian DNI at providers of the identity registry.
//
// No provider is the registry itself: an empty response does not prove that a DNI does not exist,
// and a provider's failure says nothing about it. A DNI never appears in a log line or an error.
package identity

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// DefaultTimeout bounds one request to one provider, from the dial to the last byte of the
// response.
const DefaultTimeout = 5 * time.Second

// Outcome is the result of a lookup.
type Outcome string

// The five outcomes. Only the first two say something about the DNI.
const (
	// Found means that the provider returned the name of the DNI.
	Found Outcome = "found"
	// NotFound means that the provider has no person with the DNI.
	NotFound Outcome = "not_found"
	// Invalid means that the text is not a DNI.
	Invalid Outcome = "invalid"
	// Unavailable means that no provider could answer now.
	Unavailable Outcome = "unavailable"
	// QuotaOrCredentials means that the providers reject our token or its quota is used up.
	QuotaOrCredentials Outcome = "quota_or_credentials"
)

// isConclusive reports whether no other provider need be asked.
func (o Outcome) isConclusive() bool { return o == Found || o == NotFound || o == Invalid }

// Answer is the result of a lookup, in the same form for every provider.
type Answer struct {
	Outcome Outcome
	// Name is the full name as the provider has it; empty unless found.
	Name string
	// Provider is the DNI_PROVIDER name of the provider that answered; empty when none was asked.
	Provider string
}

// Options configures a Verifier. The zero value uses a default client.
type Options struct {
	// Client sends the requests; nil means a default one. It decides which addresses may be dialled
	// and must not log URLs, because some providers take the DNI in theirs. Its redirect policy is
	// replaced: redirects are not followed.
	Client *http.Client
	// Timeout bounds one request to one provider; zero means DefaultTimeout.
	Timeout time.Duration
	// Logger receives providers' failures; nil discards them.
	Logger *slog.Logger
}

// Verifier asks the configured providers in order. It is safe for concurrent use.
type Verifier struct{ providers []*provider }

// New makes a Verifier of at least one provider. An error names the invalid variable.
func New(configs []Config, options Options) (*Verifier, error) {
	if len(configs) == 0 {
		return nil, errors.New("DNI_PROVIDER names no provider")
	}
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	if options.Client == nil {
		options.Client = &http.Client{}
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
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return verifier, nil
}

// Verify returns the name of a DNI from the first provider with a conclusive answer. Anything but
// eight digits is Invalid without a request. The only error is ctx's.
//
// When no provider is conclusive the outcome is Unavailable if a later attempt may help, and
// QuotaOrCredentials if all of them reject us.
func (v *Verifier) Verify(ctx context.Context, dni string) (Answer, error) {
	if !IsDNI(dni) {
		return Answer{Outcome: Invalid}, nil
	}
	var failure Answer
	for _, provider := range v.providers {
		answer, err := provider.ask(ctx, dni)
		if err != nil {
			return Answer{Outcome: Unavailable}, err
		}
		if answer.Outcome.isConclusive() {
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

package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	userAgent     = "Despacho/1.0 (identity)"
	maxAnswerRead = 64 << 10
)

// provider is one configured provider.
type provider struct {
	providerSpec
	name     string
	endpoint *url.URL
	token    string
	client   *http.Client
	timeout  time.Duration
	logger   *slog.Logger
}

func newProvider(config Config, options Options) (*provider, error) {
	spec, endpoint, err := config.resolve()
	if err != nil {
		return nil, err
	}
	client := *options.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &provider{
		providerSpec: spec,
		name:         config.Provider,
		endpoint:     endpoint,
		token:        config.Token,
		client:       &client,
		timeout:      options.Timeout,
		logger:       options.Logger.With("provider", config.Provider),
	}, nil
}

// ask sends the request. The only error is that of an ended ctx.
func (p *provider) ask(ctx context.Context, dni string) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	verdict := p.exchange(ctx, dni)
	if !verdict.outcome.isConclusive() {
		if err := ctx.Err(); err != nil {
			return Answer{}, err
		}
		p.logger.WarnContext(ctx, "identity provider did not answer",
			"outcome", verdict.outcome, "reason", p.withoutSecrets(verdict.reason, dni))
	}
	return Answer{Outcome: verdict.outcome, Name: verdict.name, Provider: p.name}, nil
}

// exchange sends one request and parses its response.
func (p *provider) exchange(ctx context.Context, dni string) result {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	request, err := p.request(ctx, dni)
	if err != nil {
		return unavailable("the request cannot be made: " + err.Error())
	}
	response, err := p.client.Do(request)
	if err != nil {
		return unavailable(withoutURL(err).Error())
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerRead+1))
	if err != nil {
		return unavailable("reading the answer: " + err.Error())
	}
	if len(body) > maxAnswerRead {
		return unavailable(fmt.Sprintf("the answer is over %d bytes", maxAnswerRead))
	}
	return p.parse(response.StatusCode, body, dni)
}

func (p *provider) request(ctx context.Context, dni string) (*http.Request, error) {
	target := *p.endpoint
	var body io.Reader
	if p.method == http.MethodGet {
		query := target.Query()
		query.Set(p.numberMember, dni)
		target.RawQuery = query.Encode()
	} else {
		members := map[string]string{p.numberMember: dni}
		if p.tokenMember != "" {
			members[p.tokenMember] = p.token
		}
		encoded, err := json.Marshal(members)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, p.method, target.String(), body)
	if err != nil {
		return nil, withoutURL(err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", userAgent)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if p.tokenMember == "" && p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	return request, nil
}

// withoutURL removes the URL that net/http puts into its errors, because it may contain the DNI.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// withoutSecrets removes the DNI and the token from a reason, which may quote the provider, which
// may quote our request.
func (p *provider) withoutSecrets(reason, dni string) string {
	reason = strings.ReplaceAll(reason, dni, "[dni]")
	if p.token != "" {
		reason = strings.ReplaceAll(reason, p.token, "[token]")
	}
	return reason
}

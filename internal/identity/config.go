package identity

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Config is one provider with its URL and token.
type Config struct {
	// Provider is its name: decolecta, apisnet, apiperu, jsonpe, migo or dev.
	Provider string
	// URL replaces the provider's own address; without a path, its own path is kept. Empty means
	// its own.
	URL string
	// Token is our API token at the provider. It may be empty where URL is given, as that of a gateway
	// which adds it.
	Token string
}

// Configs pairs the lists of DNI_PROVIDER, DNI_URL and DNI_TOKEN; the last two may be empty. An
// error names the variable that is wrong.
func Configs(providers, urls, tokens []string) ([]Config, error) {
	var errs []error
	at := func(variable string, list []string) func(int) string {
		if len(list) != 0 && len(list) != len(providers) {
			errs = append(errs, fmt.Errorf(
				"%s has %d values for the %d of DNI_PROVIDER: give one for each, in the same order", variable, len(list),
				len(providers)))
		}
		return func(i int) string {
			if i >= len(list) {
				return ""
			}
			return list[i]
		}
	}
	urlAt, tokenAt := at("DNI_URL", urls), at("DNI_TOKEN", tokens)
	configs := make([]Config, len(providers))
	for i, provider := range providers {
		configs[i] = Config{Provider: strings.ToLower(provider), URL: urlAt(i), Token: tokenAt(i)}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return configs, nil
}

// resolve returns the provider's spec and the URL to request.
func (c Config) resolve() (providerSpec, *url.URL, error) {
	spec, known := providerSpecs[c.Provider]
	if !known {
		names := slices.Sorted(maps.Keys(providerSpecs))
		return spec, nil, fmt.Errorf("DNI_PROVIDER has %q, which is none of %s", c.Provider, strings.Join(names, ", "))
	}
	if c.URL == "" && spec.origin == "" {
		return spec, nil, fmt.Errorf("DNI_URL must say where the provider %s is: it has no address of its own", c.Provider)
	}
	address := c.URL
	if address == "" {
		address = spec.origin
		if c.Token == "" {
			// Every answer would be that the credentials are wrong.
			return spec, nil, fmt.Errorf("DNI_TOKEN must have a token for %s, which answers nobody without one", c.Provider)
		}
	}
	endpoint, err := url.Parse(address)
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "http" && endpoint.Scheme != "https") {
		// The value is left out of the error because it may contain a secret.
		return spec, nil, fmt.Errorf("DNI_URL must have an http or https address for %s", c.Provider)
	}
	if endpoint.Path == "" || endpoint.Path == "/" {
		endpoint.Path = spec.path
	}
	return spec, endpoint, nil
}

package config

import (
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// TemporalOptions reads the standard TEMPORAL_* variables and temporal.toml, so that Temporal Cloud
// and mTLS are configured in the usual way.
func TemporalOptions() (client.Options, error) {
	for _, variable := range []string{"TEMPORAL_TLS", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"} {
		if value := os.Getenv(variable); !slices.Contains([]string{"", "true", "false", "1", "0"}, strings.ToLower(value)) {
			// It would be ignored, and what was meant to be encrypted sent in clear.
			return client.Options{}, fmt.Errorf("%s must be true or false, not %q", variable, value)
		}
	}
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{
		EnvLookup: filledVariables{envconfig.EnvLookupOS},
	})
	if err != nil {
		return client.Options{}, fmt.Errorf("TEMPORAL_* configuration: %w", err)
	}
	if options.HostPort == "" {
		options.HostPort = client.DefaultHostPort
	}
	if !isHostPort(options.HostPort) || strings.HasPrefix(options.HostPort, ":") {
		return client.Options{}, fmt.Errorf("TEMPORAL_ADDRESS must be host:port, not %q", options.HostPort)
	}
	certificate, key := os.Getenv("TEMPORAL_TLS_CLIENT_CERT_PATH"), os.Getenv("TEMPORAL_TLS_CLIENT_KEY_PATH")
	if tlsConfig := options.ConnectionOptions.TLS; tlsConfig != nil && certificate != "" && key != "" {
		renewCertificate(tlsConfig, certificate, key)
	}
	return options, nil
}

// renewCertificate has every new connection use the certificate that is in the files then: one that
// is renewed there would otherwise expire in the processes that run. While the files do not fit
// together, as when one of them is already replaced, the certificate that was read first is used.
func renewCertificate(tlsConfig *tls.Config, certificate, key string) {
	first := tlsConfig.Certificates
	tlsConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		current, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil && len(first) > 0 {
			return &first[0], nil
		}
		return &current, err
	}
}

// filledVariables takes a variable without the spaces and line ends around it, and an empty one for
// one that is not set, as the rest of the configuration does: an empty TEMPORAL_TLS_SERVER_NAME
// would turn TLS on, and no request can be sent with a key that ends with a line feed.
type filledVariables struct{ envconfig.EnvLookup }

// LookupEnv returns a variable that has a value.
func (f filledVariables) LookupEnv(name string) (string, bool) {
	value, _ := f.EnvLookup.LookupEnv(name)
	value = strings.TrimSpace(value)
	return value, value != ""
}

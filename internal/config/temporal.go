package config

import (
	"fmt"
	"net"
	"strconv"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// TemporalOptions reads the standard TEMPORAL_* variables and temporal.toml, so that Temporal Cloud
// and mTLS are configured in the usual way.
func TemporalOptions() (client.Options, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return client.Options{}, fmt.Errorf("TEMPORAL_* configuration: %w", err)
	}
	if options.HostPort == "" {
		options.HostPort = client.DefaultHostPort
	}
	if err := checkHostPort(options.HostPort); err != nil {
		return client.Options{}, fmt.Errorf("TEMPORAL_ADDRESS must be host:port, not %q: %w", options.HostPort, err)
	}
	return options, nil
}

func checkHostPort(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if host == "" {
		return fmt.Errorf("the host is missing")
	}
	if hasSpace(host) {
		return fmt.Errorf("the host has a space")
	}
	if number, err := strconv.Atoi(port); err != nil || number < 1 || number > 65535 {
		return fmt.Errorf("the port is not a number between 1 and 65535")
	}
	return nil
}

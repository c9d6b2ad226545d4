package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// Listen listens on address. Its error names the address and the variable that changes it.
func Listen(address, variable string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, InUseError(address, variable)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot listen on %s: %w", variable, address, err)
	}
	return listener, nil
}

// InUseError is the error of an address that another program listens on. It names the variable that
// changes it.
func InUseError(address, variable string) error {
	return fmt.Errorf("%s is in use by another program: stop it, or set %s to a free one", address, variable)
}

// Reachable turns a listen address such as 0.0.0.0:8080 into one that can be dialled. Who listens
// on [::] takes IPv4 as well, and a container without IPv6 addresses has no ::1.
func Reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.Unmap().IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// Package safehttp sends HTTP requests to URLs that users chose, without reaching the service's own
// network (SSRF).
package safehttp

import (
	"fmt"
	"net/netip"

	"code.dny.dev/ssrf"
)

// azurePlatform serves metadata and DNS inside Azure although it is a public address.
var azurePlatform = netip.MustParsePrefix("168.63.129.16/32")

// publicOnly checks IANA's special-purpose registries. For IPv6 it is an allow list: anything but
// global unicast is rejected, which covers NAT64, unique local, site-local and IPv4-compatible
// forms.
var publicOnly = ssrf.New(ssrf.WithDeniedV4Prefixes(azurePlatform))

// AddressError is the error of an address that is neither public nor allowed.
type AddressError struct {
	Addr netip.Addr
}

// Error names the rejected address.
func (e *AddressError) Error() string {
	return fmt.Sprintf("safehttp: %s is not a public address", e.Addr)
}

// Check rejects every address that is neither public nor in one of the allowed networks.
func Check(addr netip.Addr, allow []netip.Prefix) error {
	if !addr.IsValid() {
		return &AddressError{Addr: addr}
	}
	// An IPv4 address is checked as such in every notation.
	addr = addr.Unmap()
	for _, network := range allow {
		if network.Contains(addr) {
			return nil
		}
	}
	if publicOnly.SafeAddr(addr) != nil {
		return &AddressError{Addr: addr}
	}
	return nil
}

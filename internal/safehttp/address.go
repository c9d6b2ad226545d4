// Package guard lets the service call addresses that strangers chose without ever reaching its own
// network.
package safehttp

import (
	"fmt"
	"net/netip"

	"code.dny.dev/ssrf"
)

// azurePlatform answers metadata and DNS inside Azure although it lies in public space.
var azurePlatform = netip.MustParsePrefix("168.63.129.16/32")

// publicOnly knows the special-purpose registries of IANA. For IPv6 it is a positive list: what is
// not global unicast is refused, which covers NAT64, unique local, site-local and IPv4-compatible
// forms.
var publicOnly = ssrf.New(ssrf.WithDeniedV4Prefixes(azurePlatform))

// AddressError says that an address is not public and not exempt.
type AddressError struct {
	Addr netip.Addr
}

// Error names the refused address.
func (e *AddressError) Error() string {
	return fmt.Sprintf("guard: %s is not a public address", e.Addr)
}

// Check refuses every address that is neither public nor inside one of the allowed networks.
func Check(addr netip.Addr, allow []netip.Prefix) error {
	if !addr.IsValid() {
		return &AddressError{Addr: addr}
	}
	// An IPv4 address is judged as such however it is written.
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

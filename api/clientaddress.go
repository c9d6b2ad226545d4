package api

import (
	"net/netip"

	"github.com/gin-gonic/gin"
)

// clientNetwork is what limits by client address count: the clientNet of a request.
func clientNetwork(c *gin.Context) string {
	address, err := netip.ParseAddr(c.ClientIP())
	if err != nil {
		return "unknown"
	}
	return clientNet(address).String()
}

// clientSite is the IPv6 network of 48 bits that a request's clientNet is in: the largest that one
// customer of a provider usually has. For IPv4 there is none.
func clientSite(c *gin.Context) (site string, ok bool) {
	address, err := netip.ParseAddr(c.ClientIP())
	if address = address.Unmap().WithZone(""); err != nil || !address.Is6() {
		return "", false
	}
	network, err := address.Prefix(48)
	return network.String(), err == nil
}

// clientNet is what counts as one client: an IPv4 address, or an IPv6 network of 64 bits, which is
// what a single customer of a provider has.
func clientNet(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	network, _ := address.Prefix(bits) // of an invalid address it is the zero Prefix
	return network
}

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

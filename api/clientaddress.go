package api

import (
	"net/netip"

	"github.com/gin-gonic/gin"
)

// clientNetwork is what limits by client address count: an IPv4 address, or the /64 of an IPv6
// address, because a client usually has all of one.
func clientNetwork(c *gin.Context) string {
	address, err := netip.ParseAddr(c.ClientIP())
	if err != nil {
		return "unknown"
	}
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	network, err := address.Prefix(64)
	if err != nil {
		return address.String()
	}
	return network.String()
}

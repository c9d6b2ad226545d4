package safehttp

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckRejectsNonPublicAddresses(t *testing.T) {
	t.Parallel()
	refused := map[string][]string{
		"unspecified and this network":   {"0.0.0.0", "0.1.2.3", "0.255.255.255", "::"},
		"loopback":                       {"127.0.0.1", "127.1.2.3", "127.255.255.255", "::1"},
		"private":                        {"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"},
		"link-local":                     {"169.254.0.1", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf::1"},
		"metadata":                       {"169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"},
		"shared by carriers (CGNAT)":     {"100.64.0.0", "100.127.255.255"},
		"IETF protocol assignments":      {"192.0.0.1", "192.0.0.170", "192.0.0.255", "2001:1::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1"},
		"documentation":                  {"192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "2001:db8:ffff::1", "3fff::1", "3fff:fff::1"},
		"AS112, AMT and 6to4 relay":      {"192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1", "2620:4f:8000::1"},
		"benchmarking":                   {"198.18.0.1", "198.19.255.255"},
		"multicast":                      {"224.0.0.1", "239.255.255.255", "ff00::1", "ff02::1", "ff0e::1"},
		"reserved and broadcast":         {"240.0.0.1", "254.255.255.255", "255.255.255.255"},
		"IPv4-mapped":                    {"::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0", "::ffff:100.64.0.1"},
		"IPv4-compatible and translated": {"::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1"},
		"NAT64":                          {"64:ff9b::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808", "64:ff9b:1::1", "64:ff9b:1:ffff::a00:1"},
		"6to4":                           {"2002::1", "2002:7f00:1::1", "2002:a00:1::1", "2002:808:808::1"},
		"Teredo":                         {"2001::1", "2001:0:7f00:1::1"},
		"unique local":                   {"fc00::1", "fdff:ffff::1"},
		"site-local, deprecated":         {"fec0::1", "feff::1"},
		"discard and dummy":              {"100::1", "100:0:0:1::1"},
		"segment routing":                {"5f00::1"},
		"outside global unicast":         {"4000::1", "8000::1", "c000::1", "e000::1", "1fff::1"},
		"public with a zone":             {"2606:4700::1111%eth0"},
	}
	for kind, addresses := range refused {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, address := range addresses {
				addr := netip.MustParseAddr(address)
				var refusal *AddressError
				require.ErrorAs(t, Check(addr, nil), &refusal, address)
				require.Equal(t, addr.Unmap(), refusal.Addr)
			}
		})
	}
}

func TestCheckRefusesTheZeroAddress(t *testing.T) {
	t.Parallel()
	require.Error(t, Check(netip.Addr{}, nil))
}

func TestCheckAcceptsPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
		"168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255",
		"192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
		"203.0.112.255", "203.0.114.0", "223.255.255.255",
		"::ffff:8.8.8.8", "2001:200::1", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1111", "2a00:1450::1", "3ffe::1",
	} {
		require.NoError(t, Check(netip.MustParseAddr(address), nil), address)
	}
}

func TestCheckAllowsOnlyTheGivenNetworks(t *testing.T) {
	t.Parallel()
	allow := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("fd00:1::/32")}
	for address, allowed := range map[string]bool{
		"127.0.0.1":        true,
		"::ffff:127.0.0.1": true,
		"fd00:1::7":        true,
		"1.1.1.1":          true,
		"::127.0.0.1":      false,
		"64:ff9b::7f00:1":  false,
		"10.0.0.1":         false,
		"::1":              false,
		"fd00:2::7":        false,
	} {
		err := Check(netip.MustParseAddr(address), allow)
		require.Equal(t, allowed, err == nil, address)
	}
}

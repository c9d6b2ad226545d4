package dev

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"despacho/internal/config"
)

// loopback is the default address to listen on.
const loopback = "127.0.0.1"

// checkFree fails as config.Listen does when the address is in use.
func checkFree(address, variable string) error {
	if isListening(address) {
		return config.ErrInUse(address, variable)
	}
	return nil
}

// isListening connects to find out. To listen for a moment would be wrong: a process that is
// started in that moment inherits the socket and holds the port until it has become another
// program.
func isListening(address string) bool {
	connection, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	_ = connection.Close()
	return true
}

// FreePort returns an unused port of host. It is below the kernel's range of ephemeral ports, so
// that no outgoing connection or listener on port 0 takes it before it is listened on.
func FreePort(host string) (int, error) {
	ports, err := freePorts(host, 1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// portAddress is host:port with the port replaced by a free one when it is 0.
func portAddress(host string, port int) (string, error) {
	if port == 0 {
		free, err := FreePort(host)
		if err != nil {
			return "", err
		}
		port = free
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}

// chosenPorts are those that freePorts has returned, so that a process gets none of them twice.
var chosenPorts sync.Map

// freePorts returns different unused ports of host below 32768, for FreePort's reason and because
// Temporal keeps the ports of its services as int16.
func freePorts(host string, count int) (ports []int, err error) {
	const lowest, tries = 16384, 1000
	for range tries {
		port := lowest + rand.IntN(math.MaxInt16-lowest)
		if _, chosen := chosenPorts.LoadOrStore(port, true); chosen || isListening(net.JoinHostPort(host, strconv.Itoa(port))) {
			continue
		}
		if ports = append(ports, port); len(ports) == count {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("%s has no free ports", host)
}

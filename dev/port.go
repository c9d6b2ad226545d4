package dev

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// loopback is where everything listens unless somebody says otherwise.
const loopback = "127.0.0.1"

// Listen opens address; the error names it and the variable that moves it.
func Listen(address, variable string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another program: stop it, or set %s to a free one", address, variable)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot listen on %s: %w", variable, address, err)
	}
	return listener, nil
}

// checkFree fails as Listen does when somebody else holds the address.
func checkFree(address, variable string) error {
	listener, err := Listen(address, variable)
	if err != nil {
		return err
	}
	return listener.Close()
}

// FreePort returns a port of host that nobody listens on and that the kernel will not soon give to somebody else: closing an
// accepted connection leaves the port in TIME_WAIT, where it is never handed out, yet whoever asks for it by
// number and sets SO_REUSEADDR (Go servers and PostgreSQL do) gets it.
func FreePort(host string) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer client.Close()
	accepted, err := listener.Accept()
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	accepted.Close() // before the client's side, which is what leaves TIME_WAIT here
	return listener.Addr().(*net.TCPAddr).Port, nil
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

// freeLowPorts returns different ports of host below 32768 that nobody listens on: Temporal keeps the
// ports of its parts in 16 bits with a sign.
func freeLowPorts(host string, count int) ([]int, error) {
	const lowest, tries = 16384, 1000
	var ports []int
	var err error
	for range tries {
		if len(ports) == count {
			return ports, nil
		}
		port := lowest + rand.IntN(math.MaxInt16-lowest)
		var listener net.Listener
		if listener, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
			defer listener.Close() // held until all are found, so that none is found twice
			ports = append(ports, port)
		}
	}
	return nil, fmt.Errorf("finding free ports: %w", err)
}

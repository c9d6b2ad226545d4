package dev

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"despacho/internal/config"
)

// loopback is the default address to listen on.
const loopback = "127.0.0.1"

// checkFree fails as config.Listen does when the address is in use.
func checkFree(address, variable string) error {
	if isListening(address) {
		return config.InUseError(address, variable)
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

// freePorts returns different unused ports of host below 32768, for FreePort's reason and because
// Temporal keeps the ports of its services as int16. No other process gets them from here while
// this one lives.
func freePorts(host string, count int) (ports []int, err error) {
	const lowest, tries = 16384, 1000
	for range tries {
		port := lowest + rand.IntN(math.MaxInt16-lowest)
		claimed, err := claimPort(port)
		if err != nil {
			return nil, err
		}
		if !claimed || isListening(net.JoinHostPort(host, strconv.Itoa(port))) {
			continue
		}
		if ports = append(ports, port); len(ports) == count {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("%s has no free ports", host)
}

// portLocks is a file with one byte for each port, which the processes of a user lock. It stays
// open: to close it would release the process's locks.
var portLocks = sync.OnceValues(func() (*os.File, error) {
	return os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("despacho-ports-%d", os.Getuid())), os.O_CREATE|os.O_RDWR, 0o600)
})

// claimedPorts are those of this process, which can lock a byte twice.
var claimedPorts sync.Map

// claimPort reports whether no process had claimed the port. The kernel releases it when this one
// ends.
func claimPort(port int) (bool, error) {
	if _, claimed := claimedPorts.LoadOrStore(port, true); claimed {
		return false, nil
	}
	file, err := portLocks()
	if err != nil {
		return false, fmt.Errorf("choosing a port: %w", err)
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: int64(port), Len: 1}
	err = syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("choosing a port: %w", err)
	}
	return true, nil
}

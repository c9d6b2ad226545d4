package closedport_test

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/closedport"
)

func TestAddress_refusesAndStaysTaken(t *testing.T) {
	t.Parallel()
	address := closedport.Address(t)
	_, err := net.Dial("tcp", address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	_, err = net.Listen("tcp", address)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}

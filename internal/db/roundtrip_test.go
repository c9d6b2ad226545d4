package db_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/credentials"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/testenv"
)

// countingProxy forwards a client's connection to PostgreSQL and counts the round trips.
func countingProxy(t *testing.T, databaseURL string) (proxied string, roundTrips *atomic.Int64) {
	t.Helper()
	address, err := url.Parse(databaseURL)
	require.NoError(t, err)
	server := address.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	roundTrips = &atomic.Int64{}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(client, upstream) }()
			go forward(client, upstream, roundTrips)
		}
	}()
	address.Host = listener.Addr().String()
	query := address.Query()
	query.Set("sslmode", "disable")
	address.RawQuery = query.Encode()
	return address.String(), roundTrips
}

// forward copies messages. A Sync or a simple Query makes the server reply. The driver's look at a
// connection that was not used for a second does not count: a busy machine may take that long.
func forward(client, upstream net.Conn, roundTrips *atomic.Int64) {
	defer upstream.Close()
	message := func(header int) (kind byte, body string, open bool) {
		head := make([]byte, header+4)
		if _, err := io.ReadFull(client, head); err != nil {
			return 0, "", false
		}
		content := make([]byte, binary.BigEndian.Uint32(head[header:])-4)
		if _, err := io.ReadFull(client, content); err != nil {
			return 0, "", false
		}
		_, err := upstream.Write(append(head, content...))
		return head[0], string(content), err == nil
	}
	if _, _, open := message(0); !open { // the start-up message has no type
		return
	}
	for {
		kind, body, open := message(1)
		if !open {
			return
		}
		if kind == 'S' || kind == 'Q' && body != "-- ping\x00" {
			roundTrips.Add(1)
		}
	}
}

// Authentication, counting and the order that the request reads together take one round trip to
// PostgreSQL, and the count is right.
func TestAuthenticate_oneRoundTrip(t *testing.T) {
	t.Parallel()
	proxied, roundTrips := countingProxy(t, testenv.Postgres(t))
	database := dbtest.Open(t, proxied)
	order := dbtest.NewOrder(t, database)
	require.NoError(t, database.Insert(context.Background(), order))
	now := time.Now().UTC()
	key := models.APIKey{ID: uuid.New(), OperatorID: order.OperatorID, Name: "prueba", Scopes: models.JoinScopes(models.Scopes), CreatedAt: now}
	plain, err := key.Issue()
	require.NoError(t, err)
	require.NoError(t, database.Insert(context.Background(), &key))
	authenticate := func() int {
		holder, read, err := database.Authenticate(context.Background(), credentials.Hash(plain), now, order.ID)
		require.NoError(t, err)
		require.Equal(t, order.ID, read.ID)
		return holder.Used
	}
	require.Equal(t, 1, authenticate(), "the statement is prepared once for each connection")
	before := roundTrips.Load()
	for i := range 20 {
		require.Equal(t, i+2, authenticate())
	}
	require.EqualValues(t, 20, roundTrips.Load()-before)
}

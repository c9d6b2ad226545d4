package db_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// pooler is a pooler in transaction mode with one session for all clients, which it gives to one
// transaction after the other. It does not know of prepared statements.
type pooler struct {
	turn       sync.Mutex
	session    *pgproto3.Frontend
	parameters map[string]string
}

// startPooler returns the address of a database as it is reached through a pooler.
func startPooler(t *testing.T, databaseURL string) string {
	t.Helper()
	connection, err := pgconn.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	session, err := connection.Hijack()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &pooler{session: session.Frontend, parameters: session.ParameterStatuses}
	var clients sync.WaitGroup
	clients.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			clients.Go(func() {
				defer client.Close()
				_ = p.serve(client) // the client has disconnected
			})
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		require.NoError(t, session.Conn.Close())
		clients.Wait()
	})
	address, err := url.Parse(databaseURL)
	require.NoError(t, err)
	address.Host = listener.Addr().String()
	query := address.Query()
	query.Set("sslmode", "disable")
	address.RawQuery = query.Encode()
	return address.String()
}

func (p *pooler) serve(connection net.Conn) error {
	client := pgproto3.NewBackend(connection, connection)
	if _, err := client.ReceiveStartupMessage(); err != nil {
		return err
	}
	client.Send(&pgproto3.AuthenticationOk{})
	for name, value := range p.parameters {
		client.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
	}
	client.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: make([]byte, 4)})
	client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := client.Flush(); err != nil {
		return err
	}
	for {
		message, err := client.Receive()
		if err != nil {
			return err
		}
		if err := p.transaction(client, message); err != nil {
			return err
		}
	}
}

// transaction passes messages on from the first of a transaction to its end.
func (p *pooler) transaction(client *pgproto3.Backend, message pgproto3.FrontendMessage) (err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	for {
		switch message.(type) {
		case *pgproto3.Terminate:
			return fmt.Errorf("the client ends")
		case *pgproto3.Sync, *pgproto3.Query:
			p.session.Send(message)
			isOver, err := p.respond(client)
			if err != nil || isOver {
				return err
			}
		default:
			p.session.Send(message)
		}
		if message, err = client.Receive(); err != nil {
			return err
		}
	}
}

// respond passes the answers to everything sent on, and reports whether a transaction is over.
func (p *pooler) respond(client *pgproto3.Backend) (isOver bool, err error) {
	if err := p.session.Flush(); err != nil {
		return false, err
	}
	for {
		message, err := p.session.Receive()
		if err != nil {
			return false, err
		}
		client.Send(message)
		if ready, isReady := message.(*pgproto3.ReadyForQuery); isReady {
			return ready.TxStatus == 'I', client.Flush()
		}
	}
}

// A service that would start and then fail most of its requests says at the start what to change.
func TestOpen_throughAPooler(t *testing.T) {
	t.Parallel()
	address := startPooler(t, testenv.Postgres(t))
	options := db.Options{MaxConns: 2, ConnectTimeout: poll.Deadline}
	_, err := db.Open(context.Background(), address, options)
	require.ErrorContains(t, err, "DATABASE_URL: leads to a pooler that does not keep prepared statements")
	require.ErrorContains(t, err, "default_query_exec_mode=cache_describe")

	database, err := db.Open(context.Background(), address+"&default_query_exec_mode=cache_describe", options)
	require.NoError(t, err)
	defer database.Close()
	for range 3 {
		err := database.Query(t.Context()).Find(&[]models.Operator{}).Error
		require.NoError(t, err)
	}
}

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"despacho/test/lab/cluster"
)

const (
	// slowVictims is how many clients are measured while the slow ones are there, slowTime for how
	// long: shorter than the time after which the service disconnects a slow client.
	slowVictims = 2
	slowTime    = 4 * time.Second
	// maxSlowdown is the largest p99 next to slow clients as a multiple of the p99 without them, and
	// slowdownSlack what a measurement of milliseconds may differ by.
	maxSlowdown   = 2
	slowdownSlack = 5 * time.Millisecond
)

// slowKind is a way to make the service wait, as bytes that are sent and never followed by more.
// Nothing is read.
type slowKind struct{ name, sent string }

var slowKinds = []slowKind{
	{"idle connections", ""},
	{"headers that never end", "GET /docs HTTP/1.1\r\nHost: despacho\r\nX-Slow: "},
	{"bodies that never come", "POST /panel/api/session HTTP/1.1\r\nHost: despacho\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{"},
	{"responses that nobody reads", strings.Repeat("GET /openapi.yaml HTTP/1.1\r\nHost: despacho\r\n\r\n", 30)},
	{"idle after a response", "GET /healthz HTTP/1.1\r\nHost: despacho\r\n\r\n"},
}

// slowFigures are the results next to one kind of slow clients, and those of the seconds before.
type slowFigures struct {
	Kind     string         `json:"kind"`
	Sockets  int            `json:"sockets"`
	Requests int            `json:"requests"`
	CalmP50  float64        `json:"calm_p50_ms"`
	CalmP99  float64        `json:"calm_p99_ms"`
	P50      float64        `json:"p50_ms"`
	P99      float64        `json:"p99_ms"`
	Statuses map[string]int `json:"answers"`
}

func (f *slowFigures) String() string {
	return fmt.Sprintf("%d sockets, %s: %d requests of others, p50 %.1f ms after %.1f, p99 %.1f ms after %.1f; answers %v",
		f.Sockets, f.Kind, f.Requests, f.P50, f.CalmP50, f.P99, f.CalmP99, f.Statuses)
}

// runSlow measures what others get while many sockets of one kind are open to every api, kind by
// kind. The apis have no limit of connections for each address here: the sockets stand for many
// addresses.
func runSlow(ctx context.Context, s *stack) error {
	if err := s.ensureOrders(ctx, pageSize); err != nil {
		return err
	}
	// The timers of these orders must not fire during a measurement.
	if err := s.settleAgain(ctx); err != nil {
		return err
	}
	for _, kind := range slowKinds {
		if err := s.measureSlow(ctx, kind); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *stack) measureSlow(ctx context.Context, kind slowKind) error {
	s.measureLoad(ctx, slowVictims, time.Second) // the sockets of the kind before are gone
	calm := s.measureLoad(ctx, slowVictims, slowTime)
	s.options.logf("opening %d sockets to each api: %s", s.options.SlowClients, kind.name)
	sockets, err := s.openSlow(ctx, kind)
	if err == nil {
		run := s.measureLoad(ctx, slowVictims, slowTime)
		f := &slowFigures{
			Kind: kind.name, Sockets: len(sockets), Requests: len(run.times), CalmP50: calm.percentile(50),
			CalmP99: calm.percentile(99),
			P50:     run.percentile(50), P99: run.percentile(99), Statuses: run.answers,
		}
		s.report.Slow = append(s.report.Slow, f)
		s.checkSlow(f)
	}
	for _, socket := range sockets {
		err = errors.Join(err, socket.Close())
	}
	return err
}

func (s *stack) openSlow(ctx context.Context, kind slowKind) (sockets []net.Conn, err error) {
	var dialer net.Dialer
	for _, address := range s.balancer.addresses {
		for range s.options.SlowClients {
			socket, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(address, "http://"))
			if err != nil {
				return sockets, err
			}
			sockets = append(sockets, socket)
			if err := socket.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
				return sockets, err
			}
			if _, err := io.WriteString(socket, kind.sent); err != nil {
				return sockets, err
			}
		}
	}
	return sockets, nil
}

func (s *stack) checkSlow(f *slowFigures) {
	r := s.report
	r.checked(invariantSlow, f.Requests)
	if served := f.Statuses[fmt.Sprint(http.StatusOK)]; served != f.Requests {
		r.violate(invariantSlow, f.Kind, "answers %v", f.Statuses)
	}
	if most := maxSlowdown*f.CalmP99 + cluster.Milliseconds(slowdownSlack); f.P99 > most {
		r.violate(invariantSlow, f.Kind, "p99 is %.1f ms, and %.1f ms without them", f.P99, f.CalmP99)
	}
}

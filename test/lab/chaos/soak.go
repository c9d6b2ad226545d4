package chaos

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

const (
	// soakWarmUp is how long the load runs before what is held is counted for the first time.
	soakWarmUp = 30 * time.Second
	// abandonEvery is how often a socket of each slow kind is opened to each api and left alone, and
	// mostAbandoned how many the clients keep: the apis must have given them up long before.
	abandonEvery  = time.Second
	mostAbandoned = 3000
	// returnTimeout is how long after the load the figures may take to come back. The longest are a
	// request whose body never comes, and rate windows, which the reconcile workflow deletes.
	returnTimeout = 6 * time.Minute
	// The figures may differ by a quarter, and by these many MiB or others.
	soakTolerance, soakMemory, soakCount = 1.25, 64, 40
)

// housekeeping counts the rows that must not outlive their use.
const housekeeping = `SELECT (SELECT count(*) FROM rate_windows), (SELECT count(*) FROM order_total_changes),
	(SELECT count(*) FROM idempotency_records WHERE expires_at < now()), (SELECT count(*) FROM sessions WHERE expires_at < now())`

// held are figures of the processes and the database, by name.
type held map[string]float64

func (h held) String() string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		texts = append(texts, fmt.Sprintf("%s %.0f", name, h[name]))
	}
	return strings.Join(texts, ", ")
}

// exceeding is the first figure that is higher than before; empty if all came back.
func (h held) exceeding(before held) string {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		slack := float64(soakCount)
		if strings.HasSuffix(name, " MiB") {
			slack = soakMemory
		}
		if h[name] > soakTolerance*before[name]+slack {
			return fmt.Sprintf("%s: %.0f, and %.0f before", name, h[name], before[name])
		}
	}
	return ""
}

// runSoak puts load on the service and leaves sockets open to it, and checks that what the
// processes and the housekeeping tables hold comes back afterwards.
func runSoak(ctx context.Context, s *stack) error {
	if err := s.loadThatEnds(ctx, soakWarmUp, 0); err != nil {
		return err
	}
	before, err := s.held(ctx)
	if err != nil {
		return err
	}
	s.options.logf("before: %s", before)
	abandoning, stop := context.WithCancel(ctx)
	left := make(chan []net.Conn, 1)
	go func() { left <- s.abandonSockets(abandoning) }()
	err = s.loadThatEnds(ctx, s.options.Soak, 1)
	stop()
	for _, socket := range <-left {
		defer socket.Close() // not before it was seen that the apis have given it up
	}
	if err != nil {
		return err
	}
	s.report.checked(invariantSoak, len(before))
	var after held
	higher := ""
	err = cluster.PollEvery(ctx, time.Second, s.options.scaledTimeout(returnTimeout), "not back", func() (bool, error) {
		if after, err = s.held(ctx); err != nil {
			return false, err
		}
		higher = after.exceeding(before)
		return higher == "", nil
	})
	s.options.logf("after: %s", after)
	if higher != "" {
		s.report.violate(invariantSoak, s.options.Soak.String(), "%s", higher)
		return nil
	}
	return err
}

// loadThatEnds runs the load, whose orders all end, for a time and waits until nothing is
// outstanding.
func (s *stack) loadThatEnds(ctx context.Context, duration time.Duration, number uint64) error {
	clients := s.startLoad(ctx, soakStream+number<<16, scenariosThatEnd())
	err := cluster.Sleep(ctx, duration)
	clients.finish()
	if err != nil {
		return err
	}
	return s.settleAgain(ctx)
}

// abandonSockets opens sockets of each slow kind until ctx ends.
func (s *stack) abandonSockets(ctx context.Context) (sockets []net.Conn) {
	var dialer net.Dialer
	for cluster.Sleep(ctx, abandonEvery) == nil {
		for _, address := range s.balancer.addresses {
			for _, kind := range slowKinds {
				socket, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(address, "http://"))
				if err != nil {
					continue
				}
				_, _ = io.WriteString(socket, kind.sent)
				sockets = append(sockets, socket)
			}
		}
		for len(sockets) > mostAbandoned {
			_ = sockets[0].Close()
			sockets = sockets[1:]
		}
	}
	return sockets
}

// held reads the metrics of every process and counts the rows of housekeeping.
func (s *stack) held(ctx context.Context) (held, error) {
	now := held{}
	for name, process := range s.processes {
		child, _ := process.current()
		if err := now.addMetrics(ctx, name, child.Admin); err != nil {
			return nil, err
		}
	}
	err := dev.OnDatabase(ctx, s.databaseURL, func(connection *pgx.Conn) error {
		var windows, changes, records, sessions float64
		err := connection.QueryRow(ctx, housekeeping).Scan(&windows, &changes, &records, &sessions)
		now["rate windows"], now["changes of totals"], now["expired records"], now["expired sessions"] = windows, changes, records, sessions
		return err
	})
	return now, err
}

func (h held) addMetrics(ctx context.Context, process, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		value, _ := strconv.ParseFloat(text, 64)
		switch name {
		case "process_resident_memory_bytes":
			h[process+" MiB"] = value / (1 << 20)
		case "go_goroutines":
			h[process+" goroutines"] = value
		case "process_open_fds":
			h[process+" descriptors"] = value
		}
	}
	return nil
}

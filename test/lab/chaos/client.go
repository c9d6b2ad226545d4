package chaos

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"despacho/test/lab/cluster"
)

const (
	// callTimeout bounds one request: longer than a process is paused.
	callTimeout = 20 * time.Second
	// Waits between two tries grow from firstWait to longestWait.
	firstWait, longestWait = 200 * time.Millisecond, 2 * time.Second
)

// client is a client of the API or the panel API. It keeps its connections and never repeats a
// request by itself.
type client struct {
	s           *stack
	rng         *rand.Rand
	connections map[string]*cluster.Connection
}

func (s *stack) newClient(rng *rand.Rand) *client {
	return &client{s: s, rng: rng, connections: map[string]*cluster.Connection{}}
}

func (c *client) close() {
	for _, connection := range c.connections {
		connection.Close()
	}
}

// at is the client's connection to an address.
func (c *client) at(address string) *cluster.Connection {
	if c.connections[address] == nil {
		c.connections[address] = cluster.NewConnection(address)
	}
	return c.connections[address]
}

// call sends a request once, to the address the balancer picks.
func (c *client) call(ctx context.Context, r cluster.Request) (*cluster.Answer, error) {
	limited, cancel := context.WithTimeout(ctx, c.s.options.scaledTimeout(callTimeout))
	defer cancel()
	c.s.report.count("requests")
	address := c.s.balancer.pick()
	connection := c.at(address)
	connection.DropIfClosed()
	answer, err := connection.Try(limited, r)
	c.s.report.checked(invariantClean, 1)
	switch {
	case err != nil:
		c.s.report.count("requests without an answer")
		c.s.report.recordLost("%s %s at %s: %v", r.Method, r.Path, address, err)
	case answer.Status == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "":
		c.s.report.count("answers 503 with Retry-After")
	case answer.Status >= http.StatusInternalServerError:
		c.s.report.count("answers 5xx of another kind")
		c.s.report.violate(invariantClean, r.Method+" "+r.Path, "answered %d: %.300s", answer.Status, answer.Body)
	}
	return answer, err
}

// backoff is how long to wait before the next try: each time longer, and no less than the service
// asked for.
type backoff struct{ wait time.Duration }

func (b *backoff) next(rng *rand.Rand, answer *cluster.Answer) time.Duration {
	b.wait = min(max(2*b.wait, firstWait), longestWait)
	wait := time.Duration(float64(b.wait) * (0.5 + rng.Float64()/2))
	if answer == nil {
		return wait
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		wait = max(wait, time.Duration(seconds)*time.Second)
	}
	return wait
}

// codeOf is the code of an error response.
func codeOf(answer *cluster.Answer) string {
	var body struct{ Code string }
	_ = json.Unmarshal(answer.Body, &body) // another body has no code
	return body.Code
}

// think waits a random think time.
func (c *client) think(ctx context.Context) error {
	return cluster.Sleep(ctx, time.Duration(c.rng.Int64N(int64(400*time.Millisecond))))
}

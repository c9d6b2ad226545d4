package api

import (
	"time"

	"github.com/gin-gonic/gin"
)

// maxDrain is how many times the delay Drain may take while requests still come.
const maxDrain = 3

// Drain prepares the shutdown: requests are still served, but /readyz fails so that load balancers
// stop sending them, requests that wait for events respond at once, and every response closes its
// connection. It returns after the delay and once no request came for a third of it, because a
// balancer may notice late. The listener can then be closed without cutting a request off.
func (s *Server) Drain(delay time.Duration) {
	s.draining.Store(true)
	s.events.StopWaiting()
	end := time.Now().Add(maxDrain * delay)
	for wait := delay; wait > 0 && time.Now().Before(end); {
		time.Sleep(wait)
		wait = delay/3 - time.Since(time.Unix(0, s.lastRequest.Load()))
	}
}

// closeWhenDraining closes each kept-alive connection after a response. Closing an idle connection
// could lose a request that the client is sending.
func (s *Server) closeWhenDraining(c *gin.Context) {
	if !s.draining.Load() {
		return
	}
	c.Header("Connection", "close")
	if !isProbe(c) {
		s.lastRequest.Store(time.Now().UnixNano())
	}
}

package api

import "github.com/gin-gonic/gin"

// Drain prepares the shutdown: requests are still served, but /readyz fails so that load balancers
// stop sending them, and every response closes its connection. Once no requests arrive, the
// listener can be closed without cutting one off.
func (s *Server) Drain() { s.draining.Store(true) }

// closeWhenDraining closes each kept-alive connection after a response. Closing an idle connection
// could lose a request that the client is sending.
func (s *Server) closeWhenDraining(c *gin.Context) {
	if s.draining.Load() {
		c.Header("Connection", "close")
	}
}

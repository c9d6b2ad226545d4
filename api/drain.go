package api

import "github.com/gin-gonic/gin"

// Drain is the beginning of the end: requests are still served, but /readyz tells balancers to send
// none, and every answer asks the client to take its next request to a new connection. Once nobody
// comes any more the listener can be closed without cutting anybody off.
func (s *Server) Drain() { s.draining.Store(true) }

// closeWhenDraining ends kept connections one by one, each after an answer: closing an idle one
// could meet a request that is on its way.
func (s *Server) closeWhenDraining(c *gin.Context) {
	if s.draining.Load() {
		c.Header("Connection", "close")
	}
}

package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"despacho/internal/riderpage"
)

// showRiderPage shows the rider's app, which has scripts. The page has no personal data: it is
// the same for everybody, and asks /rider/api for the rest.
func (s *Server) showRiderPage(c *gin.Context) error {
	c.Header("Content-Security-Policy", riderpage.Policy)
	sendContent(c, http.StatusOK, "text/html; charset=utf-8", s.riderPage.HTML)
	return nil
}

// serveRiderWorker serves the service worker. It is for the page's own address too, which is
// shorter than that of the folder that the worker is in.
func (s *Server) serveRiderWorker(c *gin.Context) error {
	c.Header("Cache-Control", "no-cache")
	c.Header("Service-Worker-Allowed", riderpage.Root)
	c.Header("Content-Security-Policy", riderpage.Policy)
	sendContent(c, http.StatusOK, riderpage.WorkerType, s.riderPage.Worker)
	compressPage(c)
	return nil
}

func (s *Server) serveRiderManifest(c *gin.Context) error {
	c.Header("Cache-Control", "no-cache")
	sendContent(c, http.StatusOK, riderpage.ManifestType, s.riderPage.Manifest)
	return nil
}

// serveRiderAsset is servePanelAsset for the rider's page.
func (s *Server) serveRiderAsset(c *gin.Context) error {
	content, kind, current, known := s.riderPage.Asset(c.Param("version"), c.Param("name"))
	if !known {
		return s.unknownRoute(c)
	}
	sendAsset(c, kind, content, current)
	return nil
}

package api

import (
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/operators"
	"despacho/models"
)

type branchView struct {
	identified
	Name      string    `json:"name"`
	Main      bool      `json:"main"`
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"created_at"`
}

func viewOfBranch(b *models.Branch) branchView {
	return branchView{identified: identified{b.ID}, Name: b.Name, Main: b.Main, Active: b.Active, CreatedAt: b.CreatedAt.UTC()}
}

func (s *Server) listBranches(c *gin.Context) error {
	return respondList(c, viewOfBranch, s.operators.Branches)
}

func (s *Server) createBranch(c *gin.Context) error {
	return respondCreate(c, viewOfBranch, s.operators.CreateBranch)
}

func (s *Server) changeBranch(c *gin.Context) error {
	return respondChange(c, viewOfBranch, operators.ErrBranchNotFound, s.operators.ChangeBranch)
}

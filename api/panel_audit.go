package api

import (
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/models"
)

type auditView struct {
	ID      uuid.UUID          `json:"id"`
	At      time.Time          `json:"at"`
	Action  models.AuditAction `json:"action"`
	User    *namedRef          `json:"user"`
	Key     *namedRef          `json:"key"`
	Address *string            `json:"address"`
	Subject *namedRef          `json:"subject"`
	Detail  *string            `json:"detail"`
}

type auditPage struct {
	Entries []auditView `json:"entries"`
	Total   int64       `json:"total"`
	Page    int         `json:"page"`
	Limit   int         `json:"limit"`
}

func viewOfAudit(e *models.AuditView) auditView {
	return auditView{
		ID: e.ID, At: e.At.UTC(), Action: e.Action, User: refTo(e.UserID, e.UserName), Key: refTo(e.KeyID, e.KeyName),
		Address: e.Address, Subject: refTo(e.SubjectID, e.SubjectName), Detail: e.Detail,
	}
}

// listAudit lists the operator's audit log, newest first.
func (s *Server) listAudit(c *gin.Context) error {
	var wrong apperror.Fields
	query := operators.AuditQuery{
		Action: models.AuditAction(textParameter(c, "action", &wrong)),
		UserID: idParameter(c, "user_id", &wrong), KeyID: idParameter(c, "key_id", &wrong),
		From: dayParameter(c, "from_date", &wrong), To: dayParameter(c, "to_date", &wrong),
	}
	page := countParameter(c, "page", 1, &wrong)
	limit := min(countParameter(c, "limit", defaultPageSize, &wrong), orders.MaxPageSize)
	if query.Action != "" && !slices.Contains(models.AuditActions, query.Action) {
		wrong.Add("action", "no es una acción del registro")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	entries, total, err := s.operators.AuditLog(c.Request.Context(), caller(c).Operator, query, page, limit)
	if err != nil {
		return err
	}
	return ok(c, auditPage{Entries: views(entries, viewOfAudit), Total: total, Page: page, Limit: limit})
}

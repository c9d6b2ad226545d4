package operators

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/models"
)

// AuditQuery selects entries of the audit log. From and To are days in the operator's time zone,
// both included.
type AuditQuery struct {
	Action   models.AuditAction
	UserID   *uuid.UUID
	KeyID    *uuid.UUID
	From, To *time.Time
}

// of narrows a query to the selected entries of an operator.
func (q AuditQuery) of(operator *models.Operator, query *gorm.DB) *gorm.DB {
	query = query.Where("audit_log.operator_id = ?", operator.ID)
	if q.Action != "" {
		query = query.Where("audit_log.action = ?", q.Action)
	}
	if q.UserID != nil {
		query = query.Where("audit_log.user_id = ?", *q.UserID)
	}
	if q.KeyID != nil {
		query = query.Where("audit_log.key_id = ?", *q.KeyID)
	}
	if q.From != nil {
		query = query.Where("audit_log.at >= ?", clock.DayStart(*q.From, operator.TimeZone()))
	}
	if q.To != nil {
		query = query.Where("audit_log.at < ?", clock.DayStart(q.To.AddDate(0, 0, 1), operator.TimeZone()))
	}
	return query
}

// auditSubjects are the tables that an entry's subject may be in, with the column that names it.
var auditSubjects = [][2]string{
	{"users", "email"}, {"api_keys", "name"}, {"stores", "name"}, {"riders", "name"}, {"branches", "name"}, {"sizes", "code"},
	{"risk_zones", "name"}, {"locations", "name"}, {"webhooks", "url"}, {"orders", "guide_code"},
}

var auditColumns = db.Columns[models.AuditEntry]("audit_log")

// auditViews queries the selected entries with the names of those they are about, newest first.
func (s *Service) auditViews(ctx context.Context, operator *models.Operator, query AuditQuery) *gorm.DB {
	names := make([]string, len(auditSubjects))
	views := s.db.Query(ctx).Table("audit_log").
		Joins("LEFT JOIN users AS actors ON actors.id = audit_log.user_id").
		Joins("LEFT JOIN api_keys AS actor_keys ON actor_keys.id = audit_log.key_id")
	for i, subject := range auditSubjects {
		alias := "subject_" + subject[0]
		names[i] = alias + "." + subject[1]
		views = views.Joins("LEFT JOIN " + subject[0] + " AS " + alias + " ON " + alias + ".id = audit_log.subject_id")
	}
	subject := "COALESCE(" + strings.Join(names, ", ") + ") AS subject_name"
	return query.of(operator, views).Select(auditColumns + ", actors.name AS user_name, actor_keys.name AS key_name, " + subject).
		Order("audit_log.at DESC, audit_log.id DESC")
}

// AuditLog reads a page of an operator's audit log, newest first, and the total count.
func (s *Service) AuditLog(
	ctx context.Context, operator *models.Operator, query AuditQuery, page, limit int,
) (views []models.AuditView, total int64, err error) {
	if err = query.of(operator, s.db.Query(ctx).Table("audit_log")).Count(&total).Error; err != nil {
		return nil, 0, err
	}
	views = []models.AuditView{}
	err = s.auditViews(ctx, operator, query).Offset((page - 1) * limit).Limit(limit).Find(&views).Error
	return views, total, err
}

// auditBatch is how many entries are read at once for an export.
const auditBatch = 500

// EachAudit calls use with every selected entry, newest first, in batches.
func (s *Service) EachAudit(
	ctx context.Context, operator *models.Operator, query AuditQuery, use func([]models.AuditView) error,
) error {
	views := s.auditViews(ctx, operator, query)
	for {
		var entries []models.AuditView
		err := views.Limit(auditBatch).Find(&entries).Error
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := use(entries); err != nil {
			return err
		}
		last := entries[len(entries)-1]
		views = s.auditViews(ctx, operator, query).Where("(audit_log.at, audit_log.id) < (?, ?)", last.At, last.ID)
	}
}

package db

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"despacho/internal/principal"
	"despacho/models"
)

// DefaultAuditRetention is how long an entry of the audit log is kept unless configured otherwise.
const DefaultAuditRetention = 365 * 24 * time.Hour

// Audit adds an entry to the audit log, in the transaction of the change that it records. Who did
// it and from where comes from the context.
func (d *DB) Audit(ctx context.Context, entry models.AuditEntry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	entry.ID, entry.KeepUntil = id, entry.At.Add(d.auditRetention)
	who := principal.From(ctx)
	if entry.UserID == nil {
		entry.UserID = who.UserID
	}
	entry.KeyID = who.KeyID
	if who.Address != "" {
		entry.Address = &who.Address
	}
	return d.with(ctx).Create(&entry).Error
}

// AuditFilter filters the audit log. From is included, Until excluded.
type AuditFilter struct {
	Action      models.AuditAction
	UserID      *uuid.UUID
	KeyID       *uuid.UUID
	From, Until *time.Time
}

func (f AuditFilter) apply(query *gorm.DB) *gorm.DB {
	if f.Action != "" {
		query = query.Where("audit_log.action = ?", f.Action)
	}
	if f.UserID != nil {
		query = query.Where("audit_log.user_id = ?", *f.UserID)
	}
	if f.KeyID != nil {
		query = query.Where("audit_log.key_id = ?", *f.KeyID)
	}
	if f.From != nil {
		query = query.Where("audit_log.at >= ?", *f.From)
	}
	if f.Until != nil {
		query = query.Where("audit_log.at < ?", *f.Until)
	}
	return query
}

// auditSubjects are the tables that an entry's subject may be in, with the column that names it.
var auditSubjects = [][2]string{
	{"users", "email"}, {"api_keys", "name"}, {"stores", "name"}, {"riders", "name"}, {"branches", "name"}, {"sizes", "code"},
	{"risk_zones", "name"}, {"locations", "name"}, {"webhooks", "url"}, {"orders", "guide_code"},
}

var auditColumns = columnList(tableColumns[models.AuditEntry]("audit_log", ""))

func (d *DB) auditViews(ctx context.Context, operatorID uuid.UUID, filter AuditFilter) *gorm.DB {
	names := make([]string, len(auditSubjects))
	query := d.with(ctx).Table("audit_log").
		Joins("LEFT JOIN users AS actors ON actors.id = audit_log.user_id").
		Joins("LEFT JOIN api_keys AS actor_keys ON actor_keys.id = audit_log.key_id")
	for i, subject := range auditSubjects {
		alias := "subject_" + subject[0]
		names[i] = alias + "." + subject[1]
		query = query.Joins("LEFT JOIN " + subject[0] + " AS " + alias + " ON " + alias + ".id = audit_log.subject_id")
	}
	return filter.apply(query).Where("audit_log.operator_id = ?", operatorID).
		Select(auditColumns + ", actors.name AS user_name, actor_keys.name AS key_name, COALESCE(" + strings.Join(names, ", ") + ") AS subject_name").
		Order("audit_log.at DESC, audit_log.id DESC")
}

// AuditLog reads a page of an operator's audit log, newest first, and the total count.
func (d *DB) AuditLog(ctx context.Context, operatorID uuid.UUID, filter AuditFilter, page, limit int) ([]models.AuditView, int64, error) {
	var total int64
	err := filter.apply(d.with(ctx).Model(&models.AuditEntry{})).Where("audit_log.operator_id = ?", operatorID).Count(&total).Error
	if err != nil {
		return nil, 0, err
	}
	views := []models.AuditView{}
	err = d.auditViews(ctx, operatorID, filter).Offset((page - 1) * limit).Limit(limit).Find(&views).Error
	return views, total, err
}

// AuditLogAfter reads the entries of an operator's audit log that follow a position, newest first.
// The zero position is the beginning.
func (d *DB) AuditLogAfter(ctx context.Context, operatorID uuid.UUID, filter AuditFilter, after Position, limit int) ([]models.AuditView, error) {
	query := d.auditViews(ctx, operatorID, filter)
	if !after.At.IsZero() {
		query = query.Where("(audit_log.at, audit_log.id) < (?, ?)", after.At, after.ID)
	}
	views := []models.AuditView{}
	err := query.Limit(limit).Find(&views).Error
	return views, err
}

// ChangedColumns names the columns in which two versions of a row differ.
func ChangedColumns[T any](before, after *T) []string {
	fields, err := schema.Parse(before, &sync.Map{}, schema.NamingStrategy{})
	if err != nil {
		panic(err)
	}
	var changed []string
	for _, name := range fields.DBNames {
		field := fields.FieldsByDBName[name]
		old, _ := field.ValueOf(context.Background(), reflect.ValueOf(before))
		now, _ := field.ValueOf(context.Background(), reflect.ValueOf(after))
		if !reflect.DeepEqual(old, now) {
			changed = append(changed, name)
		}
	}
	return changed
}

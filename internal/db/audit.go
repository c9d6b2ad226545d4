package db

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/google/uuid"
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

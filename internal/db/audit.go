package db

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/schema"

	"despacho/internal/apperror"
	"despacho/internal/clock"
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
	if entry.Action.Repeatable() {
		if err := d.limitChanges(ctx, who, entry.At); err != nil {
			return err
		}
	}
	if who.Address != "" {
		entry.Address = &who.Address
	}
	return d.with(ctx).Create(&entry).Error
}

// maxChanges is how many changes of what is set up one user or key may make in a day, in UTC: every
// one stays in the audit log, and has every process read the operator's settings again.
const maxChanges = 1000

// limitChanges counts a change in the transaction that makes it, so that one that is refused counts
// nothing.
func (d *DB) limitChanges(ctx context.Context, who principal.Principal, now time.Time) error {
	actor := who.UserID
	if actor == nil {
		actor = who.KeyID
	}
	if actor == nil {
		return nil
	}
	made, err := d.CountToday(ctx, "changes:"+actor.String(), now)
	if err == nil && made > maxChanges {
		return apperror.Limited("too_many_requests", "Hizo demasiados cambios en un día: vuelva a intentarlo mañana.",
			clock.UntilNextDay(now))
	}
	return err
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

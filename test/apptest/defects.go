package apptest

import (
	"errors"
	"strings"
	"sync/atomic"

	"gorm.io/gorm"
)

// Defect panics once, after a statement that has a text was sent to the database, as a defect in
// the code around that statement does.
type Defect struct{ text atomic.Pointer[string] }

// PanicAfter makes the next statement with the text panic.
func (d *Defect) PanicAfter(text string) { d.text.Store(&text) }

// Happened reports whether the statement has panicked.
func (d *Defect) Happened() bool { return d.text.Load() == nil }

// Name identifies the plugin to GORM.
func (*Defect) Name() string { return "apptest:defect" }

// Initialize has every kind of statement looked at.
func (d *Defect) Initialize(database *gorm.DB) error {
	on := database.Callback()
	return errors.Join(
		on.Create().Register(d.Name(), d.look), on.Query().Register(d.Name(), d.look), on.Update().Register(d.Name(), d.look),
		on.Delete().Register(d.Name(), d.look), on.Row().Register(d.Name(), d.look), on.Raw().Register(d.Name(), d.look),
	)
}

func (d *Defect) look(statement *gorm.DB) {
	text := d.text.Load()
	if text != nil && strings.Contains(statement.Statement.SQL.String(), *text) && d.text.CompareAndSwap(text, nil) {
		panic("defect")
	}
}

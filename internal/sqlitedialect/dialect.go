// Package sqlitedialect is GORM's dialect of SQLite for a pool of any driver. gorm.io/driver/sqlite
// links the C driver as well, even if another one is used: where cgo is on, as it must be for the
// race detector, that driver is compiled and every test binary is linked by the C linker.
package sqlitedialect

import (
	"strconv"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// New returns the dialect for a pool of connections to SQLite 3.35 or later.
func New(pool gorm.ConnPool) gorm.Dialector { return dialector{pool} }

type dialector struct{ pool gorm.ConnPool }

func (dialector) Name() string { return "sqlite" }

func (d dialector) Initialize(db *gorm.DB) error {
	db.ConnPool = d.pool
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{
		CreateClauses: []string{"INSERT", "VALUES", "ON CONFLICT", "RETURNING"},
		UpdateClauses: []string{"UPDATE", "SET", "FROM", "WHERE", "RETURNING"},
		DeleteClauses: []string{"DELETE", "FROM", "WHERE", "RETURNING"},
	})
	db.ClauseBuilders["LIMIT"] = buildLimit
	db.ClauseBuilders["FOR"] = func(clause.Clause, clause.Builder) {} // SQLite locks no rows
	return nil
}

// buildLimit writes a LIMIT before every OFFSET, without which SQLite takes none.
func buildLimit(c clause.Clause, builder clause.Builder) {
	limit, ok := c.Expression.(clause.Limit)
	if !ok {
		return
	}
	count := -1
	if limit.Limit != nil {
		count = *limit.Limit
	}
	if count >= 0 || limit.Offset > 0 {
		builder.WriteString("LIMIT " + strconv.Itoa(count))
	}
	if limit.Offset > 0 {
		builder.WriteString(" OFFSET " + strconv.Itoa(limit.Offset))
	}
}

// DefaultValueOf is the value of a column that an insert of several rows leaves out in some of
// them.
func (dialector) DefaultValueOf(*schema.Field) clause.Expression { return clause.Expr{SQL: "NULL"} }

func (dialector) BindVarTo(writer clause.Writer, _ *gorm.Statement, _ any) { _ = writer.WriteByte('?') }

// QuoteTo quotes a name; one of two parts is a table and its column.
func (dialector) QuoteTo(writer clause.Writer, name string) {
	_, _ = writer.WriteString("`" + strings.ReplaceAll(strings.ReplaceAll(name, "`", "``"), ".", "`.`") + "`")
}

func (dialector) Explain(statement string, values ...any) string {
	return logger.ExplainSQL(statement, nil, `"`, values...)
}

// DataTypeOf and Migrator are for GORM's migrations, which are not used.
func (dialector) DataTypeOf(field *schema.Field) string { return string(field.DataType) }

func (dialector) Migrator(*gorm.DB) gorm.Migrator { return nil }

func (dialector) SavePoint(tx *gorm.DB, name string) error { return tx.Exec("SAVEPOINT " + name).Error }

func (dialector) RollbackTo(tx *gorm.DB, name string) error {
	return tx.Exec("ROLLBACK TO SAVEPOINT " + name).Error
}

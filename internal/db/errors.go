package db

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	sqlitedriver "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// ErrNotFound means that no row matched.
var ErrNotFound = gorm.ErrRecordNotFound

// requireOneRow turns an update that matched no row into ErrNotFound.
func requireOneRow(result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return ErrNotFound
	}
	return result.Error
}

// IsNotFound reports whether err says that no row matched.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// IsDuplicate reports whether err is a violated unique constraint, in either dialect.
func IsDuplicate(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505"
	}
	var lite *sqlitedriver.Error
	if errors.As(err, &lite) {
		return lite.Code() == sqlitelib.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlitelib.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

// IsMissingReference reports whether err is a violated foreign key, in either dialect.
func IsMissingReference(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23503"
	}
	var lite *sqlitedriver.Error
	return errors.As(err, &lite) && lite.Code() == sqlitelib.SQLITE_CONSTRAINT_FOREIGNKEY
}

package dev

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"despacho/internal/sqlitefile"
)

// The files of `despacho dev` in its directory.
const (
	DatabaseFile = "despacho.db"
	TemporalFile = "temporal.db"
	TemporalLog  = "temporal.log"
	FilesDir     = "files"
)

// Backup copies the state of `despacho dev`, running or not. The copy is a directory like the
// original.
type Backup struct {
	// Dir is the directory of dev.
	Dir string
	// Database is the service's SQLite file. Temporal is that of the development server; empty where
	// another server is used.
	Database, Temporal string
	// Files is the directory of the photos; empty where they are in a bucket.
	Files string
}

// Into makes the directory and copies everything into it. The databases come first: what they refer
// to, such as a photo, was there before.
func (b Backup) Into(ctx context.Context, directory string) (err error) {
	for _, path := range []*string{&b.Dir, &b.Database, &b.Temporal, &b.Files, &directory} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	// Inside of the original it would become part of the next copy.
	if relative, err := filepath.Rel(b.Dir, directory); err == nil && filepath.IsLocal(relative) {
		return fmt.Errorf("%s is inside of %s: choose another place for the copy", directory, b.Dir)
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(directory))
		}
	}()
	if err := b.copyDatabases(ctx, directory); err != nil {
		return err
	}
	if b.Files != "" {
		if err := copyDirectory(b.Files, filepath.Join(directory, FilesDir), isUnfinished); err != nil {
			return err
		}
	}
	return copyDirectory(b.Dir, directory, b.isCopiedApart)
}

// copyDatabases copies both databases as of one moment: while nothing is written to the service's,
// no workflow gets ahead of its order. Requests that write wait meanwhile.
func (b Backup) copyDatabases(ctx context.Context, directory string) error {
	database, err := openSQLiteFile(b.Database, url.Values{"_txlock": {"immediate"}})
	if err != nil {
		return err
	}
	defer database.Close()
	lock, err := database.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("the database %s: %w", b.Database, err)
	}
	defer func() { _ = lock.Rollback() }()
	if b.Temporal != "" {
		if err := copySQLite(ctx, b.Temporal, filepath.Join(directory, TemporalFile)); err != nil {
			return err
		}
	}
	return copySQLite(ctx, b.Database, filepath.Join(directory, DatabaseFile))
}

// openSQLiteFile opens a file that must exist, and waits for others who lock it.
func openSQLiteFile(file string, parameters url.Values) (*sql.DB, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	parameters.Set("mode", "rw")
	parameters.Set("_pragma", "busy_timeout(30000)")
	return sql.Open("sqlite", sqlitefile.URI(file, parameters))
}

// copySQLite copies a database as one transaction sees it, whoever writes to it.
func copySQLite(ctx context.Context, file, to string) error {
	database, err := openSQLiteFile(file, url.Values{})
	if err != nil {
		return err
	}
	_, err = database.ExecContext(ctx, "VACUUM INTO ?", to)
	if err = errors.Join(err, database.Close()); err != nil {
		return fmt.Errorf("copying %s: %w", file, err)
	}
	copied, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(copied.Sync(), copied.Close())
}

// isUnfinished reports whether a file is a photo that is being written.
func isUnfinished(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// isCopiedApart reports whether something in dev's directory is a database or the photos, which are
// copied in their own way, or a log.
func (b Backup) isCopiedApart(path string) bool {
	if path == b.Files || filepath.Base(path) == TemporalLog {
		return true
	}
	for _, database := range []string{b.Database, b.Temporal} {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if path == database+suffix {
				return true
			}
		}
	}
	return false
}

// copyDirectory copies the files below a directory with their modes and times, except those that
// are left out. A file that is removed meanwhile is not copied; a directory that is not there is
// empty.
func copyDirectory(from, to string, leftOut func(path string) bool) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case relative != "." && leftOut(path) && entry.IsDir():
			return filepath.SkipDir
		case relative != "." && leftOut(path):
			return nil
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case !entry.Type().IsRegular():
			return nil
		}
		if err := copyFile(path, target); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Sync(), target.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

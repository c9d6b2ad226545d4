package db

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/models"
)

var errUnbalanced = errors.New("db: the postings of a ledger entry do not sum to zero")

// InsertLedgerEntries writes entries of the ledger with their postings.
func (d *DB) InsertLedgerEntries(ctx context.Context, entries ...models.LedgerEntry) error {
	if len(entries) == 0 {
		return nil
	}
	var postings []models.Posting
	for i := range entries {
		entry := &entries[i]
		if entry.ID == uuid.Nil {
			entry.ID = uuid.New()
		}
		var sum money.Cents
		for _, p := range entry.Postings {
			p.EntryID, p.OperatorID, p.Day = entry.ID, entry.OperatorID, entry.Day
			sum, postings = sum+p.Amount, append(postings, p)
		}
		if sum != 0 || len(entry.Postings) == 0 {
			return errUnbalanced
		}
	}
	if err := d.Insert(ctx, entries); err != nil {
		return err
	}
	return d.Insert(ctx, postings)
}

package db

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/models"
)

var errUnbalanced = errors.New("db: the postings of a ledger entry do not sum to zero")

// InsertLedgerEntry writes an entry of the ledger with its postings.
func (d *DB) InsertLedgerEntry(ctx context.Context, entry *models.LedgerEntry) error {
	if entry.ID == uuid.Nil {
		entry.ID = uuid.New()
	}
	var sum money.Cents
	for i := range entry.Postings {
		p := &entry.Postings[i]
		p.EntryID, p.OperatorID, p.Day = entry.ID, entry.OperatorID, entry.Day
		sum += p.Amount
	}
	if sum != 0 || len(entry.Postings) == 0 {
		return errUnbalanced
	}
	if err := d.Insert(ctx, entry); err != nil {
		return err
	}
	return d.Insert(ctx, entry.Postings)
}

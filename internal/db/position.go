package db

import (
	"time"

	"github.com/google/uuid"
)

// Position is a row's place in a list that is sorted by a time and the id and read in pages. The
// next page begins after it.
type Position struct {
	At time.Time
	ID uuid.UUID
}

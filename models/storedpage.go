package models

import (
	"time"

	"github.com/google/uuid"
)

// StoredPage is the page that answers a form of the panel, until the browser that was redirected to
// it asks for it.
type StoredPage struct {
	ID        uuid.UUID
	SessionID uuid.UUID
	Status    int
	// Once means that the page shows a secret and is shown once.
	Once bool
	// Content is encrypted.
	Content   []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

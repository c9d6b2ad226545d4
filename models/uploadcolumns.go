package models

import "github.com/google/uuid"

// UploadColumns are what the columns of somebody's own files of orders are.
type UploadColumns struct {
	// OwnerID is an operator or a store of it.
	OwnerID    uuid.UUID `gorm:"primaryKey"`
	OperatorID uuid.UUID
	// Headings is a JSON object of the headings, normalized, with the names of the columns.
	Headings string
}

package models

import (
	"database/sql/driver"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsoncolumn"
)

// RiderLoad is a load that a rider has confirmed.
type RiderLoad struct {
	// ID is what the phone has given it, so that a repeated confirmation is the same.
	ID         uuid.UUID
	OperatorID uuid.UUID
	RiderID    uuid.UUID
	// Confirmed is how many of the rider's packages were scanned, Missing how many were not.
	Confirmed, Missing int
	Extra              ExtraPackages `gorm:"type:text"`
	CreatedAt          time.Time
}

// ExtraPackage is what was scanned and is not the rider's.
type ExtraPackage struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ExtraPackages are the packages of a load that are not the rider's, in a column as JSON.
type ExtraPackages []ExtraPackage

// Scan implements sql.Scanner.
func (e *ExtraPackages) Scan(stored any) error { return jsoncolumn.Scan(stored, e) }

// Value implements driver.Valuer.
func (e ExtraPackages) Value() (driver.Value, error) { return jsoncolumn.Value(e, len(e) == 0) }

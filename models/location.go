package models

import "github.com/google/uuid"

// Country is a country of the catalog.
type Country struct {
	Code         string `gorm:"primaryKey"`
	Name         string
	PhonePrefix  string
	Currency     string
	Timezone     string
	DocumentName string
}

// Location is a country, a city (a province), a district or a zone of the catalog.
type Location struct {
	ID           uuid.UUID
	CountryCode  string
	Type         string
	Name         string
	Alias        string
	Ubigeo       *string
	UbigeoReniec *string
	ParentID     *uuid.UUID
	City         string
	Department   string
	Lat          *float64
	Lng          *float64
}

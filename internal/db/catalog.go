package db

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"despacho/internal/catalog"
	"despacho/models"
)

// LoadCatalog upserts countries and locations. It may be repeated.
func (d *DB) LoadCatalog(ctx context.Context, countries []catalog.Country, locations []catalog.Location) error {
	countryRows := make([]models.Country, len(countries))
	for i, c := range countries {
		countryRows[i] = models.Country{Code: c.Code, Name: c.Name, PhonePrefix: c.PhonePrefix, Currency: c.Currency, Timezone: c.Timezone, DocumentName: c.DocumentName}
	}
	// The catalog lists parents before children, as the foreign key requires.
	locationRows := make([]models.Location, len(locations))
	for i, l := range locations {
		locationRows[i] = models.Location{
			ID: l.ID, CountryCode: l.CountryCode, Type: string(l.Type), Name: l.Name,
			Ubigeo: textOrNull(l.Ubigeo), UbigeoReniec: textOrNull(l.Reniec), ParentID: l.ParentID,
			City: l.City, Department: l.Department, Lat: l.Lat, Lng: l.Lng,
		}
	}
	const batch = 500
	return d.InTx(ctx, func(tx *DB) error {
		for _, rows := range []any{countryRows, locationRows} {
			if err := tx.with(ctx).Clauses(clause.OnConflict{UpdateAll: true}).CreateInBatches(rows, batch).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// Catalog reads every country and location.
func (d *DB) Catalog(ctx context.Context) ([]catalog.Country, []catalog.Location, error) {
	var countryRows []models.Country
	if err := d.with(ctx).Order("code").Find(&countryRows).Error; err != nil {
		return nil, nil, err
	}
	countries := make([]catalog.Country, len(countryRows))
	for i, c := range countryRows {
		countries[i] = catalog.Country{Code: c.Code, Name: c.Name, PhonePrefix: c.PhonePrefix, Currency: c.Currency, Timezone: c.Timezone, DocumentName: c.DocumentName}
	}
	locations, err := d.locations(ctx)
	return countries, locations, err
}

// locations reads every location, without GORM's Find: they are by far the most rows that a process
// reads before it serves.
func (d *DB) locations(ctx context.Context) (locations []catalog.Location, err error) {
	rows, err := d.with(ctx).Raw(`SELECT id, country_code, type, name, COALESCE(ubigeo, ''), COALESCE(ubigeo_reniec, ''), parent_id, city, department, lat, lng
		FROM locations`).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var l catalog.Location
		if err := rows.Scan(&l.ID, &l.CountryCode, &l.Type, &l.Name, &l.Ubigeo, &l.Reniec, &l.ParentID, &l.City, &l.Department, &l.Lat, &l.Lng); err != nil {
			return nil, err
		}
		locations = append(locations, l)
	}
	return locations, rows.Err()
}

// CatalogSize counts locations; it changes whenever a zone is added.
func (d *DB) CatalogSize(ctx context.Context) (int64, error) {
	var count int64
	err := d.with(ctx).Model(&models.Location{}).Count(&count).Error
	return count, err
}

// coveredLocations lists the locations in a country that operators cover, without suspended
// operators.
func (d *DB) coveredLocations(ctx context.Context, countryCode string) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := d.with(ctx).Raw(`
		SELECT DISTINCT c.location_id FROM coverage c
		JOIN operators o ON o.id = c.operator_id
		JOIN locations l ON l.id = c.location_id
		WHERE o.suspended_at IS NULL AND l.country_code = ?`, countryCode).Scan(&ids).Error
	return ids, err
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

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
		countryRows[i] = models.Country{Code: c.Code, Name: c.Name, PhonePrefix: c.PhonePrefix, Currency: c.Currency,
			Timezone: c.Timezone, DocumentName: c.DocumentName}
	}
	// The catalog lists parents before children, as the foreign key requires.
	locationRows := make([]models.Location, len(locations))
	for i, l := range locations {
		locationRows[i] = models.Location{
			ID: l.ID, CountryCode: l.CountryCode, Type: string(l.Type), Name: l.Name, Alias: l.Alias,
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

// Zones reads the zones of all districts.
func (d *DB) Zones(ctx context.Context) ([]catalog.Location, error) {
	var rows []models.Location
	if err := d.with(ctx).Where("type = ?", catalog.TypeZone).Find(&rows).Error; err != nil {
		return nil, err
	}
	zones := make([]catalog.Location, len(rows))
	for i, l := range rows {
		zones[i] = catalog.Location{
			ID: l.ID, Type: catalog.TypeZone, Name: l.Name, Alias: l.Alias, ParentID: l.ParentID, CountryCode: l.CountryCode,
			City: l.City, Department: l.Department, Lat: l.Lat, Lng: l.Lng,
		}
	}
	return zones, nil
}

func (d *DB) hasLocation(ctx context.Context, id uuid.UUID) (bool, error) {
	var count int64
	err := d.with(ctx).Model(&models.Location{}).Where("id = ?", id).Count(&count).Error
	return count > 0, err
}

// CoveredLocations lists the locations in a country that operators cover, without suspended
// operators. Anybody may ask: it looks once at each location, however much is covered.
func (d *DB) CoveredLocations(ctx context.Context, countryCode string) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := d.with(ctx).Raw(`SELECT id FROM locations WHERE country_code = ? AND EXISTS (
		SELECT 1 FROM coverage c JOIN operators o ON o.id = c.operator_id
		WHERE c.location_id = locations.id AND o.suspended_at IS NULL)`,
		countryCode).Scan(&ids).Error
	return ids, err
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

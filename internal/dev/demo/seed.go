package demo

import (
	"context"
	"fmt"
	"image/color"
	"time"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/internal/photos"
	"despacho/internal/textnorm"
	"despacho/models"
)

const country = "PE"

// Places of the demo: all of Lima is covered, Cusco is not, and one part of San Juan de Lurigancho
// is marked risky.
const (
	limaProvince    = "1501"
	coveredUbigeo   = "150122" // Miraflores
	uncoveredUbigeo = "080101" // Cusco
	riskUbigeo      = "150132" // San Juan de Lurigancho
	riskWords       = "huascar"
	riskAddress     = "Av. Próceres de la Independencia 2480, Huáscar"
)

// blueprint is what makes one demo operator different from the others.
type blueprint struct {
	slug      string
	name      string
	plan      models.Plan
	suspended bool
	stores    []string
	riders    []string
	branches  []string
	// colour is that of its logo.
	colour color.NRGBA
}

var blueprints = []blueprint{
	{
		slug: "rayo", name: "Rayo Envíos", plan: models.PlanBusiness,
		stores:   []string{"Zapatería Sol", "Librería Andina"},
		riders:   []string{"Carlos Quispe", "María Huamán", "José Flores"},
		branches: []string{"Central Lince", "Almacén Surco"},
		colour:   color.NRGBA{R: 180, G: 60, B: 20, A: 255},
	},
	{
		slug: "andes", name: "Andes Courier", plan: models.PlanPro,
		stores: []string{"Botica Miramar"}, riders: []string{"Luis Rojas"}, branches: []string{"Central Breña"},
		colour: color.NRGBA{R: 20, G: 90, B: 150, A: 255},
	},
	{
		slug: "chasqui", name: "Chasqui Básico", plan: models.PlanBasic,
		stores: []string{"Bazar Lupita"}, riders: []string{"Ana Torres"}, branches: []string{"Central Comas"},
		colour: color.NRGBA{R: 20, G: 110, B: 70, A: 255},
	},
	{
		slug: "condor", name: "Cóndor Reparto", plan: models.PlanBusiness, suspended: true,
		stores: []string{"Ferretería Vega"}, riders: []string{"Pedro Salas"}, branches: []string{"Central Ate"},
		colour: color.NRGBA{R: 70, G: 60, B: 120, A: 255},
	},
}

var sizes = []struct {
	code, name string
	surcharge  money.Cents
	standard   bool
}{
	{"S", "Pequeño", 0, false}, {"M", "Mediano", 0, true}, {"L", "Grande", 500, false},
}

// id is the same in every development database, so that bookmarks and scripts survive a fresh
// start.
func id(parts ...string) uuid.UUID {
	name := "despacho:demo"
	for _, part := range parts {
		name += ":" + part
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name))
}

// Seed makes sure that the demo operators are there. The credentials of an
// earlier run's document are kept while they are valid; otherwise new ones are made and the old
// ones revoked.
func Seed(ctx context.Context, database *db.DB, logos photos.Store, earlier *Document, now time.Time) ([]Operator, error) {
	for _, b := range blueprints {
		_, err := database.Operator(ctx, b.operatorID())
		isNew := db.IsNotFound(err)
		if err == nil || isNew {
			err = b.insertRows(ctx, database, now)
		}
		if err == nil && isNew { // whoever changed or removed it does not find it again
			err = b.uploadLogo(ctx, database, logos)
		}
		if err != nil {
			return nil, fmt.Errorf("demo data of %s: %w", b.name, err)
		}
	}
	if earlier != nil && stillValid(ctx, database, earlier, now) {
		return earlier.Operators, nil
	}
	operators := make([]Operator, len(blueprints))
	for i, b := range blueprints {
		operator, err := b.createCredentials(ctx, database, now)
		if err != nil {
			return nil, fmt.Errorf("demo keys of %s: %w", b.name, err)
		}
		operators[i] = *operator
	}
	return operators, nil
}

func stillValid(ctx context.Context, database *db.DB, document *Document, now time.Time) bool {
	if len(document.Operators) != len(blueprints) {
		return false
	}
	for _, operator := range document.Operators {
		if _, _, err := database.Authenticate(ctx, credentials.Hash(operator.Keys.All), now, uuid.Nil); err != nil {
			return false
		}
	}
	return true
}

func (b blueprint) operatorID() uuid.UUID { return id(b.slug) }

func (b blueprint) insertRows(ctx context.Context, database *db.DB, now time.Time) error {
	basePrice := money.Cents(1200)
	operator := models.Operator{
		ID: b.operatorID(), Name: b.name, CountryCode: country, Timezone: "America/Lima", Currency: "PEN", Plan: b.plan,
		BasePrice: &basePrice, CreatedAt: now, UpdatedAt: now,
	}
	if b.suspended {
		operator.SuspendedAt = &now
	}
	rows := []any{&operator}
	for i, name := range b.branches {
		rows = append(rows, &models.Branch{ID: id(b.slug, "branch", name), OperatorID: operator.ID, Name: name, Main: i == 0,
			Active: true, CreatedAt: now})
	}
	for i, name := range b.stores {
		whatsApp, email := fmt.Sprintf("+5198765430%d", i), "hola@"+textnorm.Slug(name)+".example"
		rows = append(rows, &models.Store{
			ID: id(b.slug, "store", name), OperatorID: operator.ID, Name: name, Active: true,
			ContactWhatsApp: &whatsApp, ContactEmail: &email, CreatedAt: now,
		})
	}
	for i, name := range b.riders {
		rows = append(rows, &models.Rider{ID: id(b.slug, "rider", name), OperatorID: operator.ID, Name: name,
			Phone: riderPhone(i), Active: true, CreatedAt: now})
	}
	for _, size := range sizes {
		rows = append(rows, &models.Size{
			ID: id(b.slug, "size", size.code), OperatorID: operator.ID, Code: size.code, Name: size.name,
			Surcharge: size.surcharge, IsDefault: size.standard, Active: true, CreatedAt: now,
		})
	}
	rows = append(rows, b.tariffs(now)...)
	riskDistrict := catalog.DistrictID(country, riskUbigeo)
	rows = append(rows, &models.RiskZone{
		ID: id(b.slug, "risk"), OperatorID: operator.ID, Name: "Huáscar", LocationID: &riskDistrict, Words: riskWords,
		Active: true, CreatedAt: now,
	})
	return database.InTx(ctx, func(tx *db.DB) error {
		for _, row := range rows {
			if err := tx.InsertMissing(ctx, row); err != nil {
				return err
			}
		}
		return nil
	})
}

func riderPhone(i int) string { return fmt.Sprintf("+5198765432%d", i) }

// tariffs: all of Lima at the base price, Miraflores cheaper.
func (b blueprint) tariffs(now time.Time) []any {
	miraflores := money.Cents(900)
	return []any{
		&models.Coverage{ID: id(b.slug, "coverage", limaProvince), OperatorID: b.operatorID(),
			LocationID: catalog.CityID(country, limaProvince), CreatedAt: now},
		&models.Coverage{ID: id(b.slug, "coverage", coveredUbigeo), OperatorID: b.operatorID(),
			LocationID: catalog.DistrictID(country, coveredUbigeo), Price: &miraflores, CreatedAt: now},
	}
}

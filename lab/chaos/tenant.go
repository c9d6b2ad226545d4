package chaos

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/money"
	"despacho/lab/cluster"
	"despacho/models"
)

// keysPerStore is enough keys that none reaches its rate limit, which stays on.
const keysPerStore = 100

// tenant is the operator that the run works with.
type tenant struct {
	operator uuid.UUID
	riders   []uuid.UUID
	// keys are the stores' own, token that of the operator's staff.
	keys  [][]string
	token string

	next atomic.Uint64
}

// key returns a store's keys round-robin.
func (t *tenant) key(store int) string {
	ring := t.keys[store%len(t.keys)]
	return ring[t.next.Add(1)%uint64(len(ring))]
}

func seedTenant(ctx context.Context, databaseURL string) (*tenant, error) {
	database, err := db.Open(ctx, databaseURL, db.Options{MaxConns: 2})
	if err != nil {
		return nil, err
	}
	defer database.Close()
	now, price := time.Now().UTC(), money.Cents(1200)
	t := &tenant{operator: uuid.New()}
	rows := []any{
		&models.Operator{
			ID: t.operator, Name: "Operador", CountryCode: "PE", Timezone: "America/Lima", Currency: "PEN", Plan: models.PlanBusiness,
			BasePrice: &price, CreatedAt: now, UpdatedAt: now,
		},
		&models.Branch{ID: uuid.New(), OperatorID: t.operator, Name: "Principal", Main: true, Active: true, CreatedAt: now},
		&models.Size{ID: uuid.New(), OperatorID: t.operator, Code: "M", Name: "Mediano", IsDefault: true, Active: true, CreatedAt: now},
		&models.Coverage{ID: uuid.New(), OperatorID: t.operator, LocationID: lima, CreatedAt: now},
	}
	for i := range 3 {
		rider := models.Rider{ID: uuid.New(), OperatorID: t.operator, Name: fmt.Sprint("Motorizado ", i+1), Phone: "+51987654321", Active: true, CreatedAt: now}
		rows, t.riders = append(rows, &rider), append(t.riders, rider.ID)
	}
	for i := range 2 {
		store := models.Store{ID: uuid.New(), OperatorID: t.operator, Name: fmt.Sprint("Tienda ", i+1), Active: true, CreatedAt: now}
		rows = append(rows, &store)
		keys, ring, err := issueKeys(&store, now)
		if err != nil {
			return nil, err
		}
		rows, t.keys = append(rows, keys...), append(t.keys, ring)
	}
	for _, row := range rows {
		if err := database.Insert(ctx, row); err != nil {
			return nil, err
		}
	}
	t.token, err = cluster.OpenSession(ctx, database, t.operator)
	return t, err
}

func issueKeys(store *models.Store, now time.Time) (rows []any, ring []string, err error) {
	for range keysPerStore {
		key := models.APIKey{
			ID: uuid.New(), OperatorID: store.OperatorID, StoreID: &store.ID, Name: "chaos", Scopes: models.JoinScopes(models.Scopes), CreatedAt: now,
		}
		plain, err := key.Issue()
		if err != nil {
			return nil, nil, err
		}
		rows, ring = append(rows, &key), append(ring, plain)
	}
	return rows, ring, nil
}

// otherKey is another key of the store that a key belongs to.
func (t *tenant) otherKey(key string, number int) string {
	for _, ring := range t.keys {
		if slices.Contains(ring, key) {
			return ring[number%len(ring)]
		}
	}
	return key
}

package chaos

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// keysPerStore is enough keys that none reaches its rate limit.
const keysPerStore = 100

// operator is the tenant that the run works with.
type operator struct {
	id     uuid.UUID
	riders []uuid.UUID
	// phones are the cookies of the riders' phones.
	phones map[uuid.UUID]string
	// keys are the stores' own, token that of the operator's staff.
	keys  []*cluster.KeyRing
	token string
}

// key is the next key of a store.
func (o *operator) key(store int) string { return o.keys[store%len(o.keys)].Key() }

func seedOperator(ctx context.Context, databaseURL string) (*operator, error) {
	database, err := db.Open(ctx, databaseURL, db.Options{MaxConns: 2})
	if err != nil {
		return nil, err
	}
	defer database.Close()
	now, price := time.Now().UTC(), money.Cents(1200)
	o := &operator{id: uuid.New(), phones: map[uuid.UUID]string{}}
	rows := []any{
		&models.Operator{
			ID: o.id, Name: "Operador", CountryCode: "PE", Timezone: "America/Lima", Currency: "PEN", Plan: models.PlanBusiness,
			BasePrice: &price, CreatedAt: now, UpdatedAt: now,
		},
		&models.Branch{ID: uuid.New(), OperatorID: o.id, Name: "Principal", Main: true, Active: true, CreatedAt: now},
		&models.Size{ID: uuid.New(), OperatorID: o.id, Code: "M", Name: "Mediano", IsDefault: true, Active: true, CreatedAt: now},
		&models.Coverage{ID: uuid.New(), OperatorID: o.id, LocationID: cluster.Lima, CreatedAt: now},
	}
	for i := range 3 {
		rider := models.Rider{ID: uuid.New(), OperatorID: o.id, Name: fmt.Sprint("Motorizado ", i+1), Phone: "+51987654321",
			Active: true, CreatedAt: now}
		rows, o.riders = append(rows, &rider), append(o.riders, rider.ID)
	}
	for i := range 2 {
		store := models.Store{ID: uuid.New(), OperatorID: o.id, Name: fmt.Sprint("Tienda ", i+1), Active: true, CreatedAt: now}
		rows = append(rows, &store)
		keys, ring, err := issueKeys(&store, now)
		if err != nil {
			return nil, err
		}
		rows, o.keys = append(rows, keys...), append(o.keys, ring)
	}
	for _, row := range rows {
		if err := database.Insert(ctx, row); err != nil {
			return nil, err
		}
	}
	for _, rider := range o.riders {
		if o.phones[rider], err = cluster.LinkPhone(ctx, database, o.id, rider); err != nil {
			return nil, err
		}
	}
	o.token, err = cluster.OpenSession(ctx, database, o.id)
	return o, err
}

func issueKeys(store *models.Store, now time.Time) (rows []any, ring *cluster.KeyRing, err error) {
	ring = &cluster.KeyRing{}
	for range keysPerStore {
		key := models.APIKey{
			ID: uuid.New(), OperatorID: store.OperatorID, StoreID: &store.ID, Name: "chaos",
			Scopes: models.JoinSpaced(models.Scopes), CreatedAt: now,
		}
		plain, err := key.Issue()
		if err != nil {
			return nil, nil, err
		}
		rows, ring.Keys = append(rows, &key), append(ring.Keys, plain)
	}
	return rows, ring, nil
}

// otherKey is another key of the store that a key belongs to.
func (o *operator) otherKey(key string, number int) string {
	for _, ring := range o.keys {
		if slices.Contains(ring.Keys, key) {
			return ring.Keys[number%len(ring.Keys)]
		}
	}
	return key
}

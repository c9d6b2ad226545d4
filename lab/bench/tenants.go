package bench

import (
	"context"
	"crypto/md5"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/catalog"
	"despacho/db"
	"despacho/lab/cluster"
	"despacho/models"
)

// keysOfOne is how many keys the operator of most measurements has. The rate limit stays on and is
// paid for, but with a thousand requests a minute for each key nobody runs into it.
const keysOfOne = 1_000

// The operators by their number: the one most is measured with, the one that has a webhook, and
// from firstOfMany on the crowd.
const (
	theOne = iota
	theHooked
	firstOfMany
)

// Where orders go: all of Lima is covered.
var (
	miraflores = catalog.DistrictID("PE", "150122")
	lima       = catalog.CityID("PE", "1501")
)

// tenants are the operators that every database of a run has.
type tenants struct {
	// one are keys of one operator; many one key of each of many operators; hooked keys of the
	// operator with the webhook.
	one, many, hooked *keyRing
	// sessions are tokens of the staff of theOne and of theHooked.
	sessions [2]string
}

// keyRing hands out keys in turn.
type keyRing struct {
	keys []string
	next atomic.Uint64
}

func (r *keyRing) key() string { return r.keys[int(r.next.Add(1)%uint64(len(r.keys)))] }

// id names a seeded row: SQL makes the same with md5(kind || number)::uuid.
func id(kind string, number int) uuid.UUID { return md5.Sum([]byte(kind + strconv.Itoa(number))) }

const insertTenants = `
INSERT INTO operators (id, name, country_code, timezone, currency, plan, base_price_cents, share_proof_location, settings_version, created_at, updated_at)
	SELECT md5('operator' || n)::uuid, 'Operador ' || n, 'PE', 'America/Lima', 'PEN', 'business', 1200, false, 1, now(), now() FROM generate_series(0, $1::int) n;
INSERT INTO branches (id, operator_id, name, main, active, created_at)
	SELECT md5('branch' || n)::uuid, md5('operator' || n)::uuid, 'Principal', true, true, now() FROM generate_series(0, $1::int) n;
INSERT INTO stores (id, operator_id, name, active, created_at)
	SELECT md5('store' || n)::uuid, md5('operator' || n)::uuid, 'Tienda', true, now() FROM generate_series(0, $1::int) n;
INSERT INTO riders (id, operator_id, name, phone, active, created_at)
	SELECT md5('rider' || n)::uuid, md5('operator' || n)::uuid, 'Carlos Quispe', '+51987654321', true, now() FROM generate_series(0, $1::int) n;
INSERT INTO sizes (id, operator_id, code, name, surcharge_cents, is_default, active, created_at)
	SELECT md5('size' || n)::uuid, md5('operator' || n)::uuid, 'M', 'Mediano', 0, true, true, now() FROM generate_series(0, $1::int) n;
INSERT INTO coverage (id, operator_id, location_id, price_cents, created_at)
	SELECT md5('coverage' || n)::uuid, md5('operator' || n)::uuid, $2::uuid, 900, now() FROM generate_series(0, $1::int) n`

// seedTenants makes so many operators besides the two that are measured most, with their keys and
// staff.
func seedTenants(ctx context.Context, address string, many int) (*tenants, error) {
	t := &tenants{one: &keyRing{}, many: &keyRing{}, hooked: &keyRing{}}
	owners := map[*keyRing][]int{t.hooked: make([]int, keysOfOne/10), t.one: make([]int, keysOfOne), t.many: make([]int, many)}
	for i := range owners[t.hooked] {
		owners[t.hooked][i] = theHooked
	}
	for i := range owners[t.many] {
		owners[t.many][i] = firstOfMany + i
	}
	err := onDatabase(ctx, address, func(connection *pgx.Conn) error {
		if err := executeAll(ctx, connection, insertTenants, firstOfMany+many, lima); err != nil {
			return err
		}
		for ring, numbers := range owners {
			if err := ring.issue(ctx, connection, numbers); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, t.signIn(ctx, address)
}

// issue gives each of the operators a key.
func (r *keyRing) issue(ctx context.Context, connection *pgx.Conn, owners []int) error {
	rows := make([][]any, len(owners))
	for i, owner := range owners {
		var key models.APIKey
		plain, err := key.Issue()
		if err != nil {
			return err
		}
		r.keys = append(r.keys, plain)
		rows[i] = []any{uuid.New(), id("operator", owner), "bench", key.Prefix, key.Last4, key.Hash, models.JoinScopes(models.Scopes), time.Now()}
	}
	columns := []string{"id", "operator_id", "name", "prefix", "last4", "hash", "scopes", "created_at"}
	_, err := connection.CopyFrom(ctx, pgx.Identifier{"api_keys"}, columns, pgx.CopyFromRows(rows))
	return err
}

// signIn opens the sessions of those who move orders, without the time that a password takes.
func (t *tenants) signIn(ctx context.Context, address string) error {
	database, err := db.Open(ctx, address, db.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer database.Close()
	for number := range t.sessions {
		if t.sessions[number], err = cluster.OpenSession(ctx, database, id("operator", number)); err != nil {
			return err
		}
	}
	return nil
}

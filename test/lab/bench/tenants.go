package bench

import (
	"context"
	"crypto/md5"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/internal/db"
	"despacho/internal/dev"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// mainKeyCount is how many keys mainOperator has: with a thousand requests a minute for each key no
// measurement reaches the rate limit.
const mainKeyCount = 1_000

// The operators by number: the one of most measurements, the one with a webhook, and from
// firstOther on the others.
const (
	mainOperator = iota
	webhookOperator
	firstOther
)

// tenants are the operators that every database of a run has.
type tenants struct {
	// mainKeys are mainOperator's, webhookKeys webhookOperator's; otherKeys has one key of each
	// other operator.
	mainKeys, otherKeys, webhookKeys *cluster.KeyRing
	// sessions are panel tokens of mainOperator and of webhookOperator.
	sessions [2]string
}

// id is the id of a seeded row; SQL computes the same with md5(kind || number)::uuid.
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

// seedTenants inserts mainOperator, webhookOperator and the others, with their keys and users.
func seedTenants(ctx context.Context, address string, many int) (*tenants, error) {
	seeded := &tenants{mainKeys: &cluster.KeyRing{}, otherKeys: &cluster.KeyRing{}, webhookKeys: &cluster.KeyRing{}}
	owners := map[*cluster.KeyRing][]int{seeded.webhookKeys: make([]int, mainKeyCount/10),
		seeded.mainKeys: make([]int, mainKeyCount), seeded.otherKeys: make([]int, many)}
	for i := range owners[seeded.webhookKeys] {
		owners[seeded.webhookKeys][i] = webhookOperator
	}
	for i := range owners[seeded.otherKeys] {
		owners[seeded.otherKeys][i] = firstOther + i
	}
	err := dev.OnDatabase(ctx, address, func(connection *pgx.Conn) error {
		if err := executeAll(ctx, connection, insertTenants, firstOther+many, cluster.Lima); err != nil {
			return err
		}
		for ring, numbers := range owners {
			if err := issueKeys(ctx, connection, ring, numbers); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return seeded, seeded.signIn(ctx, address)
}

// issueKeys gives each of the owners a key.
func issueKeys(ctx context.Context, connection *pgx.Conn, ring *cluster.KeyRing, owners []int) error {
	rows := make([][]any, len(owners))
	for i, owner := range owners {
		var key models.APIKey
		plain, err := key.Issue()
		if err != nil {
			return err
		}
		ring.Keys = append(ring.Keys, plain)
		rows[i] = []any{uuid.New(), id("operator", owner), "bench", key.Prefix, key.Last4, key.Hash,
			models.JoinSpaced(models.Scopes), time.Now()}
	}
	columns := []string{"id", "operator_id", "name", "prefix", "last4", "hash", "scopes", "created_at"}
	_, err := connection.CopyFrom(ctx, pgx.Identifier{"api_keys"}, columns, pgx.CopyFromRows(rows))
	return err
}

// signIn inserts the panel sessions directly, which takes less time than a password check.
func (all *tenants) signIn(ctx context.Context, address string) error {
	database, err := db.Open(ctx, address, db.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer database.Close()
	for number := range all.sessions {
		if all.sessions[number], err = cluster.OpenSession(ctx, database, id("operator", number)); err != nil {
			return err
		}
	}
	return nil
}
